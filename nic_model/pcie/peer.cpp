#include "nic_model/pcie/peer.hpp"

namespace loco::nic {

namespace {

/// Behind the same switch?
bool near(const Engine& engine, NicId nic, std::uint32_t pcie_switch) {
  if (pcie_switch == kRootPort) return false;
  const HostConfig& host = engine.kernel.config().hosts.of[engine.host_of(nic)];
  return host.switch_of(engine.kernel.index_of(nic)) == pcie_switch;
}

sim::BitsPerSecond slower(sim::BitsPerSecond a, sim::BitsPerSecond b) {
  if (a.value == 0 || b.value == 0) return {std::max(a.value, b.value)};
  return std::min(a, b);
}

sim::Duration taken(const Engine& engine, NicId nic, const PeerDevice& gpu, std::uint64_t bytes,
                    sim::BitsPerSecond through_root) {
  const bool direct = near(engine, nic, gpu.pcie_switch());
  return sim::transmission_time({bytes}, direct ? gpu.rate() : slower(gpu.rate(), through_root));
}

}  // namespace

PeerDevice* find_peer(Engine& engine, std::uint32_t key) {
  const MemoryRegion* const region = engine.region(key);
  if (region == nullptr || region->kind.gpu == 0) return nullptr;
  return &engine.peers[engine.kernel.first_gpu(region->node) + region->kind.gpu - 1];
}

PeerWay peer_way(const Engine& engine, NicId nic, const PeerDevice& gpu) {
  // One switch is as far as the root complex behind it: what a NIC's own profile says is the way to that.
  if (near(engine, nic, gpu.pcie_switch())) return {};
  const SystemConfig& config = engine.kernel.config();
  const HardwareProfile& p = config.hosts.profile(config.profile, gpu.host());
  const sim::Duration hop = gpu.pcie_switch() == kRootPort ? sim::Duration{} : p.pcie_switch;
  return {p.pcie_downstream + hop, p.pcie_upstream + hop};
}

sim::Duration peer_write_time(const Engine& engine, NicId nic, const PeerDevice& gpu, std::uint64_t bytes) {
  return taken(engine, nic, gpu, bytes, engine.profile(nic).pcie_peer_write);
}

sim::Duration peer_read_time(const Engine& engine, NicId nic, const PeerDevice& gpu, std::uint64_t bytes) {
  return taken(engine, nic, gpu, bytes, engine.profile(nic).pcie_peer_read);
}

}  // namespace loco::nic
