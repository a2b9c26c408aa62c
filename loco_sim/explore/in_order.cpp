#include "loco_sim/explore/in_order.hpp"

#include <algorithm>
#include <iterator>

#include "model/litmus/models/rdma.hpp"

namespace loco::explore {

using namespace model::litmus;
using trace::Library;
using trace::Stamp;

namespace {

/// pf of I_W: a wait polls the operations of each node up to the last one with its identifier.
Relation polls_of_waits(const Skeleton& x, const Set& events) {
  Relation pf(x.n);
  const Relation po = x.po.from((x.stamp(Stamp::aNLW) | x.stamp(Stamp::aNRW)) & events);
  (x.stamp(Stamp::aWT) & events).for_each([&](int wait) {
    const Instruction& waiting = x.instruction(x.sub(wait).event);
    if (waiting.op != Op::wait) return;
    std::vector<std::pair<int, int>> last;  // (node, last operation with the identifier)
    const auto last_of = [&](int node) {
      return std::find_if(last.begin(), last.end(), [&](const auto& l) { return l.first == node; });
    };
    std::vector<int> earlier;  // in program order
    po.for_each([&](int w, int t) {
      if (t == wait) earlier.push_back(w);
    });
    for (const int w : earlier) {
      if (x.instruction(x.sub(w).event).work_id != waiting.work_id) continue;
      const auto l = last_of(x.sub(w).node);
      if (l == last.end()) {
        last.emplace_back(x.sub(w).node, w);
      } else {
        l->second = w;
      }
    }
    for (const int w : earlier) {
      const auto l = last_of(x.sub(w).node);
      if (l != last.end() && w <= l->second) pf.add(w, wait);
    }
  });
  return pf;
}

bool rdmawait_in_order(const Skeleton& x, const ModelOptions& options, Axioms& a) {
  const Set& events = x.library(Library::rdmawait);
  if (events.empty()) return true;
  const Relation pf = polls_of_waits(x, events);
  add_rdma(x, events, pf, pf.from(x.stamp(Stamp::aNLW)), options, a);
  return true;
}

}  // namespace

const Model& in_order_model() {
  static const Model kModel{"rdmawait-in-order", {rdmawait_in_order}};
  return kModel;
}

SearchResult search_in_order(const Program& program, const SearchOptions& options) {
  const bool polls = std::any_of(program.threads.begin(), program.threads.end(), [](const Thread& t) {
    return std::any_of(t.code.begin(), t.code.end(), [](const Instruction& i) { return i.op == Op::poll; });
  });
  return search(program, polls ? *find_model("rdmatso") : in_order_model(), options);
}

std::vector<Outcome> excluded_by_in_order(const Program& program, const std::string& model,
                                          const std::function<void()>& poll, const std::function<bool()>& out_of_time) {
  if (model != "rdmawait") return {};
  SearchOptions options;
  options.outcomes_only = true;
  options.poll = poll;
  options.out_of_time = out_of_time;
  const SearchResult all = search(program, *find_model(model), options);
  const auto cut_short = [](const SearchResult& r) {
    return r.cut_loops || r.stopped || r.timed_out || r.too_large.any();
  };
  if (cut_short(all)) return {};
  const SearchResult in_order = search_in_order(program, options);
  if (cut_short(in_order)) return {};
  std::vector<Outcome> excluded;
  std::set_difference(all.outcomes.begin(), all.outcomes.end(), in_order.outcomes.begin(), in_order.outcomes.end(),
                      std::back_inserter(excluded));
  return excluded;
}

}  // namespace loco::explore
