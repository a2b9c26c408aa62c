#include "nic_model/state.hpp"

#include <fmt/format.h>
#include <stdexcept>

namespace loco::nic {

State::State(const SystemConfig& c)
    : kernel(c),
      network(fabric::make_network(fabric_config(c))),
      processes(c.nodes),
      paths(kernel),
      tree_links(make_tree_links(kernel)) {
  const bool of_nic = c.profile.pcie_ordering_domain == OrderingDomain::nic;
  for (std::uint32_t host = 0; host < c.nodes; ++host) {
    memories.emplace_back(c.witness);
  }
  for (const NicId nic : kernel.all_nics()) {
    hosts.emplace_back();
    atomics.emplace_back();
    links.emplace_back(kernel.profile(nic));
    caches.emplace_back(kernel.profile(nic));
    if (of_nic) domains.emplace_back(nic);
  }
  for (const NicId nic : kernel.all_nics()) {
    if (!of_nic) break;
    const HardwareProfile& p = kernel.profile(nic);
    hosts[nic].set_first_domain(static_cast<std::uint32_t>(domains.size()));
    for (std::uint32_t other = 1; p.splits_writes() && other < p.pcie_functions; ++other) domains.emplace_back(nic);
  }
  for (std::uint32_t domain = 0, end = static_cast<std::uint32_t>(domains.size()); domain < end; ++domain)
    add_paths(domain);
  ports.resize(kernel.ports());
  ack_timers.resize(kernel.ranked() ? kernel.nics() : 1);
  receive_buffers = make_receive_buffers(kernel, *network);
  network->start(kernel.events());
}

void State::add_paths(std::uint32_t domain) {
  const NicId nic = domains[domain].node();
  if (kernel.profile(nic).nic_device_own_path) {
    domains[domain].set_device_path(static_cast<std::uint32_t>(domains.size()));
    domains.emplace_back(nic, false).set_host_path(domain);
  }
  const HostsConfig& hosts_of = kernel.config().hosts;
  if (hosts_of.of.empty()) return;
  if (hosts[first_nic(kernel.host_of(nic))].shares_device_memory()) add_nic_paths(domain);
  const HostConfig& host = hosts_of.of[kernel.host_of(nic)];
  const std::uint32_t sockets = host.sockets.order == MemoryOrder::each ? host.sockets.count - 1 : 0;
  const auto gpus = static_cast<std::uint32_t>(host.gpus.size());
  if (sockets + gpus == 0) return;
  domains[domain].set_memory_paths(static_cast<std::uint32_t>(domains.size()), sockets, gpus);
  for (std::uint32_t memory = 0; memory < sockets + gpus; ++memory) domains.emplace_back(nic, false);
}

void State::add_nic_paths(std::uint32_t domain) {
  const NicId nic = domains[domain].node();
  const std::uint32_t nics = kernel.config().hosts.nics(kernel.host_of(nic));
  domains[domain].set_nic_paths(static_cast<std::uint32_t>(domains.size()), nics, kernel.index_of(nic));
  for (std::uint32_t other = 1; other < nics; ++other) domains.emplace_back(nic, false);
}

void State::reach_nics(HostId host) {
  Host& first = hosts[first_nic(host)];
  if (kernel.config().hosts.nics(host) == 1 || first.shares_device_memory()) return;
  first.share_device_memory();
  paths.reach_nics(kernel, host);
  for (std::uint32_t domain = 0, end = static_cast<std::uint32_t>(domains.size()); domain < end; ++domain)
    if (domains[domain].is_stream() && kernel.host_of(domains[domain].node()) == host) add_nic_paths(domain);
}

HostId checked_host(const State& s, NodeId node) {
  const HostId host(node);
  if (!s.memories.has(host)) throw std::invalid_argument(fmt::format("there is no node {}", node));
  return host;
}

}  // namespace loco::nic
