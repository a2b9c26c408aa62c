#include "nic_model/verbs/store_buffer.hpp"

#include "nic_model/host/memory.hpp"
#include "nic_model/host/process.hpp"
#include "nic_model/host/thread.hpp"
#include "nic_model/pcie/bursts.hpp"
#include "nic_model/pcie/pcie.hpp"
#include "nic_model/responder/responder.hpp"

namespace loco::nic {

void drain(Engine& engine, ThreadId id) {
  Thread& thread = engine.threads[id];
  const StoreEntry entry = thread.pop(engine, id);
  if (entry.receive) {
    receives_posted(engine, static_cast<std::uint32_t>(entry.value), id, entry.posted);
  } else if (entry.doorbell) {
    ring_doorbell(engine, engine.connections[entry.qp].node(), entry);
  } else {
    settle_memory(engine, thread.node(), entry.address, sizeof(std::uint64_t));
    engine.memories[thread.node()].set_word(entry.address, entry.value);
    finish_write(engine, entry.subevent, thread.node(), entry.address);
    touched_bytes(engine, thread.node(), entry.address, 8, id);
  }
  thread.drained(engine, id);
}

}  // namespace loco::nic
