#include "nic_model/host/process.hpp"

#include <algorithm>

#include "nic_model/engine/check.hpp"
#include "nic_model/host/memory.hpp"
#include "nic_model/host/thread.hpp"
#include "sim/prefetch.hpp"

namespace loco::nic {

std::uint32_t Process::add_flag(std::uint64_t initial) {
  flags_.push_back(initial);
  return static_cast<std::uint32_t>(flags_.size() - 1);
}

void Process::hash(Hasher& h) const {
  for (const std::uint64_t flag : flags_) h.add(flag);
}

void Process::check(HostId node, sim::SimTime now) const {
  const Check check(now, "process", "node", node);
  check.holds(std::ranges::adjacent_find(threads_, std::ranges::greater_equal{}) == threads_.end(),
              "threads are listed once, in the order of their creation");
}

void touched(Engine& engine, HostId node, std::uint64_t key, ThreadId except) {
  const bool is_completion = kind_of(key) == WatchKind::cq;
  for (const ThreadId id : engine.processes[node].threads()) {
    Thread& thread = engine.threads[id];
    if (id != except && thread.watched().touched_by(key)) thread.wake(engine, id, is_completion);
  }
}

void touched_bytes(Engine& engine, HostId node, Address address, std::uint64_t size, ThreadId except) {
  const std::uint64_t low = watch_key(WatchKind::word, word_of(address));
  const std::uint64_t high = watch_key(WatchKind::word, word_of(address + size - 1));
  for (const ThreadId id : engine.processes[node].threads()) {
    Thread& thread = engine.threads[id];
    if (id != except && thread.watched().touched_by_words(low, high)) thread.wake(engine, id, false);
  }
}

void finish_write(Engine& engine, SubeventId id, HostId home, Address address) {
  if (!engine.witness()) return;
  HostMemory& memory = engine.memories[home];
  const SubeventId before = memory.replace_writer(address, id);
  const std::uint64_t seq = engine.kernel.next_seq();
  if (Observer* o = engine.observer()) {
    o->on_subevent_finish(
        {.id = id, .overwrote = before, .value = memory.word(address), .seq = seq, .at = engine.now()});
  }
}

SubeventId instant_write(Engine& engine, Subevent subevent) {
  if (!engine.witness()) return 0;
  HostMemory& memory = engine.memories[HostId(subevent.home)];
  subevent.overwrote = memory.writer(subevent.address);
  const SubeventId id = engine.begin(subevent);
  memory.replace_writer(subevent.address, id);
  return id;
}

void prefetch_copy(const Engine& engine, HostId node, Address address, std::uint32_t buffer, std::uint32_t offset,
                   std::uint32_t bytes) {
  constexpr std::uint32_t kLine = 64;
  if (bytes < kLine || buffer == fabric::kNoBuffer) return;
  engine.memories[node].prefetch(address, bytes);
  if (!engine.payloads.blank(buffer, offset, bytes)) sim::prefetch(engine.payloads.data_at(buffer, offset), bytes);
}

}  // namespace loco::nic
