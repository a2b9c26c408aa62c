// How a span of a run was spent: the chain of what waited for what, followed back from its end, as
// docs/barrier-latency.md does by hand.
//
// From the end of the span on its thread the chain goes back to the latest thing that the thread had to wait for: a
// completion that it polled, or a word that a NIC wrote and that it then read. That came from an operation of this or
// another thread. The operation's stages are in the chain, before them its thread's time, and so on until the beginning
// of the span. Each stage begins where the one before ends, so they add up to the span exactly. Needs a trace with
// activities (trace.level: packets); without them an operation is one stage.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "trace/trace.hpp"

namespace loco {

/// A stretch of the chain.
struct WhyStage {
  std::string_view stage;  ///< "CPU", "doorbell", "WQE fetch", "payload read", "wire", ...: kWhyStages
  std::uint32_t node = 0;  ///< where it is; for the wire, where it begins
  std::int64_t start_ps = 0;
  std::int64_t took_ps = 0;
};

/// All names of stages, in the order in which they occur in a write that is waited for.
inline constexpr std::array<std::string_view, 10> kWhyStages = {
    "CPU", "doorbell", "WQE fetch", "payload read", "wire", "queues", "receiver", "CQE", "poll", "another thread"};

/// The stages from `start_ps` to `end_ps` (simulated, by a thread's clock), in order of time. The thread is the one
/// whose calls fit the span best. Empty for an empty span. Calls `poll` now and then; an exception from it ends the
/// work.
[[nodiscard]] std::vector<WhyStage> why(const trace::Trace& trace, std::int64_t start_ps, std::int64_t end_ps,
                                        const std::function<void()>& poll = {});

}  // namespace loco
