#include "model/lock_promises.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "model/explain.hpp"
#include "model/lock_calls.hpp"
#include "model/paths.hpp"
#include "model/stamps.hpp"
#include "model/words.hpp"

namespace loco::model {
namespace {

struct HandOver {
  CallId held = 0;     ///< the acquire that the release ends
  CallId acquire = 0;  ///< the next one
};

/// A write before a release, and the end of the next acquire.
struct Guarded {
  PointId write = kNoPoint;
  PointId end = kNoPoint;
  CallId release = 0;
};

class LockPromises {
 public:
  LockPromises(Storey& level, Reports& locks, Reports& stores)
      : index_(level.level.index()),
        level_(level.level),
        order_(level.order),
        paths_(level.level, level.order),
        locks_(locks),
        stores_(stores) {}

  void run() {
    find_hand_overs();
    find_lanes();
    for (std::uint32_t t = 0; t < index_.trace().threads.size(); ++t)
      if (bases_[t]) {
        for (const CallId call : index_.calls_of(t)) promise_of_lane(call, *bases_[t]);
      } else {
        promises_of_thread(t);
      }
    if ((kept_.empty() && not_given_.empty()) || !paths_.sort()) return;
    judge_kept();
    judge_not_given();
  }

 private:
  void find_hand_overs() {
    const std::vector<LockStep> steps = lock_calls(index_.trace()).steps;
    CallId held = 0;
    for (std::size_t i = 1; i < steps.size(); ++i) {
      const LockStep &release = steps[i - 1], &acquire = steps[i];
      if (release.turn == LockStep::Turn::acquired) {
        held = release.call;
        continue;
      }
      const bool one = release.object == acquire.object && release.lock == acquire.lock;
      if (one && acquire.turn == LockStep::Turn::acquired)
        next_.try_emplace(release.call, HandOver{held, acquire.call});
    }
  }

  /// Library calls that overlap have lanes, whose puts and gets are calls of the thread (docs/trace-format.md).
  void find_lanes() {
    const std::vector<Thread>& threads = index_.trace().threads;
    constexpr std::string_view kLane = ", lane ";
    bases_.resize(threads.size());
    for (std::uint32_t t = 0; t < threads.size(); ++t) {
      const std::size_t at = threads[t].name.rfind(kLane);
      if (at == std::string::npos) continue;
      const std::string_view name = std::string_view(threads[t].name).substr(0, at);
      for (std::uint32_t b = 0; b < threads.size() && !bases_[t]; ++b)
        if (threads[b].node == threads[t].node && threads[b].name == name) bases_[t] = b;
    }
  }

  // --- a thread that does one thing at a time -----------------------------------------------------------------------

  /// Of each class of writes the last one before the release: ppo has the others before it.
  void promises_of_thread(std::uint32_t thread) {
    PointId stored = kNoPoint;
    std::map<std::uint32_t, PointId> put;  // by node
    for (const CallId call : index_.calls_of(thread)) {
      index_.poll();
      if (index_.kind_of_call(call).method == Method::release) forget_failed(call, put);
      if (const auto found = next_.find(call); found != next_.end()) {
        const PointId end = end_of_acquire(found->second.acquire);
        add({stored, end, call}, true);
        for (const auto& [node, write] : put) add({write, end, call}, promises(call, node));
      }
      if (of_a_lock(call)) continue;
      for (const SubeventId id : index_.subevents_of(call)) {
        if (!level_.visible(id) || !has_finished(index_.subevent(id))) continue;
        if (index_.kind(id).stamp == Stamp::aCW) stored = id - 1;
        if (index_.kind(id).stamp == Stamp::aNRW) put[index_.kind(id).peer] = id - 1;
      }
    }
  }

  void add(const Guarded& p, bool given) {
    if (p.write == kNoPoint || p.end == kNoPoint) return;
    (given ? kept_ : not_given_).push_back(p);
  }

  [[nodiscard]] bool promises(CallId release, std::uint32_t node) const {
    const Call& call = index_.call(release);
    switch (call.work_id) {
      case trace::kLockWeak:
        return false;
      case trace::kLockToNode:
        return std::ranges::count(index_.trace().node_sets[call.node_set], node) != 0;
      default: {
        const std::optional<std::uint32_t> only = node_of_atomic(release);
        return !only || *only == node;
      }
    }
  }

  /// Forgets the puts to nodes that did not answer the fence of this release or of an earlier one: the lock promises
  /// nothing about them.
  void forget_failed(CallId release, std::map<std::uint32_t, PointId>& put) const {
    for (const CallId c : calls_within(release))
      if (const std::optional<std::uint32_t> node = could_not_fence(c)) put.erase(*node);
  }

  /// The calls that a call of one thread is made of.
  [[nodiscard]] std::vector<CallId> calls_within(CallId whole) const {
    const std::span<const CallId> calls = index_.calls_of(index_.call(whole).thread);
    std::vector<CallId> within;
    for (auto c = std::ranges::lower_bound(calls, whole) + 1; c != calls.end() && is_within(*c, whole); ++c)
      within.push_back(*c);
    return within;
  }
  [[nodiscard]] bool is_within(CallId call, CallId whole) const {
    while (call > whole) call = index_.call(call).parent;
    return call == whole;
  }

  /// The node that a fence has not got an answer from, after which it gave up: a lock is let go all the same, and
  /// promises nothing of what was written there (docs/loco.md, "When nodes fail"). Its thread is told.
  [[nodiscard]] std::optional<std::uint32_t> could_not_fence(CallId get) const {
    const CallId fence = index_.kind_of_call(get).parent;
    if (fence == 0 || index_.kind_of_call(fence).method != Method::gf || index_.call(fence).returned)
      return std::nullopt;
    for (const SubeventId id : index_.subevents_of(get))
      if (index_.kind(id).stamp == Stamp::aNLW && is_unbegun(index_.subevent(id))) return index_.kind(id).peer;
    return std::nullopt;
  }

  /// Whether the call is part of an acquire or release. Words that a lock writes for itself, such as a handover, are
  /// not the holder's data.
  [[nodiscard]] bool of_a_lock(CallId call) const {
    while (call != 0 && index_.kind_of_call(call).method != Method::acquire &&
           index_.kind_of_call(call).method != Method::release)
      call = index_.kind_of_call(call).parent;
    return call != 0;
  }

  /// Traces that name no class: a lock that is let go by a remote atomic, and by no put, is one to the atomic's node.
  [[nodiscard]] std::optional<std::uint32_t> node_of_atomic(CallId release) const {
    std::optional<std::uint32_t> node;
    for (const CallId c : calls_within(release)) {
      if (index_.kind_of_call(c).method == Method::put) return std::nullopt;
      for (const SubeventId id : index_.subevents_of(c))
        if (index_.kind(id).stamp == Stamp::aNAR) node = index_.kind(id).peer;
    }
    return node;
  }

  /// The last read or wait among the calls that the acquire is made of.
  [[nodiscard]] PointId end_of_acquire(CallId acquire) const {
    PointId last = kNoPoint;
    if (bases_[index_.call(acquire).thread]) return last;
    for (const CallId c : calls_within(acquire))
      for (const SubeventId id : index_.subevents_of(c))
        if (sees(id)) last = id - 1;
    return last;
  }
  [[nodiscard]] bool sees(SubeventId id) const {
    return index_.kind(id).stamp == Stamp::aWT || index_.kind(id).stamp == Stamp::aCR;
  }

  // --- a thread with several operations of a store under way ---------------------------------------------------------

  void promise_of_lane(CallId release, std::uint32_t base) {
    const auto found = next_.find(release);
    if (found == next_.end()) return;
    const CallId change = index_.kind_of_call(release).parent;
    if (change == 0 || !writes_a_value(index_.kind_of_call(change).method)) return;
    // It has failed: its node is told that nothing is promised, and the lock is let go all the same.
    if (!index_.call(change).returned) return;
    const std::uint32_t next = index_.call(found->second.acquire).thread;
    if (index_.trace().threads[next].node == index_.trace().threads[base].node) return;  // perhaps from hand to hand
    const PointId write = written_value(change, base, index_.call(found->second.held).end, index_.call(release).begin);
    if (write == kNoPoint || !level_.visible(write + 1) || !has_finished(index_.subevent(write + 1))) return;
    add({write, end_of_lanes_acquire(found->second.acquire, bases_[next].value_or(next)), release}, true);
  }
  static bool writes_a_value(Method m) { return m == Method::kv_update || m == Method::kv_insert; }

  /// The write of the value that `change` stored, among the thread's calls from `from` to `to`: a put of a value and
  /// its checksum, else a store into a slot of its own node. kNoPoint where two writes of that value are in the
  /// interval, since either could be the one.
  [[nodiscard]] PointId written_value(CallId change, std::uint32_t base, Seq from, Seq to) const {
    std::vector<PointId> puts, stores;
    for_calls(base, from, to, [&](CallId call) {
      std::vector<SubeventId> writes;
      for (const SubeventId id : index_.subevents_of(call))
        if (index_.kind(id).stamp == Stamp::aNRW || index_.kind(id).stamp == Stamp::aCW) writes.push_back(id);
      if (writes.empty() || index_.subevent(writes.front()).value != index_.call(change).work_id) return;
      if (index_.kind(writes.front()).stamp == Stamp::aCW) stores.push_back(writes.front() - 1);
      if (index_.kind(writes.front()).stamp == Stamp::aNRW && writes.size() == 2) puts.push_back(writes.front() - 1);
    });
    const std::vector<PointId>& found = puts.empty() ? stores : puts;
    return found.size() == 1 ? found.front() : kNoPoint;
  }

  /// The last read or wait that the polling thread had finished when the acquire returned: that thread saw the lock
  /// change hands.
  [[nodiscard]] PointId end_of_lanes_acquire(CallId acquire, std::uint32_t base) const {
    const Call& call = index_.call(acquire);
    PointId last = kNoPoint;
    for_calls(base, call.begin, call.end, [&](CallId c) {
      for (const SubeventId id : index_.subevents_of(c))
        if (sees(id) && index_.subevent(id).finish <= call.end) last = id - 1;
    });
    return last;
  }

  /// The calls of a thread that began from `from` to `to`.
  template <typename Visit>
  void for_calls(std::uint32_t thread, Seq from, Seq to, Visit visit) const {
    const std::span<const CallId> calls = index_.calls_of(thread);
    const auto begin = [&](CallId c) { return index_.call(c).begin; };
    for (auto c = std::ranges::lower_bound(calls, from, {}, begin); c != calls.end() && begin(*c) <= to; ++c) {
      index_.poll();
      visit(*c);
    }
  }

  // --- verdicts -----------------------------------------------------------------------------------------------------

  using Side = PointId Guarded::*;
  /// By pair: is the one point before the other?
  std::vector<bool> before(const std::vector<Guarded>& guarded, Side from, Side to) {
    std::vector<Paths::Pair> pairs;
    for (const Guarded& p : guarded) pairs.push_back({p.*from, p.*to});
    return paths_.exist(pairs);
  }

  void judge_kept() {
    const std::vector<bool> found = before(kept_, &Guarded::write, &Guarded::end);
    for (std::size_t i = 0; i < kept_.size(); ++i)
      if (!found[i])
        reports_of(kept_[i]).add(Rule::promise, [&] {
          return fmt::format(
              "{} is not before {}: what was written before a lock was let go, and the next one who has it",
              text(kept_[i].write), text(kept_[i].end));
        });
  }

  /// Looks at pairs that only a stronger lock class would order: reports a pair whose accesses are ordered the other
  /// way round.
  void judge_not_given() {
    const std::vector<bool> found = before(not_given_, &Guarded::end, &Guarded::write);
    for (std::size_t i = 0; i < not_given_.size(); ++i) {
      if (!found[i]) continue;
      Reports& reports = reports_of(not_given_[i]);
      const bool wanted = reports.wanted();
      reports.add(Rule::lock_class, [&] {
        return fmt::format("lock class: a cycle, but for aGF_{} that {} lacks", node_of(not_given_[i]),
                           call_text(index_.trace(), not_given_[i].release));
      });
      if (wanted) reports.violations().back().cycle = cycle_through(not_given_[i]);
    }
  }
  [[nodiscard]] std::vector<Step> cycle_through(const Guarded& p) const {
    std::vector<CycleEdge> cycle = paths_.shortest({p.end, p.write});
    cycle.push_back({p.write, p.end, Rule::lock_class});
    std::vector<Step> steps = explain_cycle(level_, order_, std::move(cycle)).cycle;
    for (Step& s : steps)
      if (s.rule == Rule::lock_class) s.edge_text = fmt::format("missing aGF_{}", node_of(p));
    return steps;
  }
  [[nodiscard]] std::uint32_t node_of(const Guarded& p) const { return paths_.facts(p.write).peer; }

  [[nodiscard]] Reports& reports_of(const Guarded& p) {
    CallId call = p.release;
    while (call != 0 && index_.kind_of_call(call).library != Library::kvstore) call = index_.kind_of_call(call).parent;
    return call == 0 ? locks_ : stores_;
  }
  [[nodiscard]] std::string text(PointId p) const {
    const PointFacts& f = paths_.facts(p);
    return point_text(index_.trace(), level_.event_of(f.call), f);
  }

  const TraceIndex& index_;
  const Level& level_;
  Order& order_;
  Paths paths_;
  Reports& locks_;
  Reports& stores_;
  std::map<CallId, HandOver> next_;                  // by release
  std::vector<std::optional<std::uint32_t>> bases_;  // by thread: whose lane it is
  std::vector<Guarded> kept_;                        // pairs that the locks promise to order
  std::vector<Guarded> not_given_;                   // pairs that only a stronger class would order
};

}  // namespace

void check_lock_promises(Storey& level, Reports& locks, Reports& stores) { LockPromises(level, locks, stores).run(); }

}  // namespace loco::model
