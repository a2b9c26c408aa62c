#include "nic_model/engine/engine.hpp"

#include "nic_model/records.hpp"
#include "sim/prefetch.hpp"

namespace loco::nic {

SubeventId Engine::begin(Subevent subevent) {
  if (!witness()) return 0;
  subevent.id = kernel.next_subevent();
  subevent.seq = kernel.next_seq();
  if (subevent.at < now()) subevent.at = now();
  if (Observer* o = observer()) o->on_subevent(subevent);
  return subevent.id;
}

void Engine::repeat(const Subevent& subevent) {
  if (Observer* o = observer()) o->on_subevent_repeated(subevent);
}

void Engine::finish_write(SubeventId id, NodeId home, Address address) {
  if (!witness()) return;
  HostMemory& memory = hosts[home].memory;
  const SubeventId before = memory.replace_writer(address, id);
  const std::uint64_t seq = kernel.next_seq();
  if (Observer* o = observer()) {
    o->on_subevent_finish({.id = id, .overwrote = before, .value = memory.word(address), .seq = seq, .at = now()});
  }
}

SubeventId Engine::instant_write(Subevent subevent) {
  if (!witness()) return 0;
  HostMemory& memory = hosts[subevent.home].memory;
  subevent.overwrote = memory.writer(subevent.address);
  const SubeventId id = begin(subevent);
  memory.replace_writer(subevent.address, id);
  return id;
}

void Engine::touched(NodeId node, std::uint64_t key, ThreadId except) {
  const bool is_completion = kind_of(key) == WatchKind::cq;
  for (const ThreadId id : hosts[node].threads) {
    if (id != except && threads[id].watched.touched_by(key)) wake(id, is_completion);
  }
}

void Engine::touched_bytes(NodeId node, Address address, std::uint64_t size, ThreadId except) {
  const std::uint64_t low = watch_key(WatchKind::word, word_of(address));
  const std::uint64_t high = watch_key(WatchKind::word, word_of(address + size - 1));
  for (const ThreadId id : hosts[node].threads) {
    if (id != except && threads[id].watched.touched_by_words(low, high)) wake(id, false);
  }
}

void Engine::wake(ThreadId id, bool completion) {
  Thread& thread = threads[id];
  if (thread.state != ThreadState::paused) {
    thread.changed = true;
    return;
  }
  // The loop began turns at paused_at + k * turn; the first one that begins no earlier than the change sees it.
  sim::SimTime at = now();
  if (thread.turn.ps > 0 && at > thread.paused_at) {
    const std::int64_t turns = ((at - thread.paused_at).ps + thread.turn.ps - 1) / thread.turn.ps;
    at = thread.paused_at + thread.turn * turns;
  }
  thread.state = ThreadState::scheduled;
  thread.watched.clear();
  if (!completion) thread.take = {};
  schedule(kEventThreadStep, id, 0, (at < thread.paused_at ? thread.paused_at : at) + thread.take);
}

void Engine::prefetch(NodeId node, Address address, std::uint32_t buffer, std::uint32_t offset,
                      std::uint32_t bytes) const {
  constexpr std::uint32_t kLine = 64;
  if (bytes < kLine || buffer == fabric::kNoBuffer) return;
  hosts[node].memory.prefetch(address, bytes);
  sim::prefetch(payloads.data(buffer) + offset, bytes);
}

bool Engine::allowed(std::uint32_t key, NodeId node, Address address, std::uint64_t size, std::uint8_t access) const {
  const std::uint32_t index = key >> 8U;
  if (index >= regions.size()) return false;
  const MemoryRegion& region = regions[index];
  return region.rkey == key && region.node == node && (region.access & access) == access && size <= region.size &&
         address >= region.base && address - region.base <= region.size - size;
}

}  // namespace loco::nic
