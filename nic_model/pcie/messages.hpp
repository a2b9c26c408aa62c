// Messages of PCIe between a NIC and memory (PCIe base specification, 2.1.1: memory read request, completion with data,
// memory write). Requests are made with the functions of pcie.hpp; their results are announced with those below.
//
// PCIe does not know the units that it works for: each announce() is defined in announcements.cpp, which gives the
// message to the unit that it is for. Private to nic_model/.
#pragma once

#include <cstdint>

#include "fabric/packet.hpp"
#include "nic_model/engine/engine.hpp"
#include "nic_model/verbs.hpp"
#include "sim/time.hpp"

namespace loco::nic {

inline constexpr std::uint32_t kNoKey = 0xffffffffU;  ///< memory without a region: queues

enum class ReadKind : std::uint8_t { wqe_fetch, payload, remote_read, atomic, probe };

/// A read request, which must wait for posted writes in front of it ("reads push writes").
struct HeldRead {
  ReadKind kind = ReadKind::payload;
  std::uint32_t where = 0;
  std::uint64_t number = 0;
  std::uint64_t behind = 0;  // all posted writes with smaller numbers
  sim::SimTime due{};        // when memory may be read, if there are a tag and credits
  sim::Duration reach{};     // of its request, its time on the link included, until memory is read
  std::uint32_t bytes = 0;   // of the whole read
  std::uint32_t key = 0;     // of the region that is read; kNoKey: a queue

  bool operator==(const HeldRead&) const = default;
};

/// A write of data that is to be posted.
struct MemoryWrite {
  bool probe = false;                        // System::dma_write
  bool ends_atomic = false;                  // its commit frees the bank of an atomic
  std::uint32_t buffer = fabric::kNoBuffer;  // kNoBuffer: the bytes of `value`
  std::uint32_t offset = 0;
  std::uint32_t length = 0;
  std::uint32_t ahead = 0;  // flow model: bytes that crossed PCIe while the rest of the message was on its way
  OpId call = 0;            // whose payload it is, for MessageObserver; 0: nobody's
  Address address = 0;
  std::uint64_t value = 0;
  PortId received_by = kNone;  // whose receive buffer it takes until it is in memory; kNone: it has not been received
  std::uint64_t message = 0;   // with nic.word_order any: of several packets, whose words keep no order; 0: no other

  bool operator==(const MemoryWrite&) const = default;
};

/// No posted write holds a read back any more: memory may be read at `read.due`. The unit that issued it decides when
/// it is its turn.
struct ReadMayExecute {
  HeldRead read{};
};
/// Names the message of a queue pair with a work request's number, at its requester or its responder.
[[nodiscard]] constexpr std::uint64_t message_of(QpId qp, std::uint32_t wqe, bool responder) {
  return (std::uint64_t{qp} + 1) << 33U | std::uint64_t{wqe} << 1U | (responder ? 1U : 0U);
}
/// Memory has a completion queue entry.
struct CqeLanded {
  NodeId node = 0;
  CqId cq = 0;
  Cqe cqe{};
};
/// Bytes that a port has received wait for PCIe from now on.
struct ReceivedWaits {
  PortId port = 0;
  std::uint32_t bytes = 0;
};
/// Some of the received bytes are in memory, or room that they took besides is free.
struct ReceivedLanded {
  PortId port = 0;
  std::uint32_t bytes = 0;
};
/// Memory has the new value of an atomic that held its bank until now.
struct AtomicLanded {
  NodeId node = 0;
  Address address = 0;
};

// announcements.cpp
void announce(Engine& engine, const ReadMayExecute& message);
void announce(Engine& engine, const CqeLanded& message);
void announce(Engine& engine, const ReceivedWaits& message);
void announce(Engine& engine, const ReceivedLanded& message);
void announce(Engine& engine, const AtomicLanded& message);

}  // namespace loco::nic
