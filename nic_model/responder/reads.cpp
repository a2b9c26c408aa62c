// Responder: READs and atomics as memory accesses (IBTA volume 1, 9.7.4; docs/machine.md, "NIC, responder side").
// read_order.cpp orders the PCIe reads of READs, atomics.cpp the turns of atomics.
#include "nic_model/host/memory.hpp"
#include "nic_model/host/process.hpp"
#include "nic_model/pcie/bursts.hpp"
#include "nic_model/pcie/link.hpp"
#include "nic_model/pcie/parts.hpp"
#include "nic_model/pcie/pcie.hpp"
#include "nic_model/responder/atomics.hpp"
#include "nic_model/responder/responder.hpp"
#include "probe/probe.hpp"
#include "sim/invariant.hpp"

namespace loco::nic {

namespace {
using Op = fabric::Opcode;

Response response_to(const Engine& engine, const fabric::Packet& packet) {
  Response r{.opcode = is_atomic(packet.opcode) ? Op::atomic_response : Op::read_response,
             .psn = packet.psn,
             .wqe = packet.wqe,
             .length = packet.total,
             .address = packet.address,
             .compare_add = packet.a,
             .swap = packet.b,
             .request = packet.opcode,
             .rkey = packet.rkey};
  name_origin(engine, packet, r.thread, r.op);
  return r;
}
}  // namespace

void name_origin(const Engine& engine, const fabric::Packet& packet, ThreadId& thread, OpId& op) {
  thread = op = 0;
  if (!engine.witness()) return;  // nobody will read it
  thread = packet.thread;
  op = packet.call;
}

/// Takes a READ: queues its answer now and reads its data later. `again`: the request was executed before.
void Responder::take_read(Engine& engine, QpId id, const fabric::Packet& packet, bool again) {
  Response r = response_to(engine, packet);
  r.again = again;
  if (r.length == 0) {
    r.ready = true;
    r.available = engine.now();
    push_response(engine, id, r);
    return;
  }
  if (policy_of(engine, id).order.one_at_a_time) blocked_ = true;
  r.buffer = engine.payloads.acquire(r.length);
  if (engine.kernel.any_word_order() && r.length > 8 && r.length <= kPartsBytesMax) {
    engine.payloads.fill_in_any_order(r.buffer);
  }
  if (tracks_reads(engine, id)) note_execution(packet, again);
  const std::uint64_t number = push_response(engine, id, r);
  issue_remote_read(engine, id, number);
}

/// True if a READ may be executed more than once, by executions that may overtake each other, and a trace has to show
/// which one counts.
bool Responder::tracks_reads(const Engine& engine, QpId id) {
  const DeliveryPolicy& policy = policy_of(engine, id);
  return engine.witness() && (policy.recovery.repeats_requests() || policy.order.answers_early);
}

/// A READ that nobody waits for any more leaves no trace, however often it is executed.
void Responder::note_execution(const fabric::Packet& request, bool again) {
  ReadLog& reads = edit_disorder().reads;
  reads.forget_before(request);
  if (!again) reads.begin(request);
}

/// Like sample(), if tracks_reads(). The first execution announces its words. Later ones attach them to the data until
/// it is known whose data counts.
void Responder::sample_tracked(Engine& engine, const Connection& qp, const Response& r, Address address,
                               std::span<std::byte> out) {
  const HostMemory& memory = engine.memories[engine.host_of(qp.node())];
  memory.read(address, out);
  if (engine.profile(qp.node()).nic_stale_operands != StaleOperands::none) {
    engine.links[qp.node()].remember_word(memory.word(word_of(address + out.size() - 1)));
  }
  if (!disorder().reads.knows(r.wqe)) return;
  ReadLog& reads = edit_disorder().reads;
  for (Address word = word_of(address); word < address + out.size(); word += 8) {
    const std::uint64_t value = memory.word(word);
    if (const SubeventId id = reads.sampled(r.wqe, word); id != 0) {
      engine.payloads.note_repeated(r.buffer,
                                    {id, word, value, memory.writer(word), engine.kernel.next_seq(), engine.now()});
      continue;
    }
    reads.name(r.wqe, word,
               engine.begin({.stamp = Stamp::aNRR,
                             .thread = r.thread,
                             .op = r.op,
                             .peer = engine.node_of(qp.node()),
                             .home = engine.node_of(qp.node()),
                             .address = word,
                             .value = value,
                             .source = memory.writer(word)}));
  }
}

/// Samples bytes of a READ as accesses of the memory model.
void Responder::sample_bytes(Engine& engine, QpId id, const Response& r, std::uint32_t from, std::uint32_t bytes) {
  const Connection& qp = engine.connections[id];
  if (tracks_reads(engine, id)) {
    sample_tracked(engine, qp, r, r.address + from, {engine.payloads.edit(r.buffer) + from, bytes});
  } else {
    sample(engine, qp.node(), r.address + from, BufferPart{r.buffer, from, bytes},
           {.stamp = Stamp::aNRR, .thread = r.thread, .op = r.op, .peer = engine.node_of(qp.node())});
  }
}

/// Makes the next step of a READ and returns its bytes.
std::uint32_t Responder::sample_next(Engine& engine, QpId id, std::uint64_t number) {
  Response& r = edit(number);
  const std::uint32_t bytes = read_step(engine, engine.connections[id].node(), r.address, r.length, r.read);
  sample_bytes(engine, id, r, r.read, bytes);
  r.read += bytes;
  return bytes;
}

/// The end of the range of a READ that is read in any order, as in the requester.
std::uint32_t Responder::parts_until(const Engine& engine, QpId id, const Response& r) const {
  if (travels_by_words(engine, QpType::rc, r.length)) return r.length;
  const std::uint64_t most = std::min<std::uint64_t>(mtu_of(engine, engine.connections[id]), kPartsBytesMax);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(r.length, (r.read / most + 1) * most));
}

namespace {
Parts parts_of(const Engine& engine, NicId node, const Response& r, std::uint32_t until) {
  if (travels_by_words(engine, QpType::rc, r.length)) return {8, 0, 0, until};
  return {engine.profile(node).nic_word_unit.count, r.address, r.read, until};
}
}  // namespace

Part Responder::read_part(const Engine& engine, QpId id, std::uint64_t number, std::uint32_t part) const {
  const Response& r = response(number);
  if (part == 0) return {r.read, read_step(engine, engine.connections[id].node(), r.address, r.length, r.read)};
  return parts_of(engine, engine.connections[id].node(), r, parts_until(engine, id, r)).at(part - 1);
}

/// The completion that the n-th part to be read goes into, whichever part that is.
PartCompletion Responder::completion_of_part(const Engine& engine, QpId id, std::uint64_t number,
                                             std::uint32_t n) const {
  const Response& r = response(number);
  const std::uint32_t until = parts_until(engine, id, r);
  const std::uint32_t from = travels_by_words(engine, QpType::rc, r.length) ? 0 : r.read;
  return completion_of(engine, engine.connections[id].node(), r.address, from, until,
                       parts_of(engine, engine.connections[id].node(), r, until).at(n));
}

/// With nic.word_order any: schedules the parts of a READ that may be read in any order now. Returns false if there is
/// only one part, which is then read as usual.
bool Responder::schedule_parts(Engine& engine, QpId id, std::uint64_t number, sim::SimTime at) {
  if (!engine.kernel.any_word_order()) return false;
  Response& r = edit(number);
  const Parts parts = parts_of(engine, engine.connections[id].node(), r, parts_until(engine, id, r));
  const std::uint32_t count = parts.count();
  if (count < 2) return false;
  const DrawnOrder order(engine, std::uint64_t{id} << 1U | 1U, number << 16U ^ r.read, count);
  at = std::max(at, engine.now());
  for (std::uint32_t i = 0; i < count; ++i) {
    engine.kernel.schedule_part(kEventReadRemote, id, number, order[i] + 1, at);
    if (engine.on_device(engine.connections[id].node(), r.rkey)) continue;
    at += completion_time(engine, engine.connections[id].node(), completion_of_part(engine, id, number, i));
  }
  r.parts_left = static_cast<std::uint16_t>(count);
  return true;
}

void Responder::sample_part(Engine& engine, QpId id, std::uint64_t number, std::uint32_t part) {
  Response& r = edit(number);
  const std::uint32_t until = parts_until(engine, id, r);
  const Part read = read_part(engine, id, number, part);
  sample_bytes(engine, id, r, read.offset, read.bytes);
  --r.parts_left;
  if (travels_by_words(engine, QpType::rc, r.length)) {
    engine.payloads.note_read(r.buffer, part - 1);
    r.read += read.bytes;
  } else if (r.parts_left == 0) {
    r.read = until;
  }
}

/// Schedules the next step of a READ's PCIe read. Steps up to the end of a packet may form a burst, because a packet
/// waits only for the last of them.
void Responder::schedule_step(Engine& engine, QpId id, std::uint64_t number, sim::SimTime at) {
  if (schedule_parts(engine, id, number, at)) return;
  const Response& r = response(number);
  if (engine.kernel.bursts() &&
      engine.profile(engine.connections[id].node()).pcie_read_ordering == ReadOrdering::unordered && !bursting_) {
    const Connection& qp = engine.connections[id];
    const std::uint64_t mtu = mtu_of(engine, qp);
    const auto stop = static_cast<std::uint32_t>(std::min<std::uint64_t>(r.length, (r.read / mtu + 1) * mtu));
    bursting_ = begin_burst(engine, qp.node(),
                            {.what = kEventReadRemote,
                             .qp = id,
                             .number = number,
                             .address = r.address,
                             .buffer = r.buffer,
                             .key = r.rkey,
                             .length = r.length,
                             .done = r.read,
                             .stop = stop,
                             .next = at});
    if (bursting_) return;
  }
  engine.schedule(kEventReadRemote, id, number, at);
}

/// Takes over the progress of a burst.
void Responder::take_over(const ReadBurst& burst) {
  Response& r = edit(burst.number);
  if (burst.done == r.read) return;
  r.read = burst.done;
  r.available = burst.there;
}

/// Call this before using how much has been read.
void Responder::settle_burst(Engine& engine, QpId id) {
  const NicId node = engine.connections[id].node();
  settle_read_burst(engine, node);
  take_over(bursts_of(engine, node).read());
}

/// Call this before dropping the READ that is being read.
void Responder::break_read(Engine& engine, QpId id) {
  if (!bursting_) return;
  bursting_ = false;
  ReadBurst burst;
  break_read_burst(engine, engine.connections[id].node(), burst);
  take_over(burst);
}

/// The event of a READ's next step is due. Returns false if it belonged to a burst and came too early.
bool Responder::finish_burst(Engine& engine, QpId id, std::uint64_t number) {
  const NicId node = engine.connections[id].node();
  if (bursts_of(engine, node).read().number != number) return true;
  ReadBurst burst;
  if (!end_burst(engine, node, burst)) return false;
  bursting_ = false;
  take_over(burst);
  return true;
}

void Responder::read_remote(Engine& engine, QpId id, std::uint64_t number, std::uint32_t part) {
  LOCO_INVARIANT(engine.now() != kNoTimeYet, engine.now(), "responder", "a READ in its turn was given no time");
  if (!holds(number)) return;  // dropped by a RESET
  if (bursting_ && !finish_burst(engine, id, number)) return;
  if (!takes_effect(engine, id, number)) return;
  if (part == 0 && schedule_parts(engine, id, number, engine.now())) return;  // its turn on the link has come
  const Connection& qp = engine.connections[id];
  Response& r = edit(number);
  PartCompletion sent;
  if (part != 0) {
    const std::uint32_t count = parts_of(engine, engine.connections[id].node(), r, parts_until(engine, id, r)).count();
    sent = completion_of_part(engine, id, number, count - r.parts_left);
    sample_part(engine, id, number, part);
  } else {
    sent.bytes = sample_next(engine, id, number);
    sent.done = r.read;
  }
  r.ready = true;
  sim::SimTime link_free = engine.now();
  if (sent.bytes != 0) {
    r.available = return_data(engine, qp.node(), sent.bytes, link_free, {r.rkey, sent.done, r.length});
  }
  if (r.parts_left != 0) return schedule_respond(engine, id);
  if (r.read < r.length) {
    schedule_step(engine, id, number, link_free);
  } else {
    remote_read_done(engine, id, number, link_free);
    if (policy_of(engine, qp).order.one_at_a_time) {
      blocked_ = false;  // one request at a time: later requests have waited for its data
      execute_waiting(engine, id);
    }
  }
  schedule_respond(engine, id);
}

namespace {
/// True if an atomic holds its bank until its write is committed. Not needed if the next atomic's read is in the same
/// ordering domain and pushes that write.
bool held_until_committed(const HardwareProfile& p) { return p.nic_atomic_cap == AtomicCap::hca && p.splits_writes(); }

/// Writes the new value: at once if atomics are atomic with CPUs, otherwise as a write that is posted after the time
/// `modify`.
void write_atomic(Engine& engine, NicId node, std::uint32_t domain, const Response& r, sim::Duration modify) {
  const HardwareProfile& p = engine.profile(node);
  const std::uint64_t value = r.request == Op::fetch_add ? r.value + r.compare_add : r.swap;
  if (p.nic_atomic_cap != AtomicCap::global) {
    const WriteOrigin origin{.stamp = Stamp::aNRW, .atomic = true, .thread = r.thread, .op = r.op, .peer = node};
    return post_write(engine, domain,
                      {.ends_atomic = held_until_committed(p), .length = 8, .address = r.address, .value = value},
                      origin, modify, r.rkey);
  }
  settle_memory(engine, node, r.address, sizeof(value));
  engine.memories[engine.host_of(node)].set_word(r.address, value);
  instant_write(engine, {.stamp = Stamp::aNRW,
                         .nic_atomic = true,
                         .thread = r.thread,
                         .op = r.op,
                         .peer = engine.node_of(node),
                         .home = engine.node_of(node),
                         .address = r.address,
                         .value = value});
  touched_bytes(engine, engine.host_of(node), r.address, 8);
}
}  // namespace

/// Takes an atomic: queues its answer and its turn in its bank, and holds back later requests of the queue pair.
void Responder::take_atomic(Engine& engine, QpId id, const fabric::Packet& packet) {
  const Connection& qp = engine.connections[id];
  blocked_ = true;
  const std::uint64_t number = push_response(engine, id, response_to(engine, packet));
  queue_atomic(engine, qp.node(), id, number, packet.address);
}

void Responder::read_for_atomic(Engine& engine, NicId node, std::uint64_t number, std::uint32_t bank) const {
  const Response& r = response(number);
  issue_read(engine, domain_, {.kind = ReadKind::atomic, .where = node.index(), .number = bank}, 8, {},
             {r.rkey, r.address});
}

/// Keeps the result of an atomic whose answer may be lost, for a repeated request.
void Responder::keep_result(const Engine& engine, const Connection& qp, const Response& r) {
  if (!policy_of(engine, qp).recovery.repeats_requests()) return;
  sim::Ring<Replay>& replays = edit_disorder().replays;
  if (replays.size() == qp_settings(engine, qp).max_dest_rd_atomic) {
    LOCO_PROBE(oldest_atomic_result_forgotten);
    replays.pop_front();
  }
  replays.push_back({r.psn, r.value});
}

void Responder::execute_atomic(Engine& engine, QpId id, std::uint64_t number, std::uint32_t bank) {
  const Connection& qp = engine.connections[id];
  const NicId node = qp.node();
  Response& r = edit(number);
  constexpr unsigned kNicBits = 52;  // each NIC has its own banks
  const std::uint64_t nic = std::uint64_t{engine.kernel.index_of(node)} << kNicBits;
  const std::uint64_t place = engine.witness() ? engine.atomics[node].next_place(bank) | nic : 0;
  sample(engine, node, r.address, std::as_writable_bytes(std::span(&r.value, 1)),
         {.stamp = Stamp::aNAR,
          .nic_atomic = true,
          .thread = r.thread,
          .op = r.op,
          .peer = engine.node_of(node),
          .value_read = place});
  keep_result(engine, qp, r);
  sim::SimTime link_free;
  r.ready = true;
  r.available = return_data(engine, node, 8, link_free, {r.rkey}) + engine.profile(node).nic_atomic_modify;
  const sim::Duration modify = r.available - engine.now();
  const bool writes = r.request == Op::fetch_add || r.value == r.compare_add;
  if (writes) write_atomic(engine, node, domain_, r, modify);
  if (!writes || !held_until_committed(engine.profile(node))) {
    engine.schedule(kEventAtomicDone, node.index(), bank, engine.now() + modify);
  }
  blocked_ = false;
  schedule_respond(engine, id);
  execute_waiting(engine, id);
}

}  // namespace loco::nic
