// Properties of a work request: what the NIC reads from memory for it, and how large it is itself. Private to
// nic_model/.
#pragma once

#include "nic_model/pcie/pcie.hpp"
#include "nic_model/verbs.hpp"

namespace loco::nic {

[[nodiscard]] constexpr bool sends_payload(Opcode op) { return op == Opcode::rdma_write || op == Opcode::send; }

/// True for an atomic whose operands are read from memory.
[[nodiscard]] inline bool gathers(const Wqe& wqe) { return wqe.gather && is_atomic(wqe.opcode); }

/// Bytes of a work request with inline payload: 16-byte control segment, a WRITE's 16-byte address segment, 4-byte
/// count, payload (rdma-core, providers/mlx5).
[[nodiscard]] inline std::uint64_t inline_wqe_bytes(const Wqe& wqe) {
  constexpr std::uint64_t kControlAndCount = 20;
  constexpr std::uint64_t kAddress = 16;
  return kControlAndCount + (wqe.opcode == Opcode::rdma_write ? kAddress : 0) + wqe.length;
}

/// Bytes of a work request with a scatter/gather list: the same segments, and 16 bytes per element.
[[nodiscard]] inline std::uint64_t list_wqe_bytes(const Wqe& wqe, std::uint32_t elements) {
  constexpr std::uint64_t kSegment = 16;
  return kSegment * (1 + (wqe.opcode == Opcode::send ? 0 : 1) + std::uint64_t{elements});
}

/// Bytes that the NIC reads from memory for a work request before it sends: a payload, or an atomic's operands.
[[nodiscard]] inline std::uint32_t bytes_to_read(const Wqe& wqe) {
  if (sends_payload(wqe.opcode)) return wqe.length;
  if (!gathers(wqe)) return 0;
  return wqe.opcode == Opcode::compare_swap ? 16 : 8;
}

/// The next step of that read after `done` bytes.
struct PayloadStep {
  Address address = 0;
  std::uint32_t bytes = 0;
};
[[nodiscard]] inline PayloadStep payload_step(const Engine& engine, NicId node, const Wqe& wqe, std::uint32_t done) {
  if (gathers(wqe)) return {done < 8 ? wqe.compare_add : wqe.swap, 8};
  return {wqe.local + done, read_step(engine, node, wqe.local, wqe.length, done)};
}

}  // namespace loco::nic
