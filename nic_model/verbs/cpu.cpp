#include "nic_model/verbs/cpu.hpp"

#include <algorithm>
#include <stdexcept>

#include "nic_model/connection/completion_queue.hpp"
#include "nic_model/connection/receive_queue.hpp"
#include "nic_model/engine/engine.hpp"
#include "nic_model/host/memory.hpp"
#include "nic_model/host/process.hpp"
#include "nic_model/host/thread.hpp"
#include "nic_model/pcie/bursts.hpp"
#include "nic_model/pcie/pcie.hpp"
#include "nic_model/requester/requester.hpp"
#include "nic_model/requester/wqe.hpp"
#include "nic_model/responder/responder.hpp"
#include "nic_model/verbs/queue_pair.hpp"
#include "probe/probe.hpp"

namespace loco::nic {

namespace {
struct Seen {
  std::uint64_t value;
  SubeventId source;
};

/// x86-TSO: a load sees the thread's own newest store to the word, or else memory.
inline Seen look(Engine& engine, const Thread& thread, Address address) {
  if (const StoreEntry* own = thread.forwarded(address)) return {own->value, own->subevent};
  settle_memory(engine, thread.node(), address, sizeof(std::uint64_t));
  const HostMemory& memory = engine.memories[thread.node()];
  return {memory.word(address), memory.writer(address)};
}

/// Watches the key for changes. PCIe writes what a thread watches TLP by TLP, never in a burst.
inline void look_out(Engine& engine, Thread& thread, ThreadId id, std::uint64_t key) {
  thread.watch(key);
  settle_watched(engine, id);
}
void look_out(Engine& engine, ThreadId id, std::uint64_t key) { look_out(engine, engine.threads[id], id, key); }

void witness_load(Engine& engine, ThreadId id, OpId op, Address address, const Seen& seen) {
  engine.begin({.stamp = Stamp::aCR,
                .thread = id,
                .op = op,
                .home = engine.threads[id].node().index(),
                .address = address,
                .value = seen.value,
                .source = seen.source});
}

void check_word(const Engine& engine, HostId node, Address address) {
  if (address % 8 != 0 || !engine.memories[node].contains(address, 8)) {
    throw std::out_of_range("a thread's access is misaligned or outside of its node's memory");
  }
}

/// The time of an access by a thread that is ahead of the clock; otherwise zero, so that states compare without times.
sim::SimTime issued(const Engine& engine, sim::Duration ahead) {
  return ahead.ps > 0 ? engine.now() + ahead : sim::SimTime{};
}

/// The CPU copies an inline payload while posting: each word is read as by a load.
std::uint32_t copy_inline(Engine& engine, ThreadId id, const Wqe& wqe, NodeId peer) {
  const Thread& thread = engine.threads[id];
  const std::uint32_t buffer = engine.payloads.acquire(wqe.length);
  std::byte* out = engine.payloads.edit(buffer);
  for (Address word = word_of(wqe.local); word < wqe.local + wqe.length; word += 8) {
    const Seen seen = look(engine, thread, word);
    const auto bytes = std::as_bytes(std::span(&seen.value, 1));
    for (Address at = word; at < word + 8; ++at) {
      if (at >= wqe.local && at < wqe.local + wqe.length) out[at - wqe.local] = bytes[at - word];
    }
    engine.begin({.stamp = Stamp::aNLR,
                  .thread = id,
                  .op = wqe.op,
                  .peer = peer,
                  .home = thread.node().index(),
                  .address = word,
                  .value = seen.value,
                  .source = seen.source});
  }
  return buffer;
}

/// Once its CQE is polled, a work request frees its place in the send queue and those of all earlier requests. Where
/// requests complete in any order it frees only its own, unless the queue pair was RESET meanwhile.
void free_places(Engine& engine, const Cqe& cqe) {
  if (is_receive(cqe.opcode)) return;
  engine.requesters[cqe.qp].reap(cqe.wqe, policy_of(engine, cqe.qp).order.when_whole);
}
}  // namespace

NodeId Cpu::node() const { return engine_.threads[thread_].node().index(); }
sim::SimTime Cpu::now() const { return engine_.now(); }
const HardwareProfile& Cpu::profile() const { return engine_.profile(engine_.threads[thread_].node()); }

std::uint64_t Cpu::load(Address address, OpId op) {
  Thread& thread = engine_.threads[thread_];
  check_word(engine_, thread.node(), address);
  look_out(engine_, thread, thread_, watch_key(WatchKind::word, address));
  const Seen seen = look(engine_, thread, address);
  witness_load(engine_, thread_, op, address, seen);
  return seen.value;
}

void Cpu::store(Address address, std::uint64_t value, OpId op, sim::Duration ahead) {
  const HostId home = engine_.threads[thread_].node();
  check_word(engine_, home, address);
  Thread& thread = engine_.threads[thread_];
  if (thread.watched().touched_by(watch_key(WatchKind::word, address))) thread.notice();  // its own store is a change
  const SubeventId id = engine_.begin({.stamp = Stamp::aCW,
                                       .finished = false,
                                       .thread = thread_,
                                       .op = op,
                                       .home = home.index(),
                                       .address = address,
                                       .value = value,
                                       .at = issued(engine_, ahead)});
  thread.push(engine_, thread_, {.address = address, .value = value, .subevent = id, .issued = issued(engine_, ahead)});
}

void Cpu::stored(Address address, OpId op) {
  const HostId home = engine_.threads[thread_].node();
  check_word(engine_, home, address);
  instant_write(engine_, {.stamp = Stamp::aCW,
                          .thread = thread_,
                          .op = op,
                          .home = home.index(),
                          .address = address,
                          .value = engine_.memories[home].word(address)});
}

bool Cpu::store_buffer_empty() const { return !engine_.threads[thread_].stores_pending(); }
bool Cpu::store_buffer_full() const { return engine_.threads[thread_].store_buffer_full(profile()); }

void Cpu::fence(OpId op) {
  if (!store_buffer_empty()) throw std::logic_error("mfence with a store buffer that is not empty");
  record(Stamp::aMF, op);
}

std::uint64_t Cpu::compare_swap(Address address, std::uint64_t expected, std::uint64_t desired, OpId op) {
  if (!store_buffer_empty()) throw std::logic_error("locked instruction with a store buffer that is not empty");
  Thread& thread = engine_.threads[thread_];
  check_word(engine_, thread.node(), address);
  const bool looked_before = thread.watched().touched_by(watch_key(WatchKind::word, address));
  look_out(engine_, thread, thread_, watch_key(WatchKind::word, address));
  HostMemory& memory = engine_.memories[thread.node()];
  const Seen seen = look(engine_, thread, address);
  if (seen.value != expected) {
    record(Stamp::aMF, op);
    witness_load(engine_, thread_, op, address, seen);
    return seen.value;
  }
  memory.set_word(address, desired);
  instant_write(engine_, {.stamp = Stamp::aCAS,
                          .thread = thread_,
                          .op = op,
                          .home = thread.node().index(),
                          .address = address,
                          .value = desired,
                          .value_read = seen.value,
                          .source = seen.source});
  if (looked_before) thread.notice();
  touched_bytes(engine_, thread.node(), address, 8, thread_);
  return seen.value;
}

namespace {
/// True if the verbs library would refuse the work request.
bool is_bad_request(const Engine& engine, const Connection& qp, const Wqe& wqe) {
  const HardwareProfile& p = engine.profile(qp.node());
  if (!has_operation(policy_of(engine, qp).operations, wqe.opcode, wqe.with_imm)) return true;
  if (is_atomic(wqe.opcode) && p.nic_atomic_cap == AtomicCap::none) return true;
  if (reads_or_atomic(wqe.opcode) && wqe.with_imm) return true;
  if (qp.type() == QpType::ud && wqe.remote_qp >= engine.connections.size()) return true;
  if (!wqe.inline_data) return false;
  return reads_or_atomic(wqe.opcode) || wqe.length > p.nic_inline_max.count ||
         (wqe.length > 0 && !engine.memories[engine.host_of(qp.node())].contains(wqe.local, wqe.length));
}

/// The store that tells the NIC of `wqes`, the last ones in the send queue. With BlueFlame a single inline work request
/// goes with it.
StoreEntry doorbell_for(const HardwareProfile& p, QpId id, const Requester& rq, std::span<const Wqe> wqes) {
  const bool blueflame = p.nic_blueflame && wqes.size() == 1 && wqes[0].inline_data &&
                         inline_wqe_bytes(wqes[0]) <= p.nic_blueflame_max.count;
  constexpr std::uint64_t kDoorbellBytes = 8;
  const std::uint64_t bytes =
      blueflame ? static_cast<std::uint64_t>(mmio_bursts(inline_wqe_bytes(wqes[0]))) * kMmioBurst : kDoorbellBytes;
  return {.doorbell = true, .blueflame = blueflame, .value = bytes, .qp = id, .posted = rq.posted()};
}
}  // namespace

PostResult Cpu::post_send(QpId id, std::span<const Wqe> wqes, sim::Duration ahead) {
  const Connection& qp = engine_.connections.at(id);
  if (engine_.node_of(qp.node()) != node())
    throw std::invalid_argument("a thread posts to a queue pair of another node");
  Requester& rq = engine_.requesters[id];
  if (!qp.takes_sends() || wqes.empty()) return PostResult::bad_request;
  if (wqes.size() > rq.room()) {
    LOCO_PROBE(send_queue_full);
    return PostResult::queue_full;
  }
  for (const Wqe& wqe : wqes) {
    if (is_bad_request(engine_, qp, wqe)) return PostResult::bad_request;
  }
  for (const Wqe& wqe : wqes) {
    std::uint32_t payload = fabric::kNoBuffer;
    if (wqe.inline_data && wqe.length > 0) {
      const NicId peer = qp.type() == QpType::ud ? engine_.connections[wqe.remote_qp].node() : qp.peer_node();
      payload = copy_inline(engine_, thread_, wqe, engine_.node_of(peer));
    }
    rq.post(wqe, payload);
  }
  StoreEntry doorbell = doorbell_for(profile(), id, rq, wqes);
  doorbell.issued = issued(engine_, ahead);
  if (engine_.fault(Fault::doorbell_before_stores)) {
    ring_doorbell(engine_, qp.node(), doorbell);
  } else {
    engine_.threads[thread_].push(engine_, thread_, doorbell);
  }
  return PostResult::ok;
}

PostResult Cpu::post_recv(QpId id, std::span<const RecvWqe> wqes) {
  const std::uint32_t queue = engine_.responders.at(id).receive_queue();
  if (engine_.connections[id].state() == QpState::reset || queue == kNone) return PostResult::bad_request;
  if (engine_.receive_queues[queue].shared()) return PostResult::bad_request;
  return post_srq_recv(queue, wqes);
}

PostResult Cpu::post_srq_recv(SrqId id, std::span<const RecvWqe> wqes) {
  ReceiveQueue& queue = engine_.receive_queues.at(id);
  if (queue.node().index() != node()) throw std::invalid_argument("a thread posts to a receive queue of another node");
  if (wqes.empty()) return PostResult::bad_request;
  if (wqes.size() > queue.room()) return PostResult::queue_full;
  for (const RecvWqe& wqe : wqes) queue.post(wqe, thread_);
  const auto posted = static_cast<std::uint32_t>(wqes.size());
  engine_.threads[thread_].push(engine_, thread_, {.doorbell = true, .receive = true, .value = id, .posted = posted});
  return PostResult::ok;
}

bool Cpu::srq_limit_reached(SrqId id) {
  ReceiveQueue& queue = engine_.receive_queues.at(id);
  look_out(engine_, thread_, watch_key(WatchKind::srq, id));
  return queue.take_limit_event();
}

bool Cpu::cq_empty(CqId id) const { return engine_.cqs.at(id).empty(); }

bool Cpu::cq_failed(CqId id) {
  look_out(engine_, thread_, watch_key(WatchKind::cq, id));
  return engine_.cqs.at(id).failed();
}

std::size_t Cpu::poll_cq(CqId id, std::span<Cqe> out) {
  CompletionQueue& cq = engine_.cqs.at(id);
  if (cq.node().index() != node()) throw std::invalid_argument("a thread polls a completion queue of another node");
  look_out(engine_, thread_, watch_key(WatchKind::cq, id));
  std::size_t taken = 0;
  while (taken < out.size() && !cq.empty()) {
    out[taken] = cq.poll();
    free_places(engine_, out[taken++]);
  }
  return taken;
}

SubeventId Cpu::record(Stamp stamp, OpId op, NodeId peer) {
  return engine_.begin({.stamp = stamp, .thread = thread_, .op = op, .peer = peer, .home = node()});
}

std::uint64_t Cpu::flag_load(std::uint32_t flag) {
  Thread& thread = engine_.threads[thread_];
  look_out(engine_, thread, thread_, watch_key(WatchKind::flag, flag));
  return engine_.processes[thread.node()].flag(flag);
}

template <typename Change>
std::uint64_t Cpu::change_flag(std::uint32_t flag, ThreadId unseen_by, Change change) {
  const HostId home = engine_.threads[thread_].node();
  Process& process = engine_.processes[home];
  const std::uint64_t old = process.flag(flag);
  std::uint64_t word = old;
  change(word);
  if (word == old) return old;
  process.set_flag(flag, word);
  touched(engine_, home, watch_key(WatchKind::flag, flag), unseen_by);
  return old;
}

std::uint64_t Cpu::flag_fetch_or(std::uint32_t flag, std::uint64_t bits) {
  return change_flag(flag, kNobody, [bits](std::uint64_t& word) { word |= bits; });
}

std::uint64_t Cpu::flag_fetch_and(std::uint32_t flag, std::uint64_t bits) {
  return change_flag(flag, kNobody, [bits](std::uint64_t& word) { word &= bits; });
}

std::uint64_t Cpu::flag_fetch_add(std::uint32_t flag, std::uint64_t value) {
  return change_flag(flag, kNobody, [value](std::uint64_t& word) { word += value; });
}

std::uint64_t Cpu::flag_add_for_others(std::uint32_t flag, std::uint64_t value) {
  return change_flag(flag, thread_, [value](std::uint64_t& word) { word += value; });
}

void Cpu::watch(std::uint64_t key) { look_out(engine_, thread_, watch_key(WatchKind::user, key)); }

void Cpu::watch_memory() {
  engine_.threads[thread_].watch_all_words();
  settle_watched(engine_, thread_);
}

void Cpu::forget_watched() { engine_.threads[thread_].forget_watched(); }

void Cpu::resume_after(sim::Duration time) {
  engine_.threads[thread_].work(time);
  resume_at(now() + time);
}

void Cpu::resume_at(sim::SimTime at) { engine_.threads[thread_].resume_at(engine_, thread_, at); }

bool Cpu::noticed() const { return engine_.threads[thread_].noticed(); }

void Cpu::pause(sim::Duration turn) { pause_from({}, turn); }

sim::Duration Cpu::taken() const { return engine_.threads[thread_].taken(); }

void Cpu::pause_from(sim::Duration ahead, sim::Duration turn, sim::Duration take) {
  engine_.threads[thread_].pause_from(engine_, thread_, ahead, turn, take);
}

void Cpu::resume_when_drained() {
  if (store_buffer_empty()) return resume_after({});
  engine_.threads[thread_].wait_for_drain();
}

void Cpu::resume_when_room() {
  if (!store_buffer_full()) return resume_after({});
  LOCO_PROBE(store_buffer_full);
  engine_.threads[thread_].wait_for_room();
}

void Cpu::stop() { engine_.threads[thread_].stop(); }

}  // namespace loco::nic
