#include "nic_model/responder/receives.hpp"

#include "nic_model/connection/connection.hpp"
#include "nic_model/connection/receive_queue.hpp"
#include "nic_model/host/process.hpp"
#include "nic_model/host/watch_set.hpp"
#include "nic_model/pcie/pcie.hpp"

namespace loco::nic {

void receives_posted(Engine& engine, std::uint32_t queue, std::uint32_t count) {
  ReceiveQueue& q = engine.receive_queues[queue];
  q.reveal(count);
  if (!q.shared() && engine.connections[q.owner()].state() == QpState::error) flush_receives(engine, q.owner());
}

bool can_receive(const Engine& engine, QpId id) {
  const Responder& rs = engine.responders[id];
  return rs.receiving || (rs.queue != kNone && engine.receive_queues[rs.queue].ready());
}

void take_receive(Engine& engine, QpId id) {
  Responder& rs = engine.responders[id];
  rs.received = 0;
  if (rs.receiving) return;  // left over from a message that was given up
  ReceiveQueue& q = engine.receive_queues[rs.queue];
  rs.receive.edit() = q.take();
  rs.receiving = true;
  if (q.reach_limit()) touched(engine, q.node(), watch_key(WatchKind::srq, rs.queue));
}

Status check_receive(const Engine& engine, QpId id, std::uint64_t length) {
  const Connection& qp = engine.connections[id];
  const RecvWqe& receive = *engine.responders[id].receive;
  if (length > receive.length) return Status::loc_len_err;
  if (length == 0) return Status::success;
  return engine.allowed(receive.lkey, qp.node(), receive.address, length, kLocalWrite) ? Status::success
                                                                                     : Status::loc_prot_err;
}

void complete_receive(Engine& engine, QpId id, Cqe like, Status status, sim::Duration delay) {
  Responder& rs = engine.responders[id];
  like.wr_id = rs.receive->wr_id;
  like.qp = id;
  like.status = status;
  rs.receiving = false;
  post_cqe(engine, rs.domain, rs.cq, like, delay + engine.profile().nic_cqe);
}

void flush_receives(Engine& engine, QpId id) {
  Responder& rs = engine.responders[id];
  const Cqe flushed{.opcode = Opcode::recv};
  if (rs.receiving) complete_receive(engine, id, flushed, Status::wr_flush_err);
  if (rs.queue == kNone || engine.receive_queues[rs.queue].owner() != id) return;
  while (engine.receive_queues[rs.queue].ready()) {
    take_receive(engine, id);
    complete_receive(engine, id, flushed, Status::wr_flush_err);
  }
}

}  // namespace loco::nic
