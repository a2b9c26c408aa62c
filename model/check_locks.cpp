#include <algorithm>
#include <fmt/format.h>
#include <tuple>

#include "model/histories.hpp"
#include "model/words.hpp"

namespace loco::model {
namespace {

struct Moment {
  std::uint32_t object = 0;
  std::uint64_t lock = 0;
  Seq when = 0;
  bool acquired = false;  // at one instant, releases come first
  CallId call = 0;

  [[nodiscard]] auto key() const { return std::tie(object, lock, when, acquired, call); }
};

}  // namespace

std::uint64_t check_locks(const TraceIndex& index, Reports& reports) {
  const Trace& trace = index.trace();
  std::vector<Moment> steps;
  std::uint64_t calls = 0;
  for (CallId id = 1; id <= trace.calls.size(); ++id) {
    const Call& c = trace.calls[id - 1];
    if (c.library != Library::lock) continue;
    ++calls;
    if (c.method == Method::release) steps.push_back({c.object, c.argument, c.begin, false, id});
    if (c.method == Method::acquire && c.returned) steps.push_back({c.object, c.argument, c.end, true, id});
  }
  std::sort(steps.begin(), steps.end(), [](const Moment& a, const Moment& b) { return a.key() < b.key(); });
  CallId holder = 0;  // the acquire that holds the lock of the step before
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Moment& s = steps[i];
    if (i == 0 || steps[i - 1].object != s.object || steps[i - 1].lock != s.lock) holder = 0;
    const auto thread = [&](CallId c) { return thread_text(trace, index.call(c).thread); };
    if (s.acquired) {
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
