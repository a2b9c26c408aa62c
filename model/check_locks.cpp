#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <tuple>

#include "model/histories.hpp"
#include "model/lock_calls.hpp"
#include "model/words.hpp"

namespace loco::model {
namespace {

using Held = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>;  // thread, object, lock

}  // namespace

LockCalls lock_calls(const Trace& trace) {
  LockCalls all;
  std::map<Held, Seq> since;  // when a thread got a lock
  for (CallId id = 1; id <= trace.calls.size(); ++id) {
    const Call& c = trace.calls[id - 1];
    if (c.library != Library::lock) continue;
    ++all.calls;
    const Held held = {c.thread, c.object, c.argument};
    if (c.method == Method::acquire && c.returned) {
      all.steps.push_back({c.object, c.argument, c.end, LockStep::Turn::acquired, id});
      since[held] = c.end;
    }
    if (c.method != Method::release) continue;
    const auto got = since.find(held);
    const bool at_once = got != since.end() && got->second == c.begin;
    all.steps.push_back(
        {c.object, c.argument, c.begin, at_once ? LockStep::Turn::released_at_once : LockStep::Turn::released, id});
  }
  std::ranges::sort(all.steps, {}, &LockStep::key);
  return all;
}

std::uint64_t check_locks(const TraceIndex& index, Reports& reports) {
  const Trace& trace = index.trace();
  const auto [steps, calls] = lock_calls(trace);
  const auto thread = [&](CallId c) { return thread_text(trace, index.call(c).thread); };
  CallId holder = 0;  // the acquire that holds the lock of the step before
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const LockStep& s = steps[i];
    if (i == 0 || steps[i - 1].object != s.object || steps[i - 1].lock != s.lock) holder = 0;
    if (s.turn == LockStep::Turn::acquired) {
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
