#include "nic_model/engine/engine.hpp"

#include <stdexcept>

#include "sim/prefetch.hpp"

namespace loco::nic {

SubeventId Engine::begin(Subevent subevent) {
  if (!witness()) return 0;
  if (state.subevents == 0xffffffffU) throw std::length_error("a run records at most 2^32 - 1 subevents");
  subevent.id = ++state.subevents;
  subevent.seq = state.seq++;
  if (subevent.at < state.now) subevent.at = state.now;
  if (Observer* o = observer()) o->on_subevent(subevent);
  return subevent.id;
}

void Engine::repeat(const Subevent& subevent) {
  if (Observer* o = observer()) o->on_subevent_repeated(subevent);
}

void Engine::finish_write(SubeventId id, NodeId home, Address address) {
  if (!witness()) return;
  HostMemory& memory = state.hosts[home].memory;
  const SubeventId before = memory.replace_writer(address, id);
  const std::uint64_t seq = state.seq++;
  if (Observer* o = observer()) {
    o->on_subevent_finish({.id = id, .overwrote = before, .value = memory.word(address), .seq = seq, .at = state.now});
  }
}

SubeventId Engine::instant_write(Subevent subevent) {
  if (!witness()) return 0;
  HostMemory& memory = state.hosts[subevent.home].memory;
  subevent.overwrote = memory.writer(subevent.address);
  const SubeventId id = begin(subevent);
  memory.replace_writer(subevent.address, id);
  return id;
}

void Engine::touched(NodeId node, std::uint64_t key, ThreadId except) {
  const bool is_completion = kind_of(key) == WatchKind::cq;
  for (const ThreadId id : state.hosts[node].threads) {
    if (id != except && state.threads[id].watched.touched_by(key)) wake(id, is_completion);
  }
}

void Engine::touched_bytes(NodeId node, Address address, std::uint64_t size, ThreadId except) {
  const std::uint64_t low = watch_key(WatchKind::word, word_of(address));
  const std::uint64_t high = watch_key(WatchKind::word, word_of(address + size - 1));
  for (const ThreadId id : state.hosts[node].threads) {
    if (id != except && state.threads[id].watched.touched_by_words(low, high)) wake(id, false);
  }
}

void Engine::wake(ThreadId id, bool completion) {
  Thread& thread = state.threads[id];
  if (thread.state != ThreadState::paused) {
    thread.changed = true;
    return;
  }
  // The loop began turns at paused_at + k * turn; the first one that begins no earlier than the change sees it.
  sim::SimTime at = state.now;
  if (thread.turn.ps > 0 && at > thread.paused_at) {
    const std::int64_t turns = ((at - thread.paused_at).ps + thread.turn.ps - 1) / thread.turn.ps;
    at = thread.paused_at + thread.turn * turns;
  }
  thread.state = ThreadState::scheduled;
  thread.watched.clear();
  if (!completion) thread.take = {};
  schedule(kEventThreadStep, id, 0, (at < thread.paused_at ? thread.paused_at : at) + thread.take);
}

std::uint32_t Engine::new_buffer(std::uint32_t size) {
  const std::uint32_t index = state.buffers.acquire();
  Buffer& buffer = state.buffers[index];
  buffer.references = 1;
  buffer.size = size;
  if (size > buffer.small.size()) {
    if (size > buffer.large.capacity()) buffer.large.clear();  // what an earlier message left is not worth a copy
    buffer.large.resize(size);
  }
  return index;
}

void Engine::release(std::uint32_t buffer) {
  if (buffer == fabric::kNoBuffer) return;
  if (--state.buffers[buffer].references == 0) state.buffers.release(buffer);
}

void Engine::prefetch(NodeId node, Address address, std::uint32_t buffer, std::uint32_t offset,
                      std::uint32_t bytes) const {
  constexpr std::uint32_t kLine = 64;
  if (bytes < kLine || buffer == fabric::kNoBuffer) return;
  state.hosts[node].memory.prefetch(address, bytes);
  sim::prefetch(state.buffers[buffer].data() + offset, bytes);
}

bool Engine::allowed(std::uint32_t key, NodeId node, Address address, std::uint64_t size, std::uint8_t access) const {
  const std::uint32_t index = key >> 8U;
  if (index >= state.regions.size()) return false;
  const MemoryRegion& region = state.regions[index];
  return region.rkey == key && region.node == node && (region.access & access) == access && size <= region.size &&
         address >= region.base && address - region.base <= region.size - size;
}

}  // namespace loco::nic
