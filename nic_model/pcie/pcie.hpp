// PCIe between a root complex and its NIC: posted writes, reads, doorbells (PCIe base specification, 2.4;
// docs/machine.md, "PCIe").
//
// Order: posted writes of one ordering domain commit in the order of posting, TLP by TLP. A read is sampled only after
// the posted writes that were in its domain when it was issued; reads are not ordered with anything else. With
// nic.device_own_path accesses to memory on the NIC have a domain of their own. Within an access, words are read and
// placed in address order, or in any order within a message with nic.word_order: any. Costs: each direction carries one
// TLP at a time, tags and credits bound what is in flight, and the profile's latencies follow, by kind of memory. All
// of these delay and order nothing. Private to nic_model/.
#pragma once

#include <algorithm>

#include "nic_model/engine/engine.hpp"
#include "nic_model/host/scattered.hpp"
#include "nic_model/pcie/messages.hpp"

namespace loco::nic {

struct StoreEntry;
/// Sends a doorbell, or a work request with it, to the NIC.
void ring_doorbell(Engine& engine, NicId node, const StoreEntry& doorbell);
struct Doorbell;
/// kEventDoorbell: the oldest doorbell has reached the NIC.
Doorbell take_doorbell(Engine& engine, NicId node);

/// The operation that the words of a posted write belong to, for their subevents.
struct WriteOrigin {
  Stamp stamp = Stamp::aNRW;
  bool atomic = false;
  ThreadId thread = 0;
  OpId op = 0;
  NicId peer{};
};
/// Posts a data write and takes over one reference to its buffer. `delay` is the NIC's time before it: its TLPs keep
/// their place on the link, but reach memory that much later. `key` names the region, which decides costs and relaxed
/// ordering.
void post_write(Engine& engine, std::uint32_t domain, const MemoryWrite& write, const WriteOrigin& origin,
                sim::Duration delay, std::uint32_t key);
/// Posts a CQE after the domain's writes.
void post_cqe(Engine& engine, std::uint32_t domain, CqId cq, const Cqe& cqe, sim::Duration delay);
/// Drops a queue pair's CQEs that are in flight in this domain, because it is RESET.
void forget_cqes(Engine& engine, std::uint32_t domain, QpId qp);
/// kEventCommit: the next TLP of a posted write reaches memory, or, if `part` is not 0, that part, counted from 1
/// (parts.hpp).
void commit(Engine& engine, std::uint32_t domain, std::uint64_t number, std::uint32_t part);

/// The target of a read; the region decides costs.
struct ReadTarget {
  std::uint32_t key = kNoKey;
  Address address = 0;
};
/// Issues a read of `bytes`; `read` says by kind, where and number who issues it. Once no posted write of the domain is
/// ahead of it, ReadMayExecute is announced (or its event scheduled), with the time of the memory access in
/// HeldRead::due. `delay`: as for a write. `stall`: the target is known only that much later, because a context is
/// missing; until then others may use the link.
void issue_read(Engine& engine, std::uint32_t domain, const HeldRead& read, std::uint32_t bytes, sim::Duration delay,
                const ReadTarget& target = {}, sim::Duration stall = {});
/// Bytes from `address` to the next multiple of `size`, a power of two.
[[nodiscard]] constexpr std::uint64_t to_boundary(Address address, std::uint64_t size) {
  return size - (address & (size - 1));
}
/// Bytes of a write's TLP that starts at `address` with `left` bytes to go. TLPs end at multiples of the MPS and at the
/// end of a list's element.
[[nodiscard]] inline std::uint32_t write_step(const Engine& engine, NicId node, Address address, std::uint32_t left) {
  const std::uint64_t mps = engine.profile(node).pcie_mps.count;
  if (is_scattered(address)) [[unlikely]]
    return scattered_step(engine, address, left, mps);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(left, to_boundary(address, mps)));
}

/// Bytes of one step of a read: what a completion of the read of [address, address + length) carries after `done`
/// bytes.
[[nodiscard]] inline std::uint32_t read_step(const Engine& engine, NicId node, Address address, std::uint32_t length,
                                             std::uint32_t done) {
  const std::uint64_t step = engine.profile(node).pcie_read_completion.count;
  if (is_scattered(address)) [[unlikely]]
    return scattered_step(engine, address + done, length - done, step);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(length - done, to_boundary(address + done, step)));
}
/// If an element of a list begins at `next`, occupies the link with the read request that it needs.
void ask_for_element(Engine& engine, NicId node, Address next);
/// Progress of a read of `length` bytes after a step. With length 0 its requests are handled elsewhere.
struct ReadProgress {
  std::uint32_t key = kNoKey;
  std::uint32_t done = 0;
  std::uint32_t length = 0;
};
/// Sends `bytes` sampled bytes to the NIC as a completion. Returns when they are there. Sets `link_free` to when the
/// next step may begin: the link is free, and the request for its data has tag and credits.
sim::SimTime return_data(Engine& engine, NicId node, std::uint32_t bytes, sim::SimTime& link_free,
                         const ReadProgress& read = {});
/// How long a read of `bytes` would take if requested now: behind the TLPs waiting for the link, until its data is in
/// the NIC.
[[nodiscard]] sim::Duration read_time_now(Engine& engine, NicId node, std::uint32_t key, std::uint32_t bytes);

/// What it adds to the counters when bytes `from` to `to` of a read of `length` bytes at `address` are returned; each
/// is its begin or the end of a step. Its first request was counted when it was issued.
[[nodiscard]] Counters counted_by_read(const HardwareProfile& profile, Address address, std::uint32_t length,
                                       std::uint32_t from, std::uint32_t to);

/// A read at `address` has brought `done` bytes, the last of which are in the NIC at `newest`. Returns a time by which
/// the first `part` bytes were there, so that a packet of them may leave: later completions took at least their time on
/// the link.
[[nodiscard]] sim::SimTime there_before(const Engine& engine, NicId node, sim::SimTime newest, Address address,
                                        std::uint32_t part, std::uint32_t done);
/// Time of one more access to a region's memory, for a request that is at the root complex already.
[[nodiscard]] sim::Duration access_time(Engine& engine, NicId node, std::uint32_t key);
/// Fetches a context that the NIC lacks, from `at` on, which is now or later. Returns when it is there. A context is no
/// memory of a program, so nothing is sampled and no event is needed.
sim::SimTime context_read(Engine& engine, NicId node, sim::SimTime at);
/// A bare DMA read in the NIC's ordering domain. Precondition: pcie.ordering_domain: nic.
void start_probe(Engine& engine, NicId node, const MemoryRegion& region, Address address, std::uint32_t bytes);
/// kEventProbe: the next step of a bare DMA read.
void probe_step(Engine& engine, NicId node, std::uint32_t probe);

/// A range of a payload buffer.
struct BufferPart {
  std::uint32_t buffer = 0;
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
};
/// Samples memory into a buffer and records one instant per word.
void sample(Engine& engine, NicId node, Address address, const BufferPart& into, Subevent like);
void sample(Engine& engine, NicId node, Address address, std::span<std::byte> out, Subevent like);

}  // namespace loco::nic
