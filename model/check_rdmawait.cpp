// rdmawait (LOCO paper, Section 3.3 and Appendix G.2): rf, mo, rb, rb_i, iso, pfg, pfp, nfo.
#include <algorithm>
#include <tuple>

#include "model/copied_words.hpp"
#include "model/library_checker.hpp"
#include "model/nic_flush_order.hpp"
#include "model/shared_memory.hpp"
#include "model/words.hpp"
#include "model/work_ids.hpp"

namespace loco::model {
namespace {

class RdmawaitChecker final : public LibraryChecker {
 public:
  explicit RdmawaitChecker(const CheckContext& context)
      : context_(context), memory_(context_), flushes_(context_), copied_words_(context_.index) {}

  void begin_thread(std::uint32_t thread) override {
    memory_.begin_thread();
    work_.begin_thread();
    flushes_.begin_thread(thread);
  }

  void subevents(Event& event) override {
    for (const SubeventId id : context_.index.subevents_of(event.id)) {
      const Kind s = context_.index.kind(id);
      const Point finish = context_.order.finish(id);
      event.nodes.push_back({id, s.stamp, s.peer, finish, is_instant(s.stamp) ? finish : context_.order.start(id)});
    }
  }

  void visit(Event& event) override {
    issued_within(event);
    for (Node& node : event.nodes) {
      if (!is_access(node.stamp)) continue;
      if (node.stamp == Stamp::aNRW || node.stamp == Stamp::aNLW)
        context_.order.edge_to_start(flushes_.next_write(), node.start, Rule::nfo);
      if (const SubeventId missed = memory_.access(node); missed != 0)
        context_.order.edge(node.finish, context_.order.start(missed), Rule::rb_i);
      if (!is_instant(node.stamp)) context_.order.starts(node.start, node.finish);
    }
    completion(event);
  }

  void finish() override {
    memory_.finish();
    atomics_in_turn();
  }

 private:
  /// iso: a word read feeds the one written from it; a failing CAS fences before it reads.
  void issued_within(Event& event) {
    if (event.nodes.size() < 2) return;
    Order& order = context_.order;
    std::vector<Node>& nodes = event.nodes;
    if (event.call->method == Method::cas) {
      for (const Node& fence : nodes)
        for (const Node& read : nodes)
          if (fence.stamp == Stamp::aMF && read.stamp == Stamp::aCR) order.edge(fence.finish, read.finish, Rule::iso);
      return;
    }
    const Stamp read = read_stamp(event.call->method, context_.index.trace().atomics_have_places);
    for (const Stamp written : {Stamp::aNRW, Stamp::aNLW}) {
      feeds_.clear();
      for (const CopiedWords::Pair& pair : copied_words_.of(context_.index.subevents_of(event.id), read, written))
        if (pair.read != 0) feeds_.emplace_back(pair.written, pair.read);
      if (feeds_.empty()) continue;
      if (!std::is_sorted(feeds_.begin(), feeds_.end())) std::sort(feeds_.begin(), feeds_.end());
      auto next = feeds_.begin();  // nodes come in the order of their subevents
      for (Node& write : nodes)
        if (next != feeds_.end() && write.subevent == next->first)
          order.edge_to_start(order.finish((next++)->second), write.start, Rule::iso);
    }
  }

  /// rao: of a node's unit one atomic after the other reads; a write is in memory before the next one does.
  void atomics_in_turn() {
    const TraceIndex& index = context_.index;
    struct Turn {
      std::uint32_t node;
      std::uint64_t unit, place;
      SubeventId read;
    };
    std::vector<Turn> turns;
    for (SubeventId id = 1; id <= index.trace().subevents.size(); ++id) {
      if (index.kind(id).stamp != Stamp::aNAR || index.kind(id).unbegun || !context_.level.visible(id)) continue;
      const Subevent& s = index.subevent(id);
      turns.push_back({s.node, rao_unit(s), rao_place(s), id});
    }
    index.poll(1 + turns.size());
    const auto before = [](const Turn& a, const Turn& b) {
      return std::tie(a.node, a.unit, a.place) < std::tie(b.node, b.unit, b.place);
    };
    if (!std::is_sorted(turns.begin(), turns.end(), before)) std::sort(turns.begin(), turns.end(), before);
    for (std::size_t i = 1; i < turns.size(); ++i) {
      const Turn &first = turns[i - 1], &second = turns[i];
      if (first.node != second.node || first.unit != second.unit) continue;
      const Point then = context_.order.finish(second.read);
      context_.order.edge(context_.order.finish(first.read), then, Rule::rao);
      for (const SubeventId part : index.subevents_of(index.subevent(first.read).call))
        if (index.kind(part).stamp == Stamp::aNRW && !index.kind(part).unbegun)
          context_.order.edge(context_.order.finish(part), then, Rule::rao);
    }
  }

  /// pfg and pfp.
  void completion(Event& event) {
    Order& order = context_.order;
    if (event.call->method == Method::wait) {
      for (const Node& wait : event.nodes) {
        const std::uint64_t d = waited_for(*event.call, context_.index.subevent(wait.subevent));
        const WorkIds::Outstanding out = work_.take(d);
        order.edge(out.finished, wait.finish, Rule::pfg);
        order.edge(out.started, wait.finish, Rule::pfp);
        if (out.incomplete != 0)
          context_.reports.add(Rule::incomplete, [&] {
            return call_text(context_.index.trace(), event.id) + " returned, but " +
                   call_text(context_.index.trace(), out.incomplete) + " has not written what it was to";
          });
      }
      return;
    }
    if (event.call->work_id == 0) return;
    WorkIds::Outstanding& out = work_.of(event.call->work_id);
    for (const Node& node : event.nodes) {
      if (node.given_up) continue;  // who waits for it is told that it failed
      if (node.stamp == Stamp::aNLW) out.finished = order.join(out.finished, node.finish);
      if (node.stamp == Stamp::aNRW) out.started = order.join(out.started, node.start);
    }
    if (!has_failed(event) && !is_done(event)) out.incomplete = event.id;
  }

  static bool has_failed(const Event& event) {
    return event.call->result != 0 || std::ranges::any_of(event.nodes, &Node::given_up);
  }

  /// Whether an operation of a NIC has read at least one word and issued the writes of every word that it read. A
  /// compare-and-swap that fails writes nothing remotely: it owes the old value to its own node. Always true of calls
  /// that no NIC executes.
  [[nodiscard]] bool is_done(const Event& event) const {
    const Method method = event.call->method;
    const bool swaps = method == Method::remote_cas, adds = method == Method::remote_faa;
    if (method != Method::put && method != Method::get && !swaps && !adds) return true;
    const auto has_begun = [&](const Node& n) { return !context_.index.kind(n.subevent).unbegun; };
    if (!std::ranges::all_of(event.nodes, has_begun)) return false;
    const auto count = [&](Stamp stamp) { return std::ranges::count(event.nodes, stamp, &Node::stamp); };
    const auto reads = count(read_stamp(method, context_.index.trace().atomics_have_places));
    const bool here = method == Method::put || count(Stamp::aNLW) >= reads;
    const bool there = method == Method::get || swaps || count(Stamp::aNRW) >= reads;
    return reads > 0 && here && there;
  }

  CheckContext context_;
  SharedMemory memory_;
  NicFlushOrder flushes_;
  WorkIds work_;
  CopiedWords copied_words_;
  std::vector<std::pair<SubeventId, SubeventId>> feeds_;  // of the event at hand: what is written, and from what
};

}  // namespace

std::unique_ptr<LibraryChecker> make_rdmawait_checker(const CheckContext& context) {
  return std::make_unique<RdmawaitChecker>(context);
}

}  // namespace loco::model
