// The state machine of a queue pair (IBTA volume 1, 10.3.1; verbs ibv_modify_qp).
//
// RESET -> INIT -> RTR -> RTS; RTS <-> SQD (started work requests finish, none starts); SQE -> RTS (a failed send of an
// unreliable queue pair: it still receives); to ERROR and to RESET from anywhere. Posting: sends from RTS on, receives
// from INIT on; in ERROR both are completed as flushed. Private to nic_model/.
#pragma once

#include "nic_model/engine/engine.hpp"

namespace loco::nic {

[[nodiscard]] ModifyResult modify(Engine& engine, QpId qp, QpState to, const QpAttributes& attributes);
/// Into the error state: both queues are flushed.
void to_error(Engine& engine, QpId qp);
/// A work request has failed: ERROR, or SQE if the transport is unreliable.
void send_failed(Engine& engine, QpId qp);

[[nodiscard]] constexpr bool has_operation(QpType type, Opcode op) {
  if (type == QpType::ud) return op == Opcode::send;
  return op == Opcode::send || op == Opcode::rdma_write || (type == QpType::rc && reads_or_atomic(op));
}

}  // namespace loco::nic
