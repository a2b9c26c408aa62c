// The verbs vocabulary of the NIC model: work requests, completions, memory regions, their names and errors.
//
// Names follow the InfiniBand specification (volume 1, chapters 10 and 11) and libibverbs. All records are plain
// values. Node, queue pair, completion queue, memory region and thread are named by index.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "fabric/packet.hpp"
#include "sim/time.hpp"

namespace loco::nic {

using fabric::NodeId;
using fabric::QpId;
using CqId = std::uint32_t;
using ThreadId = std::uint32_t;    ///< unique in the whole system
using Address = std::uint64_t;     ///< byte address in a host's memory
using OpId = std::uint32_t;        ///< names a call in the trace; 0 is none
using SubeventId = std::uint32_t;  ///< names a subevent in the trace; 0 is the initial value of memory

enum class Opcode : std::uint8_t { rdma_write, rdma_read, compare_swap, fetch_add };

/// Completion status, named as ibv_wc_status.
enum class Status : std::uint8_t {
  success,
  loc_len_err,
  loc_prot_err,
  wr_flush_err,
  rem_inv_req_err,
  rem_access_err,
  rem_op_err,
  retry_exc_err,
  rnr_retry_exc_err,
};
inline constexpr std::array<std::string_view, 9> kStatusNames = {
    "success",        "loc_len_err", "loc_prot_err",  "wr_flush_err",     "rem_inv_req_err",
    "rem_access_err", "rem_op_err",  "retry_exc_err", "rnr_retry_exc_err"};
[[nodiscard]] constexpr std::string_view name(Status s) { return kStatusNames[static_cast<std::size_t>(s)]; }

/// Rights of a memory region; local read is always granted.
enum Access : std::uint8_t { kLocalWrite = 1, kRemoteWrite = 2, kRemoteRead = 4, kRemoteAtomic = 8, kAllAccess = 15 };

struct MemoryRegion {
  NodeId node = 0;
  Address base = 0;
  std::uint64_t size = 0;
  std::uint32_t lkey = 0;  ///< lkey and rkey are the same number, as on mlx5
  std::uint32_t rkey = 0;
  std::uint8_t access = kAllAccess;

  bool operator==(const MemoryRegion&) const = default;
};

/// A work request as posted, with one scatter/gather element.
struct Wqe {
  std::uint64_t wr_id = 0;
  Opcode opcode = Opcode::rdma_write;
  bool signaled = true;
  bool fence = false;        ///< wait for this queue pair's earlier reads and atomics
  bool inline_data = false;  ///< the CPU copies the payload when posting (writes only)
  std::uint32_t length = 8;  ///< bytes; 8 for atomics
  std::uint32_t lkey = 0;
  std::uint32_t rkey = 0;
  Address local = 0;
  Address remote = 0;
  std::uint64_t compare_add = 0;  ///< expected value, or the value to add
  std::uint64_t swap = 0;
  OpId op = 0;        ///< the call that its subevents belong to
  OpId fence_op = 0;  ///< with `fence`: the remote fence call that wants an aRF subevent; 0 for none

  bool operator==(const Wqe&) const = default;
};

struct Cqe {
  std::uint64_t wr_id = 0;
  QpId qp = 0;
  Opcode opcode = Opcode::rdma_write;
  Status status = Status::success;
  std::uint32_t length = 0;

  bool operator==(const Cqe&) const = default;
};

enum class QpState : std::uint8_t { reset, ready, error };

}  // namespace loco::nic
