#include "nic_model/host_config.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace loco::nic {

namespace {
/// A switch that no entry describes is at socket 0.
const PcieSwitchConfig kUndescribed{};

const PcieSwitchConfig& described(const HostConfig& host, std::uint32_t pcie_switch) {
  return pcie_switch < host.switches.size() ? host.switches[pcie_switch] : kUndescribed;
}
}  // namespace

std::vector<std::uint32_t> switches_above(const HostConfig& host, std::uint32_t pcie_switch) {
  std::vector<std::uint32_t> all;
  for (; pcie_switch != kRootPort && all.size() <= host.switches.size();
       pcie_switch = described(host, pcie_switch).above)
    all.push_back(pcie_switch);
  return all;
}

std::uint32_t socket_of(const HostConfig& host, std::uint32_t pcie_switch, std::uint32_t at_root_port) {
  const std::vector<std::uint32_t> chain = switches_above(host, pcie_switch);
  return chain.empty() ? at_root_port : described(host, chain.back()).socket;
}

sim::Duration switch_delay(const HostConfig& host, const HardwareProfile& p, std::uint32_t pcie_switch) {
  return described(host, pcie_switch).delay.value_or(p.pcie_switch);
}

bool stores_tlps(const HostConfig& host, std::uint32_t pcie_switch) {
  return pcie_switch != kRootPort && described(host, pcie_switch).store_and_forward;
}

std::string validate(const HostConfig& host) {
  if (host.nics == 0) return "a host has at least one NIC";
  if (host.ports == 0 || host.ports > kPortsMost)
    return fmt::format("a NIC has 1 to {} ports, not {}", kPortsMost, host.ports);
  if (host.sockets.count == 0 || host.sockets.count > kSocketsMost)
    return fmt::format("a host has 1 to {} sockets, not {}", kSocketsMost, host.sockets.count);
  const auto no_socket = [&](std::uint32_t socket) { return socket >= host.sockets.count; };
  for (std::uint32_t i = 0; i < host.switches.size(); ++i) {
    const PcieSwitchConfig& s = host.switches[i];
    if (s.above != kRootPort && s.above >= host.switches.size())
      return fmt::format("PCIe switch {} is behind switch {}, which is not there", i, s.above);
    if (switches_above(host, i).size() > host.switches.size()) return fmt::format("PCIe switch {} is behind itself", i);
    if (no_socket(s.socket)) return fmt::format("PCIe switch {} is at socket {}, which is not there", i, s.socket);
  }
  if (std::ranges::any_of(host.nic_sockets, no_socket) ||
      std::ranges::any_of(host.gpus, [&](const GpuConfig& gpu) { return no_socket(gpu.socket); }))
    return fmt::format("a device is at a socket that is not there: the host has {}", host.sockets.count);
  return {};
}

}  // namespace loco::nic
