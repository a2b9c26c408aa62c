// The state machine of a queue pair (IBTA volume 1, 10.3.1; verbs ibv_modify_qp).
//
// RESET -> INIT -> RTR -> RTS; RTS <-> SQD (started work requests finish, none starts); SQE -> RTS (a failed send of an
// unreliable queue pair: it still receives); to ERROR and to RESET from anywhere. Posting: sends from RTS on, receives
// from INIT on; in ERROR both are completed as flushed. Private to nic_model/.
#pragma once

#include "nic_model/engine/engine.hpp"

namespace loco::nic {

[[nodiscard]] ModifyResult modify(Engine& engine, QpId qp, QpState to, const QpAttributes& attributes);
/// Moves to the error state, in which the requests of both queues are flushed.
void to_error(Engine& engine, QpId qp);
/// A work request has failed: the queue pair goes to ERROR, or to SQE if its transport is unreliable.
void send_failed(Engine& engine, QpId qp);

[[nodiscard]] constexpr bool has_operation(const DeliveryOperations& has, Opcode op, bool with_imm) {
  if (op == Opcode::send) return has.sends;
  if (op == Opcode::rdma_write) return has.writes && (has.immediate || !with_imm);
  return op == Opcode::rdma_read ? has.reads : has.atomics;
}

}  // namespace loco::nic
