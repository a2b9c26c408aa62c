// The requester of a reliable connection, from the answer on: ACKs, NAKs, responses, the transport timer, going back
// (IBTA volume 1, 9.7.5 and 9.7.6).
//
// Order: responses are taken in PSN order. One that answers a later request acknowledges all earlier WRITEs and SENDs;
// a READ or an atomic that it passes over has lost its response (an implied NAK): the requester goes back to it. Going
// back repeats everything from the oldest PSN that is not acknowledged. A repeated WRITE or SEND carries the payload
// that was read the first time.
// The timer runs only where the network can lose packets (State::lossy). A lossless network leaves one way not to be
// answered, a peer that has stopped: its responder then says when the retries would have run out (no_answer).
// Private to nic_model/.
#pragma once

#include "nic_model/engine.hpp"

namespace loco::nic {

/// A response packet has arrived.
void response_arrived(Engine& engine, const fabric::Packet& packet);
/// Starts the transport timer anew; stops it.
void start_running_timer(Engine& engine, QpId qp);
inline void start_timer(Engine& engine, QpId qp) {
  if (engine.state.lossy) start_running_timer(engine, qp);
}
void stop_timer(Engine& engine, QpId qp);
/// kEventTimeout
void timed_out(Engine& engine, QpId qp);
/// kEventRnrTimer
void rnr_timer_expired(Engine& engine, QpId qp);
/// A request that nobody will answer has reached its destination over a lossless network.
void no_answer(Engine& engine, const fabric::Packet& packet);
/// kEventRetryExceeded
void retry_exceeded(Engine& engine, QpId qp, std::uint32_t number);

}  // namespace loco::nic
