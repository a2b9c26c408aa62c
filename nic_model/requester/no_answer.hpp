// What a responder that drops a request, or an answer, for good lets the requester know. No NIC is told so: a requester
// sees it when its transport timer fires. Where nothing can be lost no timer runs (requester.hpp), and this stands for
// the timer that would have: it takes the way of an answer, and says since when the answer has been missing.
// Private to nic_model/.
#pragma once

#include "nic_model/engine/engine.hpp"

namespace loco::nic {

struct NoAnswer {
  QpId requester = 0;
  QpId responder = 0;
  /// A work request whose NAK is on its way: while the requester waits for that, nothing behind it is missing an
  /// answer.
  std::uint32_t refused = kNone;
  sim::SimTime since{};
};

/// From `from`, the port of the responder, to that of the requester.
inline void send_no_answer(Engine& engine, PortId from, PortId to, const NoAnswer& message) {
  constexpr std::uint32_t kBytes = 64;  // of a least packet
  const sim::SimTime at = message.since + engine.network.way(from, to, kBytes).time;
  engine.kernel.schedule_for(to, {.at = at,
                                  .what = kEventNoAnswer,
                                  .where = message.requester,
                                  .a = message.responder | std::uint64_t{message.refused} << 32U,
                                  .b = static_cast<std::uint64_t>(message.since.ps)});
}

/// The message of a kEventNoAnswer.
[[nodiscard]] inline NoAnswer no_answer_of(const sim::Event& event) {
  return {.requester = event.where,
          .responder = static_cast<QpId>(event.a),
          .refused = static_cast<std::uint32_t>(event.a >> 32U),
          .since = {static_cast<std::int64_t>(event.b)}};
}

}  // namespace loco::nic
