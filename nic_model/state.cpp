#include "nic_model/state.hpp"

#include <fmt/format.h>
#include <stdexcept>

namespace loco::nic {

State::State(const SystemConfig& c) : kernel(c), network(fabric::make_network(fabric_config(c))), processes(c.nodes) {
  for (NodeId node = 0; node < c.nodes; ++node) {
    memories.emplace_back(c.witness);
    hosts.emplace_back();
    atomics.emplace_back();
    links.emplace_back(c.profile);
    caches.emplace_back(c.profile);
    if (c.profile.pcie_ordering_domain == OrderingDomain::nic) domains.emplace_back(node);
  }
  if (c.profile.pcie_ordering_domain == OrderingDomain::nic && c.profile.splits_writes()) {
    for (NodeId node = 0; node < c.nodes; ++node) {
      for (std::uint32_t other = 1; other < c.profile.pcie_functions; ++other) domains.emplace_back(node);
    }
  }
  for (std::uint32_t domain = 0, end = static_cast<std::uint32_t>(domains.size()); domain < end; ++domain)
    add_device_path(domain);
  ports.resize(c.nodes);
  receive_buffers = make_receive_buffers(c.nodes, *network, kernel.profile());
  network->start(kernel.events());
}

void State::add_device_path(std::uint32_t domain) {
  if (!kernel.profile().nic_device_own_path) return;
  domains[domain].set_device_path(static_cast<std::uint32_t>(domains.size()));
  domains.emplace_back(domains[domain].node()).set_host_path(domain);
}

void check_node(const State& s, NodeId node) {
  if (node >= s.hosts.size()) throw std::invalid_argument(fmt::format("there is no node {}", node));
}

}  // namespace loco::nic
