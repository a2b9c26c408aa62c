// The requester of a reliable connection, from the answer on: ACKs, NAKs, responses, the transport timer, going back
// (IBTA volume 1, 9.7.5 and 9.7.6).
//
// Order: responses are taken in PSN order. One that answers a later request acknowledges all earlier WRITEs and SENDs;
// a READ or an atomic that it passes over has lost its response (an implied NAK): the requester goes back to it. Going
// back repeats everything from the oldest PSN that is not acknowledged. A repeated WRITE or SEND carries the payload
// that was read the first time.
// The transport timer (9.7.6.1.3) starts with a packet that asks for an answer, if it does not run, and starts anew
// when there is progress. It runs only where the network can lose packets (State::lossy). A lossless network leaves few
// ways not to be answered: a peer that is not ready, has stopped or is connected to another one, PSNs that do not fit,
// a RESET. Whoever drops such a request, or an answer, says so (no_answer, expect_no_answer): from then on the timer
// runs there, too, until everything is answered. Private to nic_model/.
#pragma once

#include "nic_model/engine.hpp"

namespace loco::nic {

/// A response packet has arrived.
void response_arrived(Engine& engine, const fabric::Packet& packet);
[[nodiscard]] inline bool runs_timer(const Engine& engine, const Requester& rq) {
  return engine.state.lossy || rq.unanswered;
}
void start_running_timer(Engine& engine, QpId qp);
/// Starts the transport timer, unless it runs.
inline void start_timer(Engine& engine, QpId qp) {
  if (runs_timer(engine, engine.state.qps[qp].requester)) start_running_timer(engine, qp);
}
/// Stops it, or the RNR timer: there is nothing to wait for.
void stop_timer(Engine& engine, QpId qp);
/// kEventTimeout
void timed_out(Engine& engine, QpId qp);
/// kEventRnrTimer
void rnr_timer_expired(Engine& engine, QpId qp);
/// Something that a queue pair has sent, or its answer, was dropped for good without the network losing it.
void expect_no_answer(Engine& engine, QpId qp);
/// A request that nobody will answer has reached its destination.
void no_answer(Engine& engine, const fabric::Packet& packet);

}  // namespace loco::nic
