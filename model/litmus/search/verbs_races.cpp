#include "model/litmus/search/verbs_races.hpp"

#include <algorithm>
#include <set>

#include "model/litmus/search/order_graph.hpp"
#include "model/litmus/search/verbs_skeletons.hpp"

namespace loco::model::litmus {
namespace {

using enum VerbsStamp;

class Races {
 public:
  explicit Races(const FoundExecution& e)
      : x_(*e.skeleton), started_(e.axioms->started), facts_(*e.skeleton->facts), sources_(e.sources) {
    find_flags();
    order();
  }

  std::vector<std::string> run() {
    for (int o = 0; o < x_.n; ++o) {
      if (x_.sub(o).cell == kNone) {
        if (stamp(o) == aRP) receive_buffer(o);
        continue;
      }
      for (int a = 0; a < x_.n; ++a) {
        if (x_.sub(a).cell != x_.sub(o).cell || x_.sub(a).event == x_.sub(o).event) continue;
        if (!x_.sub(a).writes && !x_.sub(o).writes) continue;
        pair(o, a);
      }
    }
    return {found_.begin(), found_.end()};
  }

 private:
  [[nodiscard]] VerbsStamp stamp(int i) const { return verbs_stamp(x_, i); }
  [[nodiscard]] const Post* post(int i) const { return post_of(x_, i); }
  [[nodiscard]] int location(int i) const { return x_.cells->location(x_.sub(i).cell); }
  [[nodiscard]] bool of_cpu(int i) const { return stamp(i) == aCR || stamp(i) == aCW || stamp(i) == aCAS; }
  [[nodiscard]] bool of_atomic(int i) const { return post(i) != nullptr && post(i)->is_atomic(); }
  [[nodiscard]] bool is_payload(int i) const { return stamp(i) == aNRW && post(i)->is_send(); }
  void tell(const char* name, int cell) {
    const Location& l = at(x_.program->locations, x_.cells->location(cell));
    if (!l.fresh) found_.insert(std::string(name) + " (" + l.name + ")");
  }

  void find_flags() {
    flags_.assign(x_.program->locations.size(), 0);
    for (const int l : x_.program->verbs.flags) at(flags_, l) = 1;
    for (int i = 0; i < x_.n; ++i)
      if (stamp(i) == aNAR || stamp(i) == aCAS) at(flags_, location(i)) = 1;
  }

  /// hb0: the orders that hold in every run, and those that a read of a flag establishes.
  void order() {
    int nodes = x_.n;
    std::vector<int> start(static_cast<std::size_t>(x_.n));
    for (int i = 0; i < x_.n; ++i) at(start, i) = started_.contains(i) ? nodes++ : i;
    hb_ = OrderGraph<4>(nodes);
    for (int i = 0; i < x_.n; ++i) {
      if (at(start, i) != i) hb_.set(at(start, i), i);
      facts_.so.row(i).for_each([&](int j) { hb_.set(i, j); });
      facts_.ib.row(i).for_each([&](int j) { hb_.set(at(start, i), at(start, j)); });
      if (!x_.sub(i).reads || sources_[i] < 0 || x_.sub(i).cell == kNone || at(flags_, location(i)) == 0) continue;
      const int w = sources_[i];
      const bool forwarded = stamp(w) == aCW && stamp(i) == aCR && x_.po.contains(w, i);
      if (!forwarded) hb_.set(w, i);
      hb_.set(at(start, w), at(start, i));
    }
    (void)hb_.close();
  }
  [[nodiscard]] bool before(int a, int b) const { return hb_.reaches(a, b); }

  /// Is it one of the polls that took the CQE of o's request or a later one of its queue pair, or behind one?
  [[nodiscard]] bool behind_completion(int a, int o) const {
    for (int s = 0; s < x_.n; ++s) {
      const bool later = stamp(s) == aSC && x_.sub(s).queue == x_.sub(o).queue && x_.sub(s).event >= x_.sub(o).event;
      if (later && behind(a, at(facts_.poll_of, s))) return true;
    }
    return false;
  }
  [[nodiscard]] bool behind(int a, int poll) const { return poll != kNone && (a == poll || before(poll, a)); }

  /// The read of a READ or an atomic, by its result.
  [[nodiscard]] int read_of(int result) const {
    const EventInfo& e = x_.event_of(result);
    for (int i = e.first; i < e.first + e.count; ++i)
      if (stamp(i) == aNRR || stamp(i) == aNAR) return i;
    return result;
  }

  void pair(int o, int a) {
    const VerbsStamp s = stamp(o);
    const int cell = x_.sub(o).cell;
    if (s == aNLR && x_.sub(a).writes && !before(a, o) && !behind_completion(a, o)) tell("source changed", cell);
    if (s == aNLW && of_cpu(a) && !before(a, read_of(o)) && !behind_completion(a, o))
      tell("result before completion", cell);
    if (before(o, a) || before(a, o)) return;
    if (of_cpu(a) && at(flags_, location(o)) == 0 && ((s == aNRW && !is_payload(o)) || s == aNRR || s == aNAR))
      tell("unordered", cell);
    const auto flies = [&](int i) { return !of_cpu(i) && stamp(i) != aNLR && !is_payload(i); };
    if (flies(o) && flies(a) && !(of_atomic(o) && of_atomic(a))) tell("in flight twice", cell);
  }

  void receive_buffer(int r) {
    const int thread = x_.sub(r).thread;
    const int cell = x_.cells->cell(post(r)->buffer, at(x_.program->threads, thread).node);
    const int payload = at(facts_.payload_of, r), cqe = at(facts_.receive_cqe, r);
    for (int a = 0; a < x_.n; ++a) {
      if (x_.sub(a).cell != cell || a == payload || (!x_.sub(a).writes && payload == kNone)) continue;
      if (!before(a, r) && !(cqe != kNone && behind(a, at(facts_.poll_of, cqe)))) tell("receive buffer in use", cell);
    }
  }

  const Skeleton& x_;
  const Set& started_;
  const VerbsFacts& facts_;
  const Sources& sources_;
  std::vector<char> flags_;  ///< by location
  OrderGraph<4> hb_;
  std::set<std::string> found_;
};

}  // namespace

std::vector<std::string> races_of(const FoundExecution& execution) { return Races(execution).run(); }

std::vector<std::string> all_races(const Program& program, const Model& model, const SearchOptions& options,
                                   bool* cut) {
  std::set<std::string> all;
  const SearchResult r = search(program, model, options, program.assumed, [&](const FoundExecution& e) {
    for (std::string& race : races_of(e)) all.insert(std::move(race));
    return true;
  });
  if (cut != nullptr) *cut = r.limited();
  return {all.begin(), all.end()};
}

}  // namespace loco::model::litmus
