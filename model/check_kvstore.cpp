// Linearisability of a key-value store, key by key: keys are independent, so the store is linearisable iff each
// key is (Herlihy and Wing's locality).
//
// Wing and Gong's search in the just-in-time form of Lowe ("Testing for linearizability", 2017): walk the begins
// and ends of one key's calls in time; keep every (value, set of open calls that have taken effect) that explains
// the past; when a call ends, let open calls take effect in any order until it has. Between calls that do not
// overlap only the value remains, so the search is cut wherever the key is quiet.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <set>
#include <tuple>

#include "model/histories.hpp"
#include "model/words.hpp"

namespace loco::model {
namespace {

constexpr std::size_t kMaxOpen = 64;                 // calls open at once on one key
constexpr std::size_t kMaxConfigurations = 100'000;  // explanations kept at once

struct Moment {
  std::uint32_t object = 0;
  std::uint64_t key = 0;
  Seq when = 0;
  bool end = false;  // at one instant, begins come first: calls that touch may overlap
  CallId call = 0;

  [[nodiscard]] auto order() const { return std::tie(object, key, when, end, call); }
};

/// One explanation of the past of a key.
struct Configuration {
  std::uint64_t value = 0;   // 0: the key is absent
  std::uint64_t effect = 0;  // open calls that have taken effect, by slot
  friend auto operator<=>(const Configuration&, const Configuration&) = default;
};

/// The value after the call on a key with `value`; false when the call's result says otherwise.
bool apply(const Call& c, std::uint64_t value, std::uint64_t& after) {
  after = value;
  std::uint64_t result = 0;
  switch (c.method) {
    case Method::kv_lookup:
      result = value;
      break;
    case Method::kv_insert:
      result = value == 0 ? 1 : 0;
      if (value == 0) after = c.work_id;
      break;
    case Method::kv_update:
      result = value != 0 ? 1 : 0;
      if (value != 0) after = c.work_id;
      break;
    default:  // kv_delete
      result = value != 0 ? 1 : 0;
      after = 0;
      break;
  }
  return !c.returned || c.result == result;
}

class KeyHistory {
 public:
  KeyHistory(const TraceIndex& index, Reports& reports) : index_(index), reports_(reports) {}

  /// All steps of one key, in time.
  void run(const Moment* first, const Moment* last) {
    now_ = {Configuration{}};
    slots_.fill(0);
    for (const Moment* s = first; s != last; ++s) {
      if (!(s->end ? end(*s) : begin(*s))) return;
    }
  }

 private:
  bool begin(const Moment& s) {
    const auto free = std::find(slots_.begin(), slots_.end(), CallId{0});
    if (free == slots_.end()) return give_up(s);
    *free = s.call;
    return true;
  }

  bool end(const Moment& s) {
    const auto slot = static_cast<std::size_t>(std::find(slots_.begin(), slots_.end(), s.call) - slots_.begin());
    const std::uint64_t bit = std::uint64_t{1} << slot;
    std::set<Configuration> next, seen;
    std::vector<Configuration> frontier(now_.begin(), now_.end());
    while (!frontier.empty()) {
      index_.poll();
      const Configuration c = frontier.back();
      frontier.pop_back();
      if ((c.effect & bit) != 0) {
        next.insert({c.value, c.effect & ~bit});
        continue;
      }
      if (!seen.insert(c).second) continue;
      if (seen.size() > kMaxConfigurations) return give_up(s);
      for (std::size_t i = 0; i < kMaxOpen; ++i) {
        const std::uint64_t one = std::uint64_t{1} << i;
        std::uint64_t after = 0;
        if (slots_[i] != 0 && (c.effect & one) == 0 && apply(index_.call(slots_[i]), c.value, after))
          frontier.push_back({after, c.effect | one});
      }
    }
    slots_[slot] = 0;
    if (next.empty()) return fail(s);
    now_ = std::move(next);
    return true;
  }

  bool fail(const Moment& s) {
    const Trace& trace = index_.trace();
    reports_.add(Rule::linearisability, [&] {
      std::string values;
      for (const Configuration& c : now_) {
        const std::string value = c.value == 0 ? "absent" : std::to_string(c.value);
        if (values.find(value) == std::string::npos) values += (values.empty() ? "" : " or ") + value;
      }
      const Call& c = index_.call(s.call);
      return fmt::format("{}: {} from {} to {} returned {}; before it the key was {}", thread_text(trace, c.thread),
                         call_text(trace, s.call), c.begin, c.end, c.result, values);
    });
    return false;
  }

  bool give_up(const Moment& s) {
    reports_.add(Rule::budget, [&] {
      return fmt::format("key {}: too many overlapping calls at {} (at most {} at once, {} explanations)", s.key,
                         s.when, kMaxOpen, kMaxConfigurations);
    });
    return false;
  }

  const TraceIndex& index_;
  Reports& reports_;
  std::set<Configuration> now_;
  std::array<CallId, kMaxOpen> slots_{};
};

}  // namespace

std::uint64_t check_kvstores(const TraceIndex& index, Reports& reports) {
  const Trace& trace = index.trace();
  std::vector<Moment> steps;
  std::uint64_t calls = 0;
  for (CallId id = 1; id <= trace.calls.size(); ++id) {
    const Call& c = trace.calls[id - 1];
    if (c.library != Library::kvstore) continue;
    ++calls;
    steps.push_back({c.object, c.argument, c.begin, false, id});
    if (c.returned) steps.push_back({c.object, c.argument, c.end, true, id});
  }
  std::sort(steps.begin(), steps.end(), [](const Moment& a, const Moment& b) { return a.order() < b.order(); });
  KeyHistory history(index, reports);
  for (std::size_t i = 0; i < steps.size();) {
    std::size_t last = i;
    while (last < steps.size() && steps[last].object == steps[i].object && steps[last].key == steps[i].key) ++last;
    history.run(steps.data() + i, steps.data() + last);
    i = last;
  }
  return calls;
}

}  // namespace loco::model
