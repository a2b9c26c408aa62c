#include "nic_model/verbs/cpu.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "nic_model/connection/receive_queue.hpp"
#include "nic_model/engine/engine.hpp"
#include "nic_model/pcie/pcie.hpp"
#include "nic_model/requester/requester.hpp"
#include "nic_model/requester/wqe.hpp"
#include "nic_model/verbs/queue_pair.hpp"

namespace loco::nic {

namespace {
struct Seen {
  std::uint64_t value;
  SubeventId source;
};

/// x86-TSO: the thread's newest own store to the word, else memory.
Seen look(const Engine& engine, const Thread& thread, Address address) {
  for (std::size_t i = thread.buffer.size(); i-- > 0;) {
    const StoreEntry& entry = thread.buffer[i];
    if (!entry.doorbell && entry.address == address) return {entry.value, entry.subevent};
  }
  const HostMemory& memory = engine.hosts[thread.node].memory;
  return {memory.word(address), memory.writer(address)};
}

void witness_load(Engine& engine, ThreadId id, OpId op, Address address, const Seen& seen) {
  engine.begin({.stamp = Stamp::aCR,
                .thread = id,
                .op = op,
                .home = engine.threads[id].node,
                .address = address,
                .value = seen.value,
                .source = seen.source});
}

void check_word(const Engine& engine, NodeId node, Address address) {
  if (address % 8 != 0 || !engine.hosts[node].memory.contains(address, 8)) {
    throw std::out_of_range("a thread's access is misaligned or outside of its node's memory");
  }
}

/// The head of the store buffer leaves; stores to the NIC have their distance.
void schedule_drain(Engine& engine, ThreadId id) {
  const Thread& thread = engine.threads[id];
  sim::SimTime at = std::max(engine.now(), thread.buffer.front().issued) + engine.profile().cpu_store_drain;
  if (thread.buffer.front().doorbell && !thread.buffer.front().receive) at = std::max(at, thread.mmio_free);
  engine.schedule(kEventDrain, id, 0, at);
}

/// For a thread ahead of the clock: when it makes its access. Else nothing, so that states compare without times.
sim::SimTime issued(const Engine& engine, sim::Duration ahead) {
  return ahead.ps > 0 ? engine.now() + ahead : sim::SimTime{};
}

void push_entry(Engine& engine, ThreadId id, const StoreEntry& entry) {
  Thread& thread = engine.threads[id];
  if (thread.buffer.size() >= engine.profile().cpu_store_buffer_entries)
    throw std::logic_error("store buffer overflow");
  thread.buffer.push_back(entry);
  if (thread.buffer.size() == 1) schedule_drain(engine, id);
}

/// The CPU copies an inline payload while posting: each word is read as by a load.
std::uint32_t copy_inline(Engine& engine, ThreadId id, const Wqe& wqe, NodeId peer) {
  const Thread& thread = engine.threads[id];
  const std::uint32_t buffer = engine.payloads.acquire(wqe.length);
  std::byte* out = engine.payloads.data(buffer);
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
                  .home = thread.node,
                  .address = word,
                  .value = seen.value,
                  .source = seen.source});
  }
  return buffer;
}

/// A CQE frees the places of its work request and of all before it in the send queue, if that was not RESET since.
void free_places(Engine& engine, const Cqe& cqe) {
  if (is_receive(cqe.opcode)) return;
  engine.requesters[cqe.qp].reap(cqe.wqe);
}
}  // namespace

NodeId Cpu::node() const { return engine_.threads[thread_].node; }
sim::SimTime Cpu::now() const { return engine_.now(); }
const HardwareProfile& Cpu::profile() const { return engine_.profile(); }

std::uint64_t Cpu::load(Address address, OpId op) {
  Thread& thread = engine_.threads[thread_];
  check_word(engine_, thread.node, address);
  thread.watched.add(watch_key(WatchKind::word, address));
  const Seen seen = look(engine_, thread, address);
  witness_load(engine_, thread_, op, address, seen);
  return seen.value;
}

void Cpu::store(Address address, std::uint64_t value, OpId op, sim::Duration ahead) {
  const NodeId home = node();
  check_word(engine_, home, address);
  Thread& thread = engine_.threads[thread_];
  if (thread.watched.touched_by(watch_key(WatchKind::word, address))) thread.changed = true;  // the thread sees it
  const SubeventId id = engine_.begin({.stamp = Stamp::aCW,
                                       .finished = false,
                                       .thread = thread_,
                                       .op = op,
                                       .home = home,
                                       .address = address,
                                       .value = value,
                                       .at = issued(engine_, ahead)});
  push_entry(engine_, thread_, {.address = address, .value = value, .subevent = id, .issued = issued(engine_, ahead)});
}

bool Cpu::store_buffer_empty() const { return engine_.threads[thread_].buffer.empty(); }
bool Cpu::store_buffer_full() const {
  return engine_.threads[thread_].buffer.size() >= profile().cpu_store_buffer_entries;
}

void Cpu::fence(OpId op) {
  if (!store_buffer_empty()) throw std::logic_error("mfence with a store buffer that is not empty");
  record(Stamp::aMF, op);
}

std::uint64_t Cpu::compare_swap(Address address, std::uint64_t expected, std::uint64_t desired, OpId op) {
  if (!store_buffer_empty()) throw std::logic_error("locked instruction with a store buffer that is not empty");
  Thread& thread = engine_.threads[thread_];
  check_word(engine_, thread.node, address);
  const bool looked_before = thread.watched.touched_by(watch_key(WatchKind::word, address));
  thread.watched.add(watch_key(WatchKind::word, address));
  HostMemory& memory = engine_.hosts[thread.node].memory;
  const Seen seen = look(engine_, thread, address);
  if (seen.value != expected) {
    record(Stamp::aMF, op);
    witness_load(engine_, thread_, op, address, seen);
    return seen.value;
  }
  memory.set_word(address, desired);
  engine_.instant_write({.stamp = Stamp::aCAS,
                         .thread = thread_,
                         .op = op,
                         .home = thread.node,
                         .address = address,
                         .value = desired,
                         .value_read = seen.value,
                         .source = seen.source});
  if (looked_before) thread.changed = true;
  engine_.touched_bytes(thread.node, address, 8, thread_);
  return seen.value;
}

namespace {
/// Would the verbs library refuse it?
bool is_bad_request(const Engine& engine, const Connection& qp, const Wqe& wqe) {
  const HardwareProfile& p = engine.profile();
  if (!has_operation(qp.type(), wqe.opcode)) return true;
  if (is_atomic(wqe.opcode) && p.nic_atomic_cap == AtomicCap::none) return true;
  if (qp.type() == QpType::ud && wqe.remote_qp >= engine.connections.size()) return true;
  if (!wqe.inline_data) return false;
  return reads_or_atomic(wqe.opcode) || wqe.length > p.nic_inline_max.count ||
         (wqe.length > 0 && !engine.hosts[qp.node()].memory.contains(wqe.local, wqe.length));
}

/// The store that tells the NIC of `wqes`, which are the last ones in the send queue. BlueFlame: a single inline work
/// request goes with it.
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
  if (qp.node() != node()) throw std::invalid_argument("a thread posts to a queue pair of another node");
  Requester& rq = engine_.requesters[id];
  if (!qp.takes_sends() || wqes.empty()) return PostResult::bad_request;
  if (wqes.size() > rq.room()) return PostResult::queue_full;
  for (const Wqe& wqe : wqes) {
    if (is_bad_request(engine_, qp, wqe)) return PostResult::bad_request;
  }
  for (const Wqe& wqe : wqes) {
    std::uint32_t payload = fabric::kNoBuffer;
    if (wqe.inline_data && wqe.length > 0) {
      const NodeId peer = qp.type() == QpType::ud ? engine_.connections[wqe.remote_qp].node() : qp.peer_node();
      payload = copy_inline(engine_, thread_, wqe, peer);
    }
    rq.post(wqe, payload);
  }
  StoreEntry doorbell = doorbell_for(profile(), id, rq, wqes);
  doorbell.issued = issued(engine_, ahead);
  if (engine_.fault(Fault::doorbell_before_stores)) {
    ring_doorbell(engine_, qp.node(), doorbell);
  } else {
    push_entry(engine_, thread_, doorbell);
  }
  return PostResult::ok;
}

PostResult Cpu::post_recv(QpId id, std::span<const RecvWqe> wqes) {
  const std::uint32_t queue = engine_.responders.at(id).queue;
  if (engine_.connections[id].state() == QpState::reset || queue == kNone) return PostResult::bad_request;
  return post_srq_recv(queue, wqes);
}

PostResult Cpu::post_srq_recv(SrqId id, std::span<const RecvWqe> wqes) {
  ReceiveQueue& queue = engine_.receive_queues.at(id);
  if (queue.node != node()) throw std::invalid_argument("a thread posts to a receive queue of another node");
  if (wqes.empty()) return PostResult::bad_request;
  if (queue.entries.size() + wqes.size() > queue.depth) return PostResult::queue_full;
  for (const RecvWqe& wqe : wqes) queue.entries.push_back(wqe);
  push_entry(engine_, thread_,
             {.doorbell = true, .receive = true, .value = id, .posted = static_cast<std::uint32_t>(wqes.size())});
  return PostResult::ok;
}

bool Cpu::srq_limit_reached(SrqId id) {
  ReceiveQueue& queue = engine_.receive_queues.at(id);
  engine_.threads[thread_].watched.add(watch_key(WatchKind::srq, id));
  return std::exchange(queue.limit_reached, false);
}

bool Cpu::cq_empty(CqId id) const { return engine_.cqs.at(id).cqes.empty(); }

bool Cpu::cq_failed(CqId id) {
  engine_.threads[thread_].watched.add(watch_key(WatchKind::cq, id));
  return engine_.cqs.at(id).failed;
}

std::size_t Cpu::poll_cq(CqId id, std::span<Cqe> out) {
  CompletionQueue& cq = engine_.cqs.at(id);
  if (cq.node != node()) throw std::invalid_argument("a thread polls a completion queue of another node");
  engine_.threads[thread_].watched.add(watch_key(WatchKind::cq, id));
  std::size_t taken = 0;
  while (taken < out.size() && !cq.cqes.empty()) {
    out[taken] = cq.cqes.front();
    cq.cqes.pop_front();
    free_places(engine_, out[taken++]);
  }
  return taken;
}

SubeventId Cpu::record(Stamp stamp, OpId op, NodeId peer) {
  return engine_.begin({.stamp = stamp, .thread = thread_, .op = op, .peer = peer, .home = node()});
}

std::uint64_t Cpu::flag_load(std::uint32_t flag) {
  Thread& thread = engine_.threads[thread_];
  thread.watched.add(watch_key(WatchKind::flag, flag));
  return engine_.hosts[thread.node].flags.at(flag);
}

template <typename Change>
std::uint64_t Cpu::change_flag(std::uint32_t flag, ThreadId unseen_by, Change change) {
  const NodeId home = node();
  std::uint64_t& word = engine_.hosts[home].flags.at(flag);
  const std::uint64_t old = word;
  change(word);
  if (word != old) engine_.touched(home, watch_key(WatchKind::flag, flag), unseen_by);
  return old;
}

std::uint64_t Cpu::flag_fetch_or(std::uint32_t flag, std::uint64_t bits) {
  return change_flag(flag, Engine::kNobody, [bits](std::uint64_t& word) { word |= bits; });
}

std::uint64_t Cpu::flag_fetch_and(std::uint32_t flag, std::uint64_t bits) {
  return change_flag(flag, Engine::kNobody, [bits](std::uint64_t& word) { word &= bits; });
}

std::uint64_t Cpu::flag_fetch_add(std::uint32_t flag, std::uint64_t value) {
  return change_flag(flag, Engine::kNobody, [value](std::uint64_t& word) { word += value; });
}

std::uint64_t Cpu::flag_add_for_others(std::uint32_t flag, std::uint64_t value) {
  return change_flag(flag, thread_, [value](std::uint64_t& word) { word += value; });
}

void Cpu::watch(std::uint64_t key) { engine_.threads[thread_].watched.add(watch_key(WatchKind::user, key)); }

void Cpu::forget_watched() {
  Thread& thread = engine_.threads[thread_];
  thread.watched.clear();
  thread.changed = false;
}

void Cpu::resume_after(sim::Duration time) {
  engine_.threads[thread_].busy += time;
  resume_at(now() + time);
}

void Cpu::resume_at(sim::SimTime at) {
  engine_.threads[thread_].state = ThreadState::scheduled;
  engine_.schedule(kEventThreadStep, thread_, 0, at);
}

bool Cpu::noticed() const { return engine_.threads[thread_].changed; }

void Cpu::pause(sim::Duration turn) { pause_from({}, turn); }

sim::Duration Cpu::taken() const { return engine_.threads[thread_].take; }

void Cpu::pause_from(sim::Duration ahead, sim::Duration turn, sim::Duration take) {
  Thread& thread = engine_.threads[thread_];
  thread.busy += ahead;  // the turn of its polling loop is no work
  if (thread.changed) {
    thread.watched.clear();
    thread.changed = false;
    thread.take = {};
    resume_at(now() + ahead + turn);
    return;
  }
  thread.state = ThreadState::paused;
  thread.turn = turn;
  thread.take = take;
  thread.paused_at = now() + (ahead.ps > 0 ? ahead : turn);
}

void Cpu::resume_when_drained() {
  if (store_buffer_empty()) return resume_after({});
  engine_.threads[thread_].state = ThreadState::draining;
}

void Cpu::resume_when_room() {
  if (!store_buffer_full()) return resume_after({});
  engine_.threads[thread_].state = ThreadState::waiting_room;
}

void Cpu::stop() { engine_.threads[thread_].state = ThreadState::stopped; }

void drain(Engine& engine, ThreadId id) {
  Thread& thread = engine.threads[id];
  const StoreEntry entry = thread.buffer.front();
  thread.buffer.pop_front();
  if (entry.doorbell && !entry.receive) {
    thread.mmio_free = engine.now() + engine.profile().cpu_mmio_gap * mmio_bursts(entry.value);
  }
  if (!thread.buffer.empty()) schedule_drain(engine, id);
  if (entry.receive) {
    receives_posted(engine, static_cast<std::uint32_t>(entry.value), entry.posted);
  } else if (entry.doorbell) {
    ring_doorbell(engine, thread.node, entry);
  } else {
    engine.hosts[thread.node].memory.set_word(entry.address, entry.value);
    engine.finish_write(entry.subevent, thread.node, entry.address);
    engine.touched_bytes(thread.node, entry.address, 8, id);
  }
  const bool runnable =
      (thread.state == ThreadState::draining && thread.buffer.empty()) || thread.state == ThreadState::waiting_room;
  if (runnable) {
    thread.state = ThreadState::scheduled;
    engine.schedule(kEventThreadStep, id, 0, engine.now());
  }
}

}  // namespace loco::nic
