// Going back: what makes the requester of a reliable connection send again, and when it gives up (IBTA volume 1, 9.7.5
// and 9.7.6).
//
// Going back repeats everything from the oldest PSN that is not acknowledged. A repeated WRITE or SEND carries the
// payload that was read the first time.
// The transport timer (9.7.6.1.3) starts with a packet that asks for an answer, if it does not run, and starts anew
// when there is progress. It runs only where the network can lose packets (State::lossy). On a lossless network nearly
// everything is answered, and without a timer nothing is pending in an idle machine. The exceptions: a peer that is not
// ready, has stopped or is connected to another one, PSNs that do not fit, a RESET. Whoever drops such a request, or an
// answer, says so (no_answer, expect_no_answer): from then on the timer runs there, too, until everything is answered.
// The RNR timer takes the place of the transport timer (Requester::timer) while a receiver that was not ready is given
// time. Private to nic_model/.
#pragma once

#include "nic_model/engine/engine.hpp"

namespace loco::nic {

/// Goes back to work request `oldest`; without retries left that one fails instead.
void retry(Engine& engine, QpId qp, std::uint32_t oldest);
/// An RNR NAK for work request `which`: goes back to `oldest` once `wait` has passed. Without RNR retries left `which`
/// fails.
void receiver_not_ready(Engine& engine, QpId qp, std::uint32_t which, std::uint32_t oldest, sim::Duration wait);
/// Completes a work request with an error, if it is not done already: nothing more of the queue pair starts.
void fail_work_request(Engine& engine, QpId qp, std::uint32_t number, Status status);

[[nodiscard]] inline bool runs_timer(const Engine& engine, const Requester& rq) {
  return engine.state.lossy || rq.unanswered;
}
/// Starts the transport timer, unless it runs or the queue pair has none (timeout 0). Precondition: runs_timer().
void start_running_timer(Engine& engine, QpId qp);
/// The same, where there is a timer at all.
inline void start_timer(Engine& engine, QpId qp) {
  if (runs_timer(engine, engine.state.qps[qp].requester)) start_running_timer(engine, qp);
}
/// There was an answer: the timer starts anew if something else that has been sent is to be answered.
void restart_timer(Engine& engine, QpId qp);
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
