// Histories in which every value is written once. A write and the lookups of its value are one cluster, which knows
// three instants (Gibbons and Korach, "Testing shared memories", 1997): its write begins at `begin`, the first of its
// calls ends at `first_end`, the last begins at `last_begin`. So the value is there at first_end or before, and still
// at last_begin.
//
//   An update with first_end < last_begin holds the key from the one to the other. Before and after that, holding it
//   serves nothing: no other value changes in between, and the key is there at both ends.
//   Any other update needs one instant in [last_begin, first_end] at which the key is there and not held. It may come
//   and go there, so it is only waited for.
//   An insert takes effect in [begin, first_end], and holds the key until last_begin.
//   Calls that change nothing wait for an instant at which the key is there, or absent.
//
// What is left to choose is when the key is deleted and inserted. We walk in time and put everything off until some
// call ends (Lowe's just-in-time search). Deletes are alike but for their ends, so the one that ends first goes first;
// so do inserts that need not hold the key. The only real choice is whether an insert that will hold the key takes
// effect before it must, and that is followed both ways. Before the key is held, deletes and inserts that end
// meanwhile go first, in pairs.
#include <algorithm>
#include <fmt/format.h>
#include <tuple>

#include "model/key_history.hpp"
#include "model/words.hpp"

namespace loco::model {
namespace {

constexpr std::size_t kMaxExplanations = 10'000;

/// The calls on one written value.
struct Cluster {
  std::uint64_t value = 0;
  CallId write = 0;
  Seq begin = 0;
  Seq first_end = kNever;
  Seq last_begin = 0;
  CallId ends_first = 0;  ///< the calls to which these two belong
  CallId begins_last = 0;
  bool read = false;
};

/// The steps at one instant, in the order in which they are taken.
enum class Duty : std::uint8_t {
  may_delete,
  may_insert,
  free_insert,   ///< an insert need not hold the key any more
  find_present,  ///< since `since` the key must have been there at some instant
  find_absent,   ///< ... absent
  come_and_go,   ///< ... there and not held
  delete_now,    ///< a delete ends
  insert_now,    ///< an insert ends that need not hold the key
  insert_to_hold,
  hold,
};

struct Task {
  Seq when = 0;
  Duty duty = Duty::may_delete;
  CallId call = 0;  ///< whose end it is, for reports
  Seq since = 0;
  std::size_t cluster = 0;

  [[nodiscard]] auto order() const { return std::tie(when, duty, call); }
};

/// A delete or an insert that may take effect, until an instant.
struct Chance {
  Seq until = kNever;
  std::size_t cluster = 0;
  friend auto operator<=>(const Chance&, const Chance&) = default;
};
using Chances = std::vector<Chance>;  // what ends first is last

void add(Chances& chances, Chance c) {
  chances.insert(std::upper_bound(chances.begin(), chances.end(), c, std::greater<>()), c);
}

/// The key in one explanation of its past. An instant was "seen" by whatever began before the bound: 0 is never.
struct KeyState {
  bool present = false;
  Seq held_until = 0;      ///< present: not to be changed before
  std::size_t holder = 0;  ///< the cluster for which it is held
  Seq present_before = 0;  ///< absent: it was last there before
  Seq absent_before = 0;   ///< present: it was last absent before
  Seq free_before = 0;     ///< it was last there and not held before
  friend auto operator<=>(const KeyState&, const KeyState&) = default;

  [[nodiscard]] bool held(Seq now) const { return present && held_until > now; }
  void enter(Seq now, Seq until, std::size_t cluster) {
    present = true;
    absent_before = now + 1;
    held_until = until;
    holder = cluster;
  }
};

struct Past {
  KeyState key;
  Chances deletes, inserts, holding;
  friend auto operator<=>(const Past&, const Past&) = default;

  bool erase(Seq now) {
    if (!key.present || key.held(now) || deletes.empty()) return false;
    deletes.pop_back();
    key.present = false;
    key.present_before = key.free_before = now + 1;
    return true;
  }
  bool insert(Seq now) {
    if (key.present || inserts.empty()) return false;
    inserts.pop_back();
    key.enter(now, 0, 0);
    return true;
  }
};

class KeyIntervals {
 public:
  KeyIntervals(const TraceIndex& index, Reports& reports) : index_(index), reports_(reports) {}

  bool run(std::span<const CallId> calls) {
    if (!collect_writes(calls)) return false;
    if (!collect_reads(calls)) return true;
    for (std::size_t i = 0; i < clusters_.size(); ++i)
      if (!plan_cluster(i)) return true;
    for (const CallId id : calls) plan_call(id);
    std::sort(tasks_.begin(), tasks_.end(), [](const Task& a, const Task& b) { return a.order() < b.order(); });
    now_.resize(1);
    for (at_ = 0; at_ < tasks_.size() && step(tasks_[at_]);) ++at_;
    return true;
  }

 private:
  [[nodiscard]] static bool writes(const Call& c) {
    return (c.method == Method::kv_insert || c.method == Method::kv_update) && (!c.returned || c.result != 0);
  }

  bool collect_writes(std::span<const CallId> calls) {
    for (const CallId id : calls) {
      const Call& c = index_.call(id);
      if (c.returned && c.method != Method::kv_lookup && c.result > 1) return false;
      if (!writes(c)) continue;
      if (c.work_id == 0) return false;
      clusters_.push_back({c.work_id, id, c.begin, c.returned ? c.end : kNever, c.begin, id, id});
    }
    std::sort(clusters_.begin(), clusters_.end(), [](const Cluster& a, const Cluster& b) { return a.value < b.value; });
    const auto same = [](const Cluster& a, const Cluster& b) { return a.value == b.value; };
    return std::adjacent_find(clusters_.begin(), clusters_.end(), same) == clusters_.end();
  }

  bool collect_reads(std::span<const CallId> calls) {
    for (const CallId id : calls) {
      const Call& c = index_.call(id);
      if (c.method != Method::kv_lookup || !c.returned || c.result == 0) continue;
      const auto cluster = std::lower_bound(clusters_.begin(), clusters_.end(), c.result,
                                            [](const Cluster& a, std::uint64_t value) { return a.value < value; });
      if (cluster == clusters_.end() || cluster->value != c.result)
        return fail([&] { return fmt::format("{} returned {}, which nobody wrote", text(id), c.result); });
      cluster->read = true;
      if (c.end < cluster->first_end) std::tie(cluster->first_end, cluster->ends_first) = std::pair(c.end, id);
      if (c.begin > cluster->last_begin) std::tie(cluster->last_begin, cluster->begins_last) = std::pair(c.begin, id);
    }
    return true;
  }

  bool plan_cluster(std::size_t i) {
    const Cluster& c = clusters_[i];
    if (c.first_end < c.begin)
      return fail(
          [&] { return fmt::format("{} returned {} before {} began", text(c.ends_first), c.value, text(c.write)); });
    const bool holds = c.last_begin > c.first_end;
    if (index_.call(c.write).method == Method::kv_insert) {
      task(c.begin, Duty::may_insert, c.write, 0, i);
      if (c.last_begin > c.begin && !holds) task(c.last_begin, Duty::free_insert, c.write, 0, i);
      task(c.first_end, holds ? Duty::insert_to_hold : Duty::insert_now, c.ends_first, 0, i);
    } else if (holds) {
      task(c.first_end, Duty::hold, c.ends_first, 0, i);
    } else if (c.read || index_.call(c.write).returned) {
      task(c.first_end, Duty::come_and_go, c.ends_first, c.last_begin, i);
    }
    return true;
  }

  void plan_call(CallId id) {
    const Call& c = index_.call(id);
    if (c.method == Method::kv_delete && (!c.returned || c.result == 1)) {
      task(c.begin, Duty::may_delete, id);
      if (c.returned) task(c.end, Duty::delete_now, id);
    } else if (c.returned && c.result == 0) {
      task(c.end, c.method == Method::kv_insert ? Duty::find_present : Duty::find_absent, id, c.begin);
    }
  }

  void task(Seq when, Duty duty, CallId call, Seq since = 0, std::size_t cluster = 0) {
    if (when != kNever) tasks_.push_back({when, duty, call, since, cluster});
  }

  bool step(const Task& t) {
    index_.poll();
    branches_.clear();
    std::size_t left = 0;
    for (std::size_t i = 0; i < now_.size(); ++i) {
      if (left != i) now_[left] = std::move(now_[i]);
      if (left == 0 && i + 1 == now_.size()) last_ = now_[left].key;
      if (go_on(now_[left], t)) ++left;
    }
    now_.resize(left);
    if (!branches_.empty()) {
      now_.insert(now_.end(), branches_.begin(), branches_.end());
      std::sort(now_.begin(), now_.end());
      now_.erase(std::unique(now_.begin(), now_.end()), now_.end());
    }
    if (now_.size() > kMaxExplanations) return give_up(t);
    return !now_.empty() || fail([&] { return explanation(t); });
  }

  /// Does the duty. False when that cannot be.
  bool go_on(Past& e, const Task& t) {
    const Seq now = t.when;
    switch (t.duty) {
      case Duty::may_delete:
        add(e.deletes, {index_.call(t.call).returned ? index_.call(t.call).end : kNever, 0});
        return true;
      case Duty::may_insert: {
        const Cluster& c = clusters_[t.cluster];
        add(c.last_begin > now ? e.holding : e.inserts, {c.first_end, t.cluster});
        return true;
      }
      case Duty::free_insert:
        if (take(e.holding, t.cluster)) add(e.inserts, {clusters_[t.cluster].first_end, t.cluster});
        return true;
      case Duty::find_present:
        if (e.key.present || e.key.present_before > t.since) return true;
        for (const Chance& c : e.holding) {
          Past& other = branches_.emplace_back(e);
          take(other.holding, c.cluster);
          other.key.enter(now, clusters_[c.cluster].last_begin, c.cluster);
        }
        return e.insert(now);
      case Duty::find_absent:
        return !e.key.present || e.key.absent_before > t.since || e.erase(now);
      case Duty::come_and_go:
        return (e.key.present && !e.key.held(now)) || e.key.free_before > t.since || e.insert(now);
      case Duty::delete_now:
        return e.deletes.empty() || e.deletes.back().until > now || ((e.key.present || e.insert(now)) && e.erase(now));
      case Duty::insert_now:
        return e.inserts.empty() || e.inserts.back().until > now || ((!e.key.present || e.erase(now)) && e.insert(now));
      case Duty::insert_to_hold:
        if (!take(e.holding, t.cluster)) return true;
        if ((e.key.present && !e.erase(now)) || !clear(e, t, Duty::come_and_go)) return false;
        e.key.enter(now, clusters_[t.cluster].last_begin, t.cluster);
        return true;
      case Duty::hold:
        if ((!e.key.present && !e.insert(now)) || e.key.held(now) || !clear(e, t, Duty::find_absent)) return false;
        e.key.free_before = now + 1;
        e.key.held_until = clusters_[t.cluster].last_begin;
        e.key.holder = t.cluster;
        return true;
    }
    return false;
  }

  static bool take(Chances& chances, std::size_t cluster) {
    const auto found =
        std::find_if(chances.begin(), chances.end(), [&](const Chance& c) { return c.cluster == cluster; });
    if (found == chances.end()) return false;
    chances.erase(found);
    return true;
  }

  /// Before the key is held, deletes and inserts that end meanwhile take effect in pairs: at least one pair where a
  /// call that needs a `glimpse` of the other state ends meanwhile.
  bool clear(Past& e, const Task& t, Duty glimpse) const {
    const Seq until = clusters_[t.cluster].last_begin;
    const Seq seen_before = glimpse == Duty::find_absent ? e.key.absent_before : e.key.free_before;
    bool wanted = false;
    for (std::size_t i = at_; i < tasks_.size() && tasks_[i].when < until && !wanted; ++i)
      wanted = tasks_[i].duty == glimpse && tasks_[i].when > t.when && tasks_[i].since <= t.when &&
               tasks_[i].since >= seen_before;
    const auto ends = [&](const Chances& chances) { return !chances.empty() && chances.back().until < until; };
    while (wanted || ends(e.deletes) || ends(e.inserts)) {
      const bool done = e.key.present ? e.erase(t.when) && e.insert(t.when) : e.insert(t.when) && e.erase(t.when);
      if (!done) return false;
      wanted = false;
    }
    return true;
  }

  std::string text(CallId id) const {
    const Call& c = index_.call(id);
    const std::string end = c.returned ? fmt::format(" to {}", c.end) : "";
    return fmt::format("{}: {} from {}{}", thread_text(index_.trace(), c.thread), call_text(index_.trace(), id),
                       c.begin, end);
  }
  std::string held_text(std::size_t i) const {
    const Cluster& c = clusters_[i];
    return fmt::format("{} from {} ({}) to {} ({})", c.value, c.first_end, text(c.ends_first), c.last_begin,
                       text(c.begins_last));
  }

  /// Why the last explanation, as it was before the duty, ended with it.
  std::string explanation(const Task& t) const {
    std::string now = last_.present ? "there" : "absent";
    if (last_.held(t.when)) now = held_text(last_.holder);
    const Call& c = index_.call(t.call);
    switch (t.duty) {
      case Duty::come_and_go:
        return fmt::format("{}: the value {} came and went between {} and {}, but the key was {}", text(t.call),
                           clusters_[t.cluster].value, t.since, t.when, now);
      case Duty::insert_to_hold:
      case Duty::hold:
        return fmt::format("the key was {}, but also {}", held_text(t.cluster), now);
      default:
        return fmt::format("{} returned {}; before it ended the key was {}", text(t.call), c.result, now);
    }
  }

  template <class Message>
  bool fail(Message message) {
    reports_.add(Rule::linearisability, message);
    return false;
  }
  bool give_up(const Task& t) {
    reports_.add(Rule::budget, [&] {
      return fmt::format("key {}: more than {} explanations at {}", index_.call(t.call).argument, kMaxExplanations,
                         t.when);
    });
    return false;
  }

  const TraceIndex& index_;
  Reports& reports_;
  std::vector<Cluster> clusters_;  // by value
  std::vector<Task> tasks_;
  std::size_t at_ = 0;  // the task of now
  std::vector<Past> now_, branches_;
  KeyState last_;
};

}  // namespace

bool check_key_by_intervals(const TraceIndex& index, std::span<const CallId> calls, Reports& reports) {
  return KeyIntervals(index, reports).run(calls);
}

}  // namespace loco::model
