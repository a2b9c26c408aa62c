#include "nic_model/requester/requester.hpp"

#include <algorithm>

#include "nic_model/connection/failure.hpp"
#include "nic_model/engine/hash_parts.hpp"
#include "nic_model/pcie/pcie.hpp"
#include "nic_model/port/context.hpp"
#include "nic_model/port/port.hpp"
#include "nic_model/requester/wqe.hpp"
#include "probe/probe.hpp"

namespace loco::nic {

namespace {
using fabric::Psn;

/// True if all words of an atomic's operands lie in the region of its key.
bool may_gather(const Engine& engine, NicId node, const Wqe& wqe) {
  for (std::uint32_t done = 0; done < bytes_to_read(wqe); done += 8) {
    if (!engine.allowed(wqe.lkey, node, payload_step(engine, node, wqe, done).address, 8, 0)) return false;
  }
  return true;
}

/// The checks that the requester itself makes when it starts a work request.
Status local_check(const Engine& engine, const Connection& qp, const Wqe& wqe) {
  const HardwareProfile& p = engine.profile(qp.node());
  const std::uint64_t mtu = p.link_mtu.count;
  // All PSNs of a message may be in flight at once, so kPsnsMax bounds it even if packets are smaller than InfiniBand's
  // 256 bytes.
  const bool one_packet = qp.type() == QpType::ud || (wqe.opcode == Opcode::send && !p.nic_send_segments);
  const std::uint64_t most = one_packet ? mtu : std::min(p.nic_max_message.count, mtu * kPsnsMax);
  if (wqe.length > most || (is_atomic(wqe.opcode) && wqe.length != 8)) return Status::loc_len_err;
  if (wqe.inline_data || wqe.length == 0) return Status::success;
  if (gathers(wqe) && !may_gather(engine, qp.node(), wqe)) return Status::loc_prot_err;
  const std::uint8_t access = sends_payload(wqe.opcode) ? 0 : kLocalWrite;
  if (!in_domain(engine, qp, wqe.lkey)) return Status::loc_prot_err;
  return may_access(engine, wqe.lkey, qp.node(), wqe.local, wqe.length, access) ? Status::success
                                                                                : Status::loc_prot_err;
}

/// PSNs that a work request takes; a READ takes those of its responses.
std::uint32_t psns_of(const Engine& engine, const Connection& qp, const Wqe& wqe) {
  return is_atomic(wqe.opcode) ? 1 : packets_of(engine, qp, wqe.length);
}

void announce_fence(Engine& engine, const Connection& qp, const Wqe& wqe) {
  if (!wqe.fence || wqe.fence_op == 0) return;
  engine.begin({.stamp = Stamp::aRF,
                .thread = qp.thread(),
                .op = wqe.fence_op,
                .peer = engine.node_of(qp.peer_node()),
                .home = engine.node_of(qp.node())});
}

/// Frees the buffer and the track of a work request.
void release_entry(Engine& engine, const SendEntry& e) {
  engine.release(e.buffer);
  if (e.track != kNone) engine.tracks.end(e.track);
}

}  // namespace

// --- verbs calls -----------------------------------------------------------------------------------------------------

void Requester::post(const Wqe& wqe, std::uint32_t inline_payload) {
  SendEntry& e = queue_.push_back({.wqe = wqe});
  if (inline_payload == fabric::kNoBuffer) return;
  e.buffer = inline_payload;
  e.payload_read = wqe.length;
}

void Requester::reap(std::uint32_t number, bool alone) {
  if (alone) {
    ++reaped_;
    return;
  }
  if (static_cast<std::int32_t>(number - reaped_) >= 0) reaped_ = number + 1;  // otherwise it was RESET since
}

void Requester::flush(Engine& engine, QpId id) {
  break_payload_burst(engine, id);
  while (completed_ != rung_) {
    LOCO_PROBE(request_flushed);
    if (!entry(completed_).completed) write_cqe(engine, id, completed_, Status::wr_flush_err, {});
    ++completed_;
  }
  fetched_ = started_ = payload_next_ = transmit_next_ = rung_;
  withdraw_message(engine, id, false);
  outstanding_ = 0;
  fetch_cancelled_ = fetching_;
  una_ = unsent_psn_ = next_psn_;
  forget_sent();
  stop_timer(engine);
  free_finished(engine);
}

void Requester::reset(Engine& engine, QpId id) {
  break_payload_burst(engine, id);
  stop_timer(engine);
  first_ += static_cast<std::uint32_t>(queue_.size());
  for (; !queue_.empty(); queue_.pop_front()) release_entry(engine, queue_.front());
  reaped_ = rung_ = fetched_ = started_ = payload_next_ = transmit_next_ = completed_ = first_;
  withdraw_message(engine, id, false);
  outstanding_ = 0;
  fetch_cancelled_ = fetching_;
  una_ = unsent_psn_ = next_psn_;
  forget_sent();
  halted_ = rnr_wait_ = recovering_ = false;
}

// --- completing ------------------------------------------------------------------------------------------------------

void Requester::write_cqe(Engine& engine, QpId id, std::uint32_t number, Status status, sim::Duration delay) const {
  const Wqe& wqe = entry(number).wqe;
  post_cqe(engine, domain_, cq_,
           {.wr_id = wqe.wr_id,
            .qp = id,
            .opcode = wqe.opcode,
            .status = status,
            .length = wqe.length + entry(number).left_out,
            .wqe = number},
           delay + engine.profile(engine.connections[id].node()).nic_cqe);
}

/// Completes the oldest work requests that are done, in order.
void Requester::complete(Engine& engine, QpId id, sim::Duration delay) {
  while (completed_ != started_ && entry(completed_).done) {
    const SendEntry& e = entry(completed_);
    const bool failed = e.status != Status::success;
    if (!e.completed && (e.wqe.signaled || failed)) write_cqe(engine, id, completed_, e.status, delay);
    ++completed_;
    if (failed) {
      LOCO_PROBE(queue_pair_fails);
      return announce(engine, SendFailed{id});
    }
  }
  free_finished(engine);
}

/// Drops finished work requests.
void Requester::free_finished(Engine& engine) {
  while (!queue_.empty() && first_ != completed_ && first_ != transmit_next_) {
    release_entry(engine, queue_.front());
    queue_.pop_front();
    ++first_;
  }
}

// --- starting --------------------------------------------------------------------------------------------------------

bool Requester::fence_holds(const DeliveryPolicy& policy) const {
  if (policy.order.when_whole && completed_ != started_) return true;
  return outstanding_ != 0 || payload_next_ != started_ || transmit_next_ != started_;
}

/// True if the work request would have more PSNs in flight than allowed. With none in flight any message may start:
/// local_check() has refused the longer ones.
bool Requester::too_far_ahead(std::uint32_t packets) const {
  const std::uint32_t ahead = (next_psn_.value() - una_.value()) & fabric::Psn::kMask;
  return ahead != 0 && ahead + packets > kPsnsMax;
}

/// True if a work request has to wait for earlier ones. start() is called again when the wait may be over.
bool Requester::waits_for_others(const Engine& engine, const Connection& qp, const SendEntry& e) const {
  if (e.wqe.fence && fence_holds(policy_of(engine, qp)) && !engine.fault(Fault::fence_ignored)) return true;
  if (reads_or_atomic(e.wqe.opcode) && outstanding_ >= qp_settings(engine, qp).max_rd_atomic) {
    LOCO_PROBE(max_rd_atomic_reached);
    return true;
  }
  if (!policy_of(engine, qp).acknowledges() || !too_far_ahead(e.packets)) return false;
  LOCO_PROBE(psns_used_up);
  return true;
}

/// Assigns the next PSNs to a work request and sets up what its answer needs.
void Requester::take_psns(Engine& engine, const DeliveryPolicy& policy, SendEntry& e) {
  e.psn = next_psn_;
  next_psn_ = next_psn_ + e.packets;
  engine.count(&Counters::work_requests);
  if (reads_or_atomic(e.wqe.opcode)) ++outstanding_;
  const bool may_repeat = policy.recovery.timer_always_runs() || policy.order.answers_early;
  if (policy.order.when_whole || (e.wqe.opcode == Opcode::rdma_read && may_repeat)) e.track = engine.tracks.begin();
}

/// Starts one work request. Returns false if it fails: then no other starts.
bool Requester::start_next(Engine& engine, QpId id, sim::Duration delay, sim::Duration stall) {
  const Connection& qp = engine.connections[id];
  SendEntry& e = edit(started_);
  announce_fence(engine, qp, e.wqe);
  const std::uint32_t number = started_++;
  const sim::Duration begun = delay + engine.profile(qp.node()).nic_wqe_start;
  e.ready = engine.now() + stall + begun;
  e.status = local_check(engine, qp, e.wqe);
  if (e.status != Status::success) {
    e.done = halted_ = true;
    e.packets = 0;
    LOCO_PROBE(local_error);
    complete(engine, id, delay);
    return false;
  }
  take_psns(engine, policy_of(engine, qp), e);
  issue_payload_read(engine, id, number, begun, stall);
  schedule_payload(engine, id);  // skips a work request without payload
  schedule_transmit(engine, id);
  if (engine.fault(Fault::early_write_completion) && e.wqe.opcode == Opcode::rdma_write) {
    e.done = true;
    complete(engine, id, delay);
  }
  return true;
}

void Requester::start(Engine& engine, QpId id, sim::Duration delay) {
  const Connection& qp = engine.connections[id];
  while (qp.state() == QpState::rts && !halted_ && started_ != fetched_) {
    SendEntry& e = edit(started_);
    e.packets = psns_of(engine, qp, e.wqe);
    if (waits_for_others(engine, qp, e)) {
      const bool window = reads_or_atomic(e.wqe.opcode) && outstanding_ >= qp_settings(engine, qp).max_rd_atomic;
      if (window) engine.contexts[id].begin_wait(engine.now());
      return;
    }
    engine.contexts[id].end_wait(engine.now());
    sim::Duration stall{};
    if (!take_unit(engine, id, e.wqe, started_, stall)) return;
    if (!start_next(engine, id, delay, stall)) return;
  }
}

void Requester::hash(Hasher& h, const Payloads& payloads) const {
  h.add_all(reaped_, first_, queue_.size(), rung_, fetched_, started_, payload_next_, transmit_next_, completed_,
            outstanding_, fetching_, payload_event_, transmit_event_, halted_, next_psn_.value(), fetch_cancelled_,
            rnr_wait_, recovering_, timer_pending_, unanswered_, retries_, rnr_retries_, unsent_psn_.value(),
            una_.value());
  selective_->hash(h);
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    const SendEntry& e = queue_[i];
    add_wqe(h, e.wqe);
    h.add_all(e.status, e.done, e.read_ready, e.psn.value(), e.payload_read, e.sent, e.received, e.acked);
    add_part_read(h, payloads, e.buffer, e.payload_read);
  }
}

}  // namespace loco::nic
