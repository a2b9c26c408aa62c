// Requester: its invariants between two steps.
#include "nic_model/engine/check.hpp"

#include "nic_model/requester/requester.hpp"
#include "nic_model/requester/wqe.hpp"

namespace loco::nic {

namespace {
/// True if `a` is not ahead of `b`, for running numbers that wrap.
bool in_order(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(b - a) >= 0; }
}  // namespace

void Requester::check_windows(const Check& check) const {
  check.holds(posted() - reaped_ <= depth_, "the send queue holds no more than its depth");
  check.holds(in_order(rung_, posted()), "a doorbell is behind what it rings for");
  check.holds(in_order(fetched_, rung_), "what is fetched has been rung for");
  check.holds(in_order(started_, fetched_), "what has started has been fetched");
  check.holds(in_order(completed_, started_), "what is completed has started");
  check.holds(in_order(payload_next_, started_), "payloads are read of what has started");
  check.holds(in_order(transmit_next_, started_), "packets are sent of what has started");
  check.holds(in_order(first_, completed_) && in_order(first_, transmit_next_), "what is needed is held");
  std::uint32_t alone = 0;
  for (std::uint32_t number = completed_; number != started_; ++number) alone += entry(number).completed ? 1U : 0U;
  check.holds(in_order(reaped_, completed_ + alone), "a CQE that was polled was written");
  check.holds(unsent_psn_.distance(next_psn_) <= 0, "PSNs are sent once they are given out");
  check.holds(outstanding_ <= started_ - completed_, "a READ or atomic that is outstanding is not completed");
  check.holds(!fetch_cancelled_ || fetching_, "what is cancelled is under way");
  check.holds(!rnr_wait_ || timer_pending_, "who waits for the receiver has a timer");
  check.holds(selective_->consistent(), "what is sent again is lost");
  check.holds(retries_ <= 7 && rnr_retries_ <= 7, "retries have three bits");
}

void Requester::check_entries(const Check& check) const {
  std::uint32_t open = 0;  // READs and atomics without an answer
  for (std::uint32_t number = first_; number != posted(); ++number) {
    const SendEntry& e = entry(number);
    const bool started = in_order(number + 1, started_);
    check.holds(started || (!e.done && e.sent == 0), "what has not started is neither sent nor done");
    check.holds(e.sent <= e.wqe.length && e.received <= e.wqe.length, "no more is sent or received than was asked for");
    check.holds(e.payload_read <= std::max(bytes_to_read(e.wqe), e.wqe.length), "no more is read than there is");
    check.holds(e.status == Status::success || e.done, "what has failed is done");
    if (started && in_order(completed_, number) && !e.done && reads_or_atomic(e.wqe.opcode)) ++open;
  }
  check.holds(open <= outstanding_, "every READ and atomic without an answer is counted");
  check.holds(completed_ == started_ || !entry(completed_).done, "what is done and the oldest is completed");
}

void Requester::check(QpId id, sim::SimTime now) const {
  const Check check(now, "requester", "queue pair", id);
  check_windows(check);
  check_entries(check);
}

}  // namespace loco::nic
