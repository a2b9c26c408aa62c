// Messages of PCIe between a NIC and memory (PCIe base specification, 2.1.1: memory read request, completion with data,
// memory write). The functions of pcie.hpp make requests; the messages below announce results.
//
// PCIe does not know the units that it works for: announcements.cpp defines each announce() and passes the message to
// the unit that it is for. Private to nic_model/.
#pragma once

#include <cstdint>

#include "fabric/packet.hpp"
#include "nic_model/engine/engine.hpp"
#include "nic_model/verbs.hpp"
#include "sim/time.hpp"

namespace loco::nic {

inline constexpr std::uint32_t kNoKey = 0xffffffffU;  ///< memory without a region: queues

enum class ReadKind : std::uint8_t { wqe_fetch, payload, remote_read, atomic, probe };

/// A read request that must wait for earlier posted writes ("reads push writes").
struct HeldRead {
  ReadKind kind = ReadKind::payload;
  std::uint32_t where = 0;
  std::uint64_t number = 0;
  std::uint64_t behind = 0;  // waits for all posted writes with smaller numbers
  sim::SimTime due{};        // when memory may be read if tag and credits are free
  sim::Duration reach{};     // from the request, its time on the link included, until memory is read
  std::uint32_t bytes = 0;   // length of the whole read
  std::uint32_t key = 0;     // key of the region; kNoKey: a queue

  bool operator==(const HeldRead&) const = default;
};

/// A data write to be posted.
struct MemoryWrite {
  bool probe = false;                        // System::dma_write
  bool ends_atomic = false;                  // its commit frees the bank of an atomic
  std::uint32_t buffer = fabric::kNoBuffer;  // kNoBuffer: the bytes of `value`
  std::uint32_t offset = 0;
  std::uint32_t length = 0;
  std::uint32_t ahead = 0;  // flow model: bytes that crossed PCIe while the rest of the message was in flight
  OpId call = 0;            // the call whose payload it is, for MessageObserver; 0: none
  Address address = 0;
  std::uint64_t value = 0;
  PortId received_by = PortId::none();  // whose receive buffer it takes until it is in memory; none: it has not come
  std::uint64_t message = 0;  // with nic.word_order any: of several packets, whose words keep no order; 0: no other

  bool operator==(const MemoryWrite&) const = default;
};

/// No posted write holds a read back any more, so memory may be read at `read.due`. The unit that issued the read
/// decides when it takes its turn.
struct ReadMayExecute {
  HeldRead read{};
};
/// Identifies the message of a work request, at its requester or its responder.
[[nodiscard]] constexpr std::uint64_t message_of(QpId qp, std::uint32_t wqe, bool responder) {
  return (std::uint64_t{qp} + 1) << 33U | std::uint64_t{wqe} << 1U | (responder ? 1U : 0U);
}
/// A completion queue entry is in memory.
struct CqeLanded {
  NicId node{};
  CqId cq = 0;
  Cqe cqe{};
};
/// Bytes that a port has received wait for PCIe from now on.
struct ReceivedWaits {
  PortId port{};
  std::uint32_t bytes = 0;
};
/// Received bytes are in memory, or the buffer space that they took besides is free.
struct ReceivedLanded {
  PortId port{};
  std::uint32_t bytes = 0;
};
/// The new value of an atomic that held its bank is in memory.
struct AtomicLanded {
  NicId node{};
  Address address = 0;
};

// Implemented in announcements.cpp.
void announce(Engine& engine, const ReadMayExecute& message);
void announce(Engine& engine, const CqeLanded& message);
void announce(Engine& engine, const ReceivedWaits& message);
void announce(Engine& engine, const ReceivedLanded& message);
void announce(Engine& engine, const AtomicLanded& message);

}  // namespace loco::nic
