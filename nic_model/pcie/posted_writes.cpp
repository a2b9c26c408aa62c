// PCIe: posted writes, from the NIC until memory has them. Interface and order: pcie.hpp.
//
// A domain's writes form a ring, of which only the head has a pending event: the commit of its next TLP. A write that
// is relaxed, or that a fault lets pass, has its event as soon as it is posted. With nic.word_order: any the head has
// an event for each of its parts, and so do the writes after it that are packets of the same message.
#include <algorithm>
#include <bit>

#include "nic_model/host/memory.hpp"
#include "nic_model/host/process.hpp"
#include "nic_model/pcie/flow_control.hpp"
#include "nic_model/pcie/link.hpp"
#include "nic_model/pcie/over_links.hpp"
#include "nic_model/pcie/parts.hpp"
#include "nic_model/pcie/paths.hpp"
#include "nic_model/pcie/posted_domain.hpp"
#include "nic_model/pcie/tlps.hpp"
#include "probe/probe.hpp"

namespace loco::nic {

namespace {
/// True if the TLP after the first `done` bytes crossed while the rest of its message was in flight. See
/// PostedWrite::ahead.
bool crossed(const PostedWrite& write, std::uint32_t done, std::uint32_t bytes) {
  return done != 0 && done + bytes <= write.ahead;
}

/// The first byte to be written.
const std::byte* payload_of(const Engine& engine, const PostedWrite& write) {
  if (write.buffer != fabric::kNoBuffer) return engine.payloads.data_at(write.buffer, write.offset);
  return std::as_bytes(std::span(&write.value, 1)).data() + write.offset;
}

std::uint64_t unit_of(const Engine& engine, NicId node) { return engine.profile(node).nic_word_unit.count; }

/// True if a write is made in parts.
bool in_parts(const Engine& engine, NicId node, const PostedWrite& write) {
  return engine.kernel.any_word_order() && !write.is_cqe && write.length > 0 &&
         Parts(unit_of(engine, node), write.address, 0, write.length).count() > 1;
}

/// When memory has the TLP after the first `done` bytes of a write that needs credits.
[[gnu::noinline]] sim::SimTime with_credits(Engine& engine, NicId node, const PostedWrite& write, std::uint32_t done) {
  const std::uint32_t bytes = tlp_behind(engine, node, write, done);
  if (write.device || crossed(write, done, bytes)) return write.ready;
  return take_posted(engine, node, bytes, write.ready, write.way);
}

/// Sets `write.ready` to when memory may have the TLP after the first `done` bytes.
void wait_for_tlp(Engine& engine, NicId node, PostedWrite& write, std::uint32_t done) {
  if (engine.profile(node).pcie_posted_credits.count != 0) write.ready = with_credits(engine, node, write, done);
  const sim::Duration interval = engine.profile(node).pcie_write_interval;
  if (write.over_links != 0) wait_for_links(engine, node, write, done, in_parts(engine, node, write));
  if (interval.ps != 0 && !write.relaxed && !write.device && !write.peer) {
    write.ready = engine.links[node].keep_distance(interval, std::max(write.ready, engine.now()));
  }
}

/// Schedules all parts of a write with no other ahead of it, in any order. A long write, a message of the flow model,
/// goes in stretches that keep their order.
void schedule_parts(Engine& engine, std::uint32_t domain, std::uint64_t number, PostedWrite& write) {
  const NicId node = engine.domains[domain].node();
  const std::uint32_t begin = write.committed;
  const auto stop = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(write.length, begin + kPartsBytesMax - (write.address + begin) % kPartsBytesMax));
  const Parts parts(unit_of(engine, node), write.address, begin, stop);
  const DrawnOrder order(engine, domain, number + begin, parts.count());
  std::uint32_t tlp_end = begin;
  for (std::uint32_t i = 0; i < parts.count(); ++i) {
    if (parts.at(i).offset >= tlp_end) {  // the time of the next TLP
      const std::uint32_t bytes = write_step(engine, node, write.address + tlp_end, write.length - tlp_end);
      if (tlp_end != 0 && !write.device && !crossed(write, tlp_end, bytes)) {
        write.ready = std::max(write.ready, engine.now()) +
                      on_link(engine, node, bytes + engine.profile(node).pcie_write_header.count);
      }
      wait_for_tlp(engine, node, write, tlp_end);
      tlp_end += bytes;
    }
    const std::uint32_t index =
        (begin == 0 ? 0 : Parts(unit_of(engine, node), write.address, 0, begin).count()) + order[i];
    // The TLP's bytes cross the link in order, so an observer may see only some of its parts.
    const std::uint32_t behind = tlp_end - std::min(tlp_end, parts.at(i).offset + parts.at(i).bytes);
    const sim::SimTime at = write.device ? write.ready : write.ready - on_link(engine, node, behind);
    engine.kernel.schedule_part(kEventCommit, domain, number, index + 1, at);
  }
}

/// True if data before a CQE is still in flight on the device's path. A completion covers earlier data in either memory
/// (rdma-core, ibv_reg_mr(3)).
bool covers_more(const Engine& engine, std::uint32_t domain, const PostedWrite& write) {
  if (write.behind == 0 || engine.fault(Fault::completion_before_data)) return false;
  return engine.domains[engine.domains[domain].device_path()].committed() < write.behind;
}

/// Schedules the next TLP of a write that has no other ahead of it.
void schedule_commit(Engine& engine, std::uint32_t domain, std::uint64_t number, PostedWrite& write) {
  if (covers_more(engine, domain, write)) {
    LOCO_PROBE(completion_waits_for_device_memory);
    return;
  }
  const NicId node = engine.domains[domain].node();
  write.has_event = true;
  if (in_parts(engine, node, write)) return schedule_parts(engine, domain, number, write);
  const bool several = !write.is_cqe && write.length - write.committed > 2 * engine.profile(node).pcie_mps.count;
  if (several && engine.kernel.bursts() && begin_burst(engine, domain, number, write)) return;
  if (!write.is_cqe) {
    prefetch_copy(engine, engine.host_of(node), write.address + write.committed, write.buffer,
                  write.offset + write.committed, next_tlp(engine, node, write));
  }
  wait_for_tlp(engine, node, write, write.committed);
  engine.schedule(kEventCommit, domain, number, write.ready);
}

/// Puts a write's TLPs on the link, one after the other and before the next posted write. Returns when the first has
/// been sent.
sim::SimTime send_tlps(Engine& engine, NicId node, const PostedWrite& write) {
  const std::uint64_t header = engine.profile(node).pcie_write_header.count;
  const std::uint32_t first_bytes = write_step(engine, node, write.address, write.length);
  const sim::SimTime first = upstream(engine, node, first_bytes + header, 1);
  const Observer* const observer = engine.observer();
  const bool told = observer != nullptr && observer->follows_accesses();
  if (told) announce_tlp(engine, TlpKind::memory_write, node, 0, write.address, first_bytes);
  PcieLink& link = engine.links[node];
  std::uint64_t tlps = 0;
  std::uint32_t done = first_bytes;
  if (!told && write.ahead == 0 && !is_scattered(write.address)) {  // the full ones at once
    const auto mps = static_cast<std::uint32_t>(engine.profile(node).pcie_mps.count);
    tlps = (write.length - done) >> std::countr_zero(mps);
    done += static_cast<std::uint32_t>(tlps) * mps;
    if (tlps != 0) link.send_up(engine.now(), link.times().write * static_cast<std::int64_t>(tlps));
  }
  while (done < write.length) {
    const std::uint32_t bytes = write_step(engine, node, write.address + done, write.length - done);
    if (!crossed(write, done, bytes)) link.send_up(engine.now(), on_link(engine, node, bytes + header));
    if (told) announce_tlp(engine, TlpKind::memory_write, node, 0, write.address + done, bytes);
    done += bytes;
    ++tlps;
  }
  engine.count(&Counters::tlps_up, tlps);
  engine.count(&Counters::pcie_bytes_up, write.length - first_bytes + tlps * header);
  return first;
}

void enqueue(Engine& engine, std::uint32_t domain, const PostedWrite& write) {
  PostedDomain& d = engine.domains[domain];
  const bool first = d.empty() || (write.message != 0 && d.joins_newest(write.message));
  PostedWrite& queued = d.push(write);
  const bool loose = queued.relaxed || engine.fault(Fault::posted_passes_posted) ||
                     (queued.is_cqe && engine.fault(Fault::completion_before_data));
  if (loose || first) schedule_commit(engine, domain, d.issued() - 1, queued);
}

/// Relaxed ordering is an attribute of a TLP, and TLPs of one write may pass each other too, so each becomes a write of
/// its own. On a network that delivers whole messages, a write stays whole.
void enqueue_relaxed(Engine& engine, std::uint32_t domain, PostedWrite write) {
  if (engine.network.whole_messages()) return enqueue(engine, domain, write);
  const NicId node = engine.domains[domain].node();
  std::uint32_t left = write.length;
  const std::uint32_t besides = write.besides;
  do {
    write.length = write_step(engine, node, write.address, left);
    left -= write.length;
    if (left > 0) engine.hold(write.buffer);
    write.besides = left > 0 ? 0 : besides;
    enqueue(engine, domain, write);
    write.subevent += words_of(place_of(engine, write.address), write.length);
    write.address += write.length;
    write.offset += write.length;
    write.ready += on_link(
        engine, node, write_step(engine, node, write.address, left) + engine.profile(node).pcie_write_header.count);
  } while (left > 0);
}

/// Of the words that a write from `address` on touches, how many come before the one that holds its byte `done`. Each
/// element of a list begins with a word of its own.
SubeventId words_before(const Engine& engine, Address address, std::uint32_t done) {
  if (!is_scattered(address)) return static_cast<SubeventId>((word_of(address + done) - word_of(address)) / 8);
  SubeventId words = 0;
  for (std::uint64_t at = 0;;) {
    const Piece piece = piece_at(engine, address + at);
    if (piece.bytes == 0 || done < at + piece.bytes)
      return words + static_cast<SubeventId>((word_of(piece.address + (done - at)) - word_of(piece.address)) / 8);
    words += words_of(piece.address, piece.bytes);
    at += piece.bytes;
  }
}

void commit_data(Engine& engine, NicId node, const PostedWrite& write, std::uint32_t done, std::uint32_t bytes) {
  const Address address = place_of(engine, write.address + done);
  settle_memory(engine, node, address, bytes);
  write_payload(engine, node, write, done, bytes);
  if (engine.witness()) {
    SubeventId id = write.subevent + words_before(engine, write.address, done);
    for (Address word = word_of(address); word < address + bytes; word += 8)
      finish_write(engine, id++, engine.host_of(node), word);
  }
  touched_bytes(engine, engine.host_of(node), address, bytes);
}

/// A part of a write that lies in one piece.
struct Range {
  Address address = 0;
  std::uint64_t bytes = 0;
  const std::byte* payload = nullptr;
};

/// A word's value after the write: bytes outside of the write are kept.
std::uint64_t word_after(const HostMemory& memory, const Range& range, Address word) {
  std::uint64_t value = memory.word(word);
  const auto bytes = std::as_writable_bytes(std::span(&value, 1));
  const Address low = std::max(word, range.address);
  const Address high = std::min(word + 8, range.address + range.bytes);
  std::copy(range.payload + (low - range.address), range.payload + (high - range.address), bytes.data() + (low - word));
  return value;
}

/// Begins the subevents of a write, one per word with consecutive ids. Returns the first id.
SubeventId announce_words(Engine& engine, NicId node, const PostedWrite& write, const WriteOrigin& origin) {
  const HostMemory& memory = engine.memories[engine.host_of(node)];
  SubeventId first = 0;
  Range range{write.address, write.length, payload_of(engine, write)};
  for (std::uint64_t done = 0; done < write.length; done += range.bytes, range.payload += range.bytes) {
    if (is_scattered(write.address)) {
      const Piece piece = piece_at(engine, write.address + done);
      range.address = piece.address;
      range.bytes = piece.bytes == 0 ? write.length - done : std::min(piece.bytes, write.length - done);
    }
    for (Address word = word_of(range.address); word < range.address + range.bytes; word += 8) {
      const SubeventId id = engine.begin({.stamp = origin.stamp,
                                          .finished = false,
                                          .nic_atomic = origin.atomic,
                                          .thread = origin.thread,
                                          .op = origin.op,
                                          .peer = engine.node_of(origin.peer),
                                          .home = engine.node_of(node),
                                          .address = word,
                                          .value = word_after(memory, range, word)});
      if (first == 0) first = id;
    }
  }
  return first;
}

/// Commits the next TLP of a data write to memory. Returns true after the last one; otherwise it schedules the next.
bool commit_tlp(Engine& engine, std::uint32_t domain, std::uint64_t number, PostedWrite& write) {
  const NicId node = engine.domains[domain].node();
  const std::uint32_t bytes = next_tlp(engine, node, write);
  commit_data(engine, node, write, write.committed, bytes);
  write.committed += bytes;
  const bool last = write.committed == write.length;
  if (write.received_by != PortId::none())
    announce(engine, ReceivedLanded{write.received_by, bytes + (last ? write.besides : 0)});
  if (write.committed == write.length) return true;
  if (!write.device) {
    // It was sent directly after the previous TLP, so only its time on the link separates them.
    const std::uint32_t next = next_tlp(engine, node, write);
    write.ready = engine.now();
    if (!crossed(write, write.committed, next)) {
      write.ready += on_link(engine, node, next + engine.profile(node).pcie_write_header.count);
    }
  }
  schedule_commit(engine, domain, number, write);
  return false;
}

/// Does the same for a part, counted from 1.
bool commit_part(Engine& engine, std::uint32_t domain, std::uint64_t number, std::uint32_t index, PostedWrite& write) {
  const NicId node = engine.domains[domain].node();
  const Part part = Parts(unit_of(engine, node), write.address, 0, write.length).at(index - 1);
  commit_data(engine, node, write, part.offset, part.bytes);
  write.committed += part.bytes;
  const bool last = write.committed == write.length;
  if (write.received_by != PortId::none())
    announce(engine, ReceivedLanded{write.received_by, part.bytes + (last ? write.besides : 0)});
  if (last) return true;
  write.has_event = true;
  if ((write.address + write.committed) % kPartsBytesMax == 0) schedule_parts(engine, domain, number, write);
  return false;
}

/// Schedules the writes that no other is ahead of any more.
void schedule_next(Engine& engine, std::uint32_t domain) {
  PostedDomain& d = engine.domains[domain];
  PostedWrite* next = d.forget_done();
  if (next == nullptr) return;
  std::uint64_t number = d.committed();
  schedule_commit(engine, domain, number, *next);
  const std::uint64_t message = next->message;
  while (message != 0 && d.holds(++number) && d.write(number).message == message) {
    if (!d.write(number).has_event && !d.write(number).done) schedule_commit(engine, domain, number, d.edit(number));
  }
}
}  // namespace

void write_payload(Engine& engine, NicId node, const PostedWrite& write, std::uint32_t done, std::uint32_t bytes) {
  // Copies of at most this size are made without a check for zeros. It is below 64 bytes because the last cache line of
  // a packet often comes alone: copying its zeros would make the simulating machine map a page per packet.
  constexpr std::uint32_t kFew = 32;
  HostMemory& memory = engine.memories[engine.host_of(node)];
  const Address address = write.address + done;
  const bool zero = bytes > kFew && engine.payloads.blank(write.buffer, write.offset + done, bytes) &&
                    memory.written({address, address + bytes}).empty();
  if (!zero) memory.write(address, {payload_of(engine, write) + done, bytes});
}

void post_write(Engine& engine, std::uint32_t domain, const MemoryWrite& data, const WriteOrigin& origin,
                sim::Duration delay, std::uint32_t key) {
  const NicId node = engine.domains[domain].node();
  const HardwareProfile& p = engine.profile(node);
  const MemoryRegion* region = engine.region(key);
  PostedWrite write{data};
  const RegionKind kind = region == nullptr ? RegionKind{} : region->kind;
  write.device = engine.on_device(node, key);
  const std::uint32_t path = engine.domains[domain].path(domain, kind);
  // Regions say nothing about atomics (rdma-core, ibv_reg_mr(3)): an atomic's write neither passes others nor is
  // passed.
  write.relaxed = kind.relaxed_ordering && !write.probe && !write.ends_atomic && !engine.domains[path].holds_atomic();
  if (write.device) {
    write.ready = engine.now() + delay + p.nic_device_access;
  } else {
    const sim::SimTime sent = send_tlps(engine, node, write);
    write.way = p.pcie_upstream + p.pcie_write_commit +
                memory_penalty(engine, node, key, Accesses::write, write.address, write.length);
    write.ready = sent + delay + write.way;
    const sim::Duration walk =
        write.way - (p.pcie_upstream + p.pcie_write_commit) - place_penalty(engine, node, key, Accesses::write);
    if (bounds_walks(p) && walk.ps != 0) {
      write.ready = engine.links[node].begin_walk(p, engine.now(), write.ready - walk, walk) + walk;
    }
    if (!engine.paths.empty()) take_path(engine, node, key, write);
  }
  if (write.received_by != PortId::none()) {
    write.besides = p.received_besides(write.length);
    announce(engine, ReceivedWaits{write.received_by, write.length + write.besides});
  }
  write.stamp = origin.stamp;
  if (engine.witness()) write.subevent = announce_words(engine, node, write, origin);
  return write.relaxed ? enqueue_relaxed(engine, path, write) : enqueue(engine, path, write);
}

void post_cqe(Engine& engine, std::uint32_t domain, CqId cq, const Cqe& cqe, sim::Duration delay) {
  const NicId node = engine.domains[domain].node();
  const HardwareProfile& p = engine.profile(node);
  const sim::SimTime sent = upstream(engine, node, p.nic_cqe_bytes.count + p.pcie_write_header.count, 1);
  announce_tlp(engine, TlpKind::memory_write, node, cqe.qp, 0, static_cast<std::uint32_t>(p.nic_cqe_bytes.count));
  const sim::Duration way =
      p.pcie_upstream + p.pcie_write_commit + memory_penalty(engine, node, kNoKey, Accesses::write, 0, 0);
  PostedWrite write{};
  write.is_cqe = true;
  write.cq = cq;
  write.ready = sent + delay + way;
  write.way = way;
  write.cqe = cqe;
  if (!engine.paths.empty()) take_path(engine, node, kNoKey, write);
  if (const std::uint32_t device = engine.domains[domain].device_path(); device != kNone)
    write.behind = engine.domains[device].issued();
  enqueue(engine, domain, write);
}

void forget_cqes(Engine& engine, std::uint32_t domain, QpId qp) { engine.domains[domain].drop_cqes(qp); }

void commit(Engine& engine, std::uint32_t domain, std::uint64_t number, std::uint32_t part) {
  PostedDomain& d = engine.domains[domain];
  PostedWrite& write = d.edit(number);
  write.has_event = false;
  if (write.passes && waits_for_links(engine, d.node(), write)) {
    write.has_event = true;
    engine.schedule(kEventCommit, domain, number, write.ready);
    return;
  }
  if (write.is_cqe) {
    write.done = true;
    if (write.cq != kNone) announce(engine, CqeLanded{d.node(), write.cq, write.cqe});
  } else {
    if (write.burst) end_burst(engine, domain, number, write);
    if (part != 0 ? !commit_part(engine, domain, number, part, write) : !commit_tlp(engine, domain, number, write))
      return;
    write.done = true;
    engine.release(write.buffer);
    if (MessageObserver* m = engine.messages(); m != nullptr && write.call != 0)
      m->on_placed(write.call, write.length, engine.now());
    if (write.probe) engine.links[d.node()].probe_done();
    if (write.ends_atomic) announce(engine, AtomicLanded{d.node(), write.address});
  }
  schedule_next(engine, domain);
  if (const std::uint32_t host = d.host_path(); host != kNone)
    if (PostedWrite* const cqe = engine.domains[host].waiting_head(); cqe != nullptr)
      schedule_commit(engine, host, engine.domains[host].committed(), *cqe);
  for (HeldRead read; d.pop_free(read);) read_may_execute(engine, d.node(), read);
}

}  // namespace loco::nic
