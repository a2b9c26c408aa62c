#include "nic_model/engine/engine.hpp"

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
  Observer* const o = observer();
  if (o == nullptr) return;
  o->on_subevent_repeated(subevent);
}

void Engine::tell(PacketStep step, const fabric::Packet& packet) {
  Observer* const o = observer();
  if (o == nullptr) return;
  fabric::Packet told = packet;
  told.source = first_port(first_nic(kernel.host_of(told.source)));
  told.destination = first_port(first_nic(kernel.host_of(told.destination)));
  o->on_packet(step, told, now());
}

bool Engine::allowed(std::uint32_t key, NicId nic, Address address, std::uint64_t size, std::uint8_t access) const {
  const std::uint32_t index = key >> 8U;
  if (index >= regions.size()) return false;
  const MemoryRegion& region = regions[index];
  return region.rkey == key && region.node == node_of(nic) && (region.access & access) == access &&
         size <= region.size && address >= region.base && address - region.base <= region.size - size;
}

}  // namespace loco::nic
