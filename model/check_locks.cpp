#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <tuple>

#include "model/histories.hpp"
#include "model/words.hpp"

namespace loco::model {
namespace {

/// At one instant, what was held before is let go, then one thread acquires, and may let go at once.
enum class Turn : std::uint8_t { released, acquired, released_at_once };

struct HandOver {
  std::uint32_t object = 0;
  std::uint64_t lock = 0;
  Seq when = 0;
  Turn turn = Turn::released;
  CallId call = 0;

  [[nodiscard]] auto key() const { return std::tie(object, lock, when, turn, call); }
};

using Held = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>;  // thread, object, lock

struct LockCalls {
  std::vector<HandOver> steps;  ///< in the order in which each lock went from hand to hand
  std::uint64_t calls = 0;
};

LockCalls collect(const Trace& trace) {
  LockCalls all;
  std::map<Held, Seq> since;  // when a thread got a lock
  for (CallId id = 1; id <= trace.calls.size(); ++id) {
    const Call& c = trace.calls[id - 1];
    if (c.library != Library::lock) continue;
    ++all.calls;
    const Held held = {c.thread, c.object, c.argument};
    if (c.method == Method::acquire && c.returned) {
      all.steps.push_back({c.object, c.argument, c.end, Turn::acquired, id});
      since[held] = c.end;
    }
    if (c.method != Method::release) continue;
    const auto got = since.find(held);
    const bool at_once = got != since.end() && got->second == c.begin;
    all.steps.push_back({c.object, c.argument, c.begin, at_once ? Turn::released_at_once : Turn::released, id});
  }
  std::ranges::sort(all.steps, {}, &HandOver::key);
  return all;
}

}  // namespace

std::uint64_t check_locks(const TraceIndex& index, Reports& reports) {
  const Trace& trace = index.trace();
  const auto [steps, calls] = collect(trace);
  const auto thread = [&](CallId c) { return thread_text(trace, index.call(c).thread); };
  CallId holder = 0;  // the acquire that holds the lock of the step before
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const HandOver& s = steps[i];
    if (i == 0 || steps[i - 1].object != s.object || steps[i - 1].lock != s.lock) holder = 0;
    if (s.turn == Turn::acquired) {
      if (holder != 0)
        reports.add(Rule::mutual_exclusion, [&] {
          return fmt::format("{}: {} returned at {} while {} held the lock since {}", thread(s.call),
                             call_text(trace, s.call), s.when, thread(holder), index.call(holder).end);
        });
      holder = s.call;
    } else {
      if (holder == 0 || index.call(holder).thread != index.call(s.call).thread)
        reports.add(Rule::mutual_exclusion, [&] {
          return fmt::format("{}: {} at {} of a lock that it does not hold", thread(s.call), call_text(trace, s.call),
                             s.when);
        });
      holder = 0;
    }
  }
  return calls;
}

}  // namespace loco::model
