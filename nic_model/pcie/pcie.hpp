// PCIe between a root complex and its NIC: posted writes, reads, doorbells (PCIe base specification, 2.4; machine
// page, "PCIe").
//
// Order: posted writes of one ordering domain commit in the order in which they were posted, TLP by TLP. A read is
// sampled only after the posted writes that were in its domain when it was issued. With nic.device_own_path accesses to
// memory on the NIC are in a domain of their own. Reads are ordered with nothing
// else; what is read is sampled, and what is written is placed, in address order, or with nic.word_order: any in none
// within one message. Costs: each direction carries one TLP at a time; tags and credits
// bound what is under way; then the latencies of the profile, by kind of memory. All of these delay, none of them
// orders. Private to nic_model/.
#pragma once

#include <algorithm>

#include "nic_model/engine/engine.hpp"
#include "nic_model/host/scattered.hpp"
#include "nic_model/pcie/messages.hpp"

namespace loco::nic {

struct StoreEntry;
/// Sends a doorbell (or a work request in it) to the NIC.
void ring_doorbell(Engine& engine, NodeId node, const StoreEntry& doorbell);
struct Doorbell;
/// kEventDoorbell: the oldest doorbell has reached the NIC.
Doorbell take_doorbell(Engine& engine, NodeId node);

/// Whose subevents the words of a posted write are.
struct WriteOrigin {
  Stamp stamp = Stamp::aNRW;
  bool atomic = false;
  ThreadId thread = 0;
  OpId op = 0;
  NodeId peer = 0;
};
/// Posts a write of data; takes over one reference to its buffer. `delay`: what the NIC needs before it; its TLPs keep
/// their place on the link, and memory has them so much later. `key`: of the region, which decides on costs and relaxed
/// ordering.
void post_write(Engine& engine, std::uint32_t domain, const MemoryWrite& write, const WriteOrigin& origin,
                sim::Duration delay, std::uint32_t key);
/// Posts a CQE behind the domain's writes.
void post_cqe(Engine& engine, std::uint32_t domain, CqId cq, const Cqe& cqe, sim::Duration delay);
/// A queue pair's CQEs that are on their way in this domain are lost: it is RESET.
void forget_cqes(Engine& engine, std::uint32_t domain, QpId qp);
/// kEventCommit: the next TLP of a posted write reaches memory; with a part, that one, counted from 1 (parts.hpp).
void commit(Engine& engine, std::uint32_t domain, std::uint64_t number, std::uint32_t part);

/// What a read reads: the region decides on costs.
struct ReadTarget {
  std::uint32_t key = kNoKey;
  Address address = 0;
};
/// Issues a read of `bytes`, of which kind, where and number say whose it is. Once no posted write of the domain is in
/// front of it, ReadMayExecute is announced (or its event is scheduled), with the time at which memory may be read in
/// HeldRead::due. `delay`: as for a write. `stall`: what to ask for is known that much later (a context
/// is missing); the link has time for others until then.
void issue_read(Engine& engine, std::uint32_t domain, const HeldRead& read, std::uint32_t bytes, sim::Duration delay,
                const ReadTarget& target = {}, sim::Duration stall = {});
/// Bytes of the TLP of a write that starts at `address` with `left` bytes to go: TLPs end at multiples of the MPS, and
/// where an element of a list ends.
[[nodiscard]] inline std::uint32_t write_step(const Engine& engine, NodeId node, Address address, std::uint32_t left) {
  const std::uint64_t mps = engine.profile(node).pcie_mps.count;
  if (is_scattered(address)) [[unlikely]]
    return scattered_step(engine, address, left, mps);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(left, mps - address % mps));
}

/// A step of a read: what a completion TLP of the read of [address, address + length) carries when `done` bytes
/// of it have been sampled.
[[nodiscard]] inline std::uint32_t read_step(const Engine& engine, NodeId node, Address address, std::uint32_t length,
                                             std::uint32_t done) {
  const std::uint64_t step = engine.profile(node).pcie_read_completion.count;
  if (is_scattered(address)) [[unlikely]]
    return scattered_step(engine, address + done, length - done, step);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(length - done, step - (address + done) % step));
}
/// If an element of a list begins at `next`, it is read with a request of its own, which takes its place on the link.
void ask_for_element(Engine& engine, NodeId node, Address next);
/// How far a read of `length` bytes is once a step has been sampled. Without a length its requests are seen to
/// elsewhere.
struct ReadProgress {
  std::uint32_t key = kNoKey;
  std::uint32_t done = 0;
  std::uint32_t length = 0;
};
/// Sends `bytes` that have been sampled to the NIC, as a completion; returns when they are there. `link_free` becomes
/// the instant at which the next step may begin: the link is free, and the request for its data has had a tag and
/// credits.
sim::SimTime return_data(Engine& engine, NodeId node, std::uint32_t bytes, sim::SimTime& link_free,
                         const ReadProgress& read = {});
/// How long a read of `bytes` of a node's memory would take if it was asked for now: behind the TLPs that wait for the
/// link, until its data is in the NIC.
[[nodiscard]] sim::Duration read_time_now(Engine& engine, NodeId node, std::uint32_t key, std::uint32_t bytes);

/// A read of memory at `address` has brought `done` bytes, the last of which are in the NIC at `newest`. When were the
/// first `part` of them there, so that a packet of these may leave? No later than this: completions follow each other
/// on the link, so those behind them took at least their time on it.
[[nodiscard]] sim::SimTime there_before(const Engine& engine, NodeId node, sim::SimTime newest, Address address,
                                        std::uint32_t part, std::uint32_t done);
/// What one more access to memory of a region takes at the root complex, which has the request already.
[[nodiscard]] sim::Duration access_time(Engine& engine, NodeId node, std::uint32_t key);
/// Reads a context that the NIC does not hold, from `at` on, now or later; returns when it is there. What a context
/// holds is no memory of a program, so nothing is sampled and it needs no event.
sim::SimTime context_read(Engine& engine, NodeId node, sim::SimTime at);
/// A bare DMA read, in the NIC's ordering domain. Precondition: pcie.ordering_domain: nic.
void start_probe(Engine& engine, NodeId node, const MemoryRegion& region, Address address, std::uint32_t bytes);
/// kEventProbe: next step of a bare DMA read.
void probe_step(Engine& engine, NodeId node, std::uint32_t probe);

/// Where in a buffer of payload.
struct BufferPart {
  std::uint32_t buffer = 0;
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
};
/// Samples memory into a buffer and records one instant a word.
void sample(Engine& engine, NodeId node, Address address, const BufferPart& into, Subevent like);
void sample(Engine& engine, NodeId node, Address address, std::span<std::byte> out, Subevent like);

}  // namespace loco::nic
