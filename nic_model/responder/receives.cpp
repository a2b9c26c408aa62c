// Responder: receive work requests, from the queue to the receive CQE (IBTA volume 1, 10.8 and 9.7.5; verbs
// ibv_post_recv, ibv_srq).
#include "nic_model/connection/receive_queue.hpp"
#include "nic_model/host/process.hpp"
#include "nic_model/host/watch_set.hpp"
#include "nic_model/pcie/pcie.hpp"
#include "nic_model/responder/responder.hpp"
#include "probe/probe.hpp"

namespace loco::nic {

void receives_posted(Engine& engine, std::uint32_t queue, ThreadId poster, std::uint32_t count) {
  ReceiveQueue& q = engine.receive_queues[queue];
  q.reveal(poster, count);
  if (Observer* const observer = engine.observer()) observer->on_receives_known(queue, poster, count);
  if (!q.shared() && engine.connections[q.owner()].state() == QpState::error) {
    engine.responders[q.owner()].flush_receives(engine, q.owner());
  }
}

/// True if there is a receive work request for a message.
bool Responder::can_receive(const Engine& engine) const {
  return receiving_ || (queue_ != kNone && engine.receive_queues[queue_].ready());
}

/// XRC: selects the queue that a SEND names, and its completion queue; kNone if it does not exist.
void Responder::choose_queue(const Engine& engine, NicId node, const fabric::Packet& packet) {
  if (packet.opcode != fabric::Opcode::send || !packet.first || receiving_) return;
  const std::uint32_t named = packet.rkey;
  const bool there = named < engine.receive_queues.size() &&
                     engine.receive_queues[named].node() == engine.host_of(node) &&
                     engine.receive_queues[named].cq() != kNone;
  queue_ = there ? named : kNone;
  if (there) cq_ = engine.receive_queues[named].cq();
}

/// Takes the next receive. Precondition: can_receive().
void Responder::take_receive(Engine& engine) {
  received_ = 0;
  if (receiving_) {  // left over from a message that was cut short
    LOCO_PROBE(receive_of_a_message_cut_short);
    return;
  }
  ReceiveQueue& q = engine.receive_queues[queue_];
  further_.edit().receive = q.take();
  receiving_ = true;
  if (!q.reach_limit()) return;
  LOCO_PROBE(shared_queue_reaches_its_limit);
  touched(engine, q.node(), watch_key(WatchKind::srq, queue_));
}

/// Tells the observer that a message has taken a receive, or has found none.
void Responder::tell_of_message(const Engine& engine, QpId id, const fabric::Packet& packet, bool found) const {
  Observer* const observer = engine.observer();
  if (observer == nullptr) return;
  MessageArrival message{.found = found, .qp = id, .queue = queue_, .at = engine.now()};
  ThreadId thread = 0;
  name_origin(engine, packet, thread, message.op);
  if (found) message.receive = further_->receive;
  observer->on_message(message);
}

/// Success if the first `length` bytes of the receive that was taken may be written; otherwise the status of its CQE.
Status Responder::check_receive(const Engine& engine, const Connection& qp, std::uint64_t length) const {
  const RecvWqe& receive = further_->receive;
  if (length > receive.length) {
    LOCO_PROBE(receive_too_short);
    return Status::loc_len_err;
  }
  if (length == 0) return Status::success;
  // a shared queue has its own protection domain, which may differ from the queue pair's
  if (!engine.receive_queues[queue_].shared() && !in_domain(engine, qp, receive.lkey)) return Status::loc_prot_err;
  return may_access(engine, receive.lkey, qp.node(), receive.address, length, kLocalWrite) ? Status::success
                                                                                           : Status::loc_prot_err;
}

Address Responder::goes_to(const Engine& engine, QpId id, std::uint32_t bytes) const {
  if (!receiving_ || is_scattered(further_->receive.address)) return 0;
  return check_receive(engine, engine.connections[id], bytes) == Status::success ? further_->receive.address : 0;
}

/// Completes the receive that was taken. `like` has opcode, length, immediate data and source. `delay` is the time that
/// the last packet's data needs to reach PCIe.
void Responder::complete_receive(Engine& engine, QpId id, Cqe like, Status status, sim::Duration delay) {
  like.wr_id = further_->receive.wr_id;
  like.qp = id;
  like.status = status;
  receiving_ = false;
  post_cqe(engine, domain_, cq_, like, delay + engine.profile(engine.connections[id].node()).nic_cqe);
}

void Responder::flush_receives(Engine& engine, QpId id) {
  const Cqe flushed{.opcode = Opcode::recv};
  if (receiving_) complete_receive(engine, id, flushed, Status::wr_flush_err);
  for (; !disorder().messages.empty(); edit_disorder().messages.pop_back()) {
    further_.edit().receive = disorder().messages.back().receive;
    complete_receive(engine, id, flushed, Status::wr_flush_err);
  }
  if (queue_ == kNone || engine.receive_queues[queue_].owner() != id) return;
  while (engine.receive_queues[queue_].ready()) {
    LOCO_PROBE(receive_flushed);
    take_receive(engine);
    complete_receive(engine, id, flushed, Status::wr_flush_err);
  }
}

}  // namespace loco::nic
