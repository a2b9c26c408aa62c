// Wing and Gong's search in the just-in-time form of Lowe ("Testing for linearizability", 2017): walk the begins
// and ends of one key's calls in time; keep every (value, set of open calls that have taken effect) that explains
// the past; when a call ends, let open calls take effect in any order until it has. Between calls that do not
// overlap only the value remains, so the search is cut wherever the key is quiet. Calls that change nothing take
// effect as soon as they can: that never does harm.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <set>
#include <tuple>

#include "model/key_history.hpp"
#include "model/words.hpp"

namespace loco::model {
namespace {

constexpr std::size_t kMaxOpen = 512;                // calls open at once on one key
constexpr std::size_t kMaxConfigurations = 100'000;  // explanations kept at once

struct Moment {
  Seq when = 0;
  bool end = false;  // at one instant, begins come first: calls that touch may overlap
  CallId call = 0;

  [[nodiscard]] auto order() const { return std::tie(when, end, call); }
};

/// Open calls, by slot.
class Slots {
 public:
  [[nodiscard]] bool has(std::size_t i) const { return (words_[i / 64] >> i % 64 & 1U) != 0; }
  void add(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << i % 64; }
  void remove(std::size_t i) { words_[i / 64] &= ~(std::uint64_t{1} << i % 64); }
  friend auto operator<=>(const Slots&, const Slots&) = default;

 private:
  std::array<std::uint64_t, kMaxOpen / 64> words_{};
};

/// One explanation of the past of a key.
struct Configuration {
  std::uint64_t value = 0;  // 0: the key is absent
  Slots effect;             // open calls that have taken effect
  friend auto operator<=>(const Configuration&, const Configuration&) = default;
};

bool changes_nothing(const Call& c) { return c.method == Method::kv_lookup || (c.returned && c.result == 0); }

/// May a call that changes nothing have returned this, the key being `value`?
bool fits(const Call& c, std::uint64_t value) {
  if (c.method == Method::kv_lookup) return c.result == value;
  return (c.method == Method::kv_insert) == (value != 0);
}

/// The value after a call that changes it; false when it cannot have done so.
bool apply(const Call& c, std::uint64_t value, std::uint64_t& after) {
  after = c.method == Method::kv_delete ? 0 : c.work_id;
  return (c.method == Method::kv_insert) == (value == 0) && (!c.returned || c.result == 1);
}

class KeySearch {
 public:
  KeySearch(const TraceIndex& index, Reports& reports) : index_(index), reports_(reports) {}

  void run(std::span<const CallId> calls) {
    std::vector<Moment> moments;
    for (const CallId id : calls) {
      const Call& c = index_.call(id);
      if (!c.returned && c.method == Method::kv_lookup) continue;
      moments.push_back({c.begin, false, id});
      if (c.returned) moments.push_back({c.end, true, id});
    }
    std::sort(moments.begin(), moments.end(), [](const Moment& a, const Moment& b) { return a.order() < b.order(); });
    now_ = {Configuration{}};
    for (const Moment& m : moments)
      if (!(m.end ? end(m) : begin(m))) return;
  }

 private:
  bool begin(const Moment& m) {
    auto slot = static_cast<std::size_t>(std::find(slots_.begin(), slots_.end(), CallId{0}) - slots_.begin());
    if (slot == kMaxOpen) return give_up(m);
    if (slot == slots_.size()) slots_.push_back(0);
    slots_[slot] = m.call;
    if (!changes_nothing(index_.call(m.call))) return true;
    std::set<Configuration> next;
    for (Configuration c : now_) {
      if (fits(index_.call(m.call), c.value)) c.effect.add(slot);
      next.insert(c);
    }
    now_ = std::move(next);
    return true;
  }

  bool end(const Moment& m) {
    const auto slot = static_cast<std::size_t>(std::find(slots_.begin(), slots_.end(), m.call) - slots_.begin());
    std::set<Configuration> next, seen;
    std::vector<Configuration> frontier(now_.begin(), now_.end());
    while (!frontier.empty()) {
      index_.poll();
      Configuration c = frontier.back();
      frontier.pop_back();
      if (c.effect.has(slot)) {
        c.effect.remove(slot);
        next.insert(c);
        continue;
      }
      if (!seen.insert(c).second) continue;
      if (seen.size() > kMaxConfigurations) return give_up(m);
      for (std::size_t i = 0; i < slots_.size(); ++i) {
        Configuration after = c;
        if (slots_[i] == 0 || c.effect.has(i) || changes_nothing(index_.call(slots_[i]))) continue;
        if (!apply(index_.call(slots_[i]), c.value, after.value)) continue;
        after.effect.add(i);
        look(after);
        frontier.push_back(after);
      }
    }
    slots_[slot] = 0;
    if (next.empty()) return fail(m);
    now_ = std::move(next);
    return true;
  }

  /// Lets open calls take effect that change nothing and whose results fit the present value.
  void look(Configuration& c) const {
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (slots_[i] != 0 && changes_nothing(index_.call(slots_[i])) && fits(index_.call(slots_[i]), c.value))
        c.effect.add(i);
  }

  bool fail(const Moment& m) {
    const Trace& trace = index_.trace();
    reports_.add(Rule::linearisability, [&] {
      std::set<std::uint64_t> before;
      for (const Configuration& c : now_) before.insert(c.value);
      std::string values;
      for (const std::uint64_t value : before)
        values += (values.empty() ? "" : " or ") + (value == 0 ? "absent" : std::to_string(value));
      const Call& c = index_.call(m.call);
      return fmt::format("{}: {} from {} to {} returned {}; before it the key was {}", thread_text(trace, c.thread),
                         call_text(trace, m.call), c.begin, c.end, c.result, values);
    });
    return false;
  }

  bool give_up(const Moment& m) {
    reports_.add(Rule::budget, [&] {
      return fmt::format(
          "key {}: values are not unique, and too many calls overlap at {} (at most {} at once, {} "
          "explanations)",
          index_.call(m.call).argument, m.when, kMaxOpen, kMaxConfigurations);
    });
    return false;
  }

  const TraceIndex& index_;
  Reports& reports_;
  std::set<Configuration> now_;
  std::vector<CallId> slots_;
};

}  // namespace

void check_key_by_search(const TraceIndex& index, std::span<const CallId> calls, Reports& reports) {
  KeySearch(index, reports).run(calls);
}

}  // namespace loco::model
