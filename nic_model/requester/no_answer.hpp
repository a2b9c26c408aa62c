// The simulator's stand-in for a transport timer where nothing can be lost. A real requester notices by timeout that
// its request or the answer was dropped. Without loss no timer runs (requester.hpp), so a responder that drops one for
// good sends this message instead. It takes as long as an answer, and says since when the answer is missing. Private to
// nic_model/.
#pragma once

#include "nic_model/engine/engine.hpp"

namespace loco::nic {

struct NoAnswer {
  QpId requester = 0;
  QpId responder = 0;
  /// A work request whose NAK is in flight. As long as the requester waits for it, no later answer counts as missing.
  std::uint32_t refused = kNone;
  sim::SimTime since{};
};

/// From `from`, the port of the responder, to that of the requester.
inline void send_no_answer(Engine& engine, PortId from, PortId to, const NoAnswer& message) {
  constexpr std::uint32_t kBytes = 64;  // size of a minimal packet
  const sim::SimTime at = message.since + engine.network.way(from, to, kBytes).time;
  engine.kernel.schedule_for(engine.kernel.nic_of_port(to),
                             {.at = at,
                              .what = kEventNoAnswer,
                              .where = message.requester,
                              .a = message.responder | std::uint64_t{message.refused} << 32U,
                              .b = static_cast<std::uint64_t>(message.since.ps)});
}

/// Decodes the message of a kEventNoAnswer.
[[nodiscard]] inline NoAnswer no_answer_of(const sim::Event& event) {
  return {.requester = event.where,
          .responder = static_cast<QpId>(event.a),
          .refused = static_cast<std::uint32_t>(event.a >> 32U),
          .since = {static_cast<std::int64_t>(event.b)}};
}

}  // namespace loco::nic
