#include "nic_model/engine/engine.hpp"

#include <algorithm>

#include "nic_model/pcie/flow_control.hpp"

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

bool Engine::allowed(std::uint32_t key, NodeId node, Address address, std::uint64_t size, std::uint8_t access) const {
  const std::uint32_t index = key >> 8U;
  if (index >= regions.size()) return false;
  const MemoryRegion& region = regions[index];
  return region.rkey == key && region.node == node && (region.access & access) == access && size <= region.size &&
         address >= region.base && address - region.base <= region.size - size;
}

sim::Duration Engine::path_time(std::uint32_t bytes) const {
  const sim::Duration pcie = data_time(profile(), bytes);
  return std::max(sim::transmission_time({bytes}, profile().nic_path_rate), pcie) - pcie;
}

}  // namespace loco::nic
