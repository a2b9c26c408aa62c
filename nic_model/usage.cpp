#include "nic_model/usage.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "fabric/packet_network.hpp"
#include "nic_model/pcie/bursts.hpp"
#include "nic_model/state.hpp"
#include "nic_model/system.hpp"

namespace loco::nic {

std::string limited_by(const std::vector<Usage>& busiest) {
  if (busiest.empty()) return {};
  const Usage& most = busiest.front();
  const std::string told = fmt::format("{} ({:.0f} %)", most.resource, std::min(most.share, 1.0) * 100);
  return something_limits(busiest) ? told : fmt::format("latency (the busiest: {})", told);
}

std::vector<Usage> System::usage(sim::Duration window, std::size_t most) const {
  if (window.ps <= 0) return {};
  std::vector<Usage> all;
  const auto add = [&](sim::Duration busy, const auto& resource) {
    if (busy.ps > 0) all.push_back({resource(), static_cast<double>(busy.ps) / static_cast<double>(window.ps)});
  };
  const State& s = *state_;
  Engine engine(state_->units(), nullptr);
  settle_all(engine);
  for (std::size_t n = 0; n < s.hosts.size(); ++n) {
    const auto of_node = [n](const char* what) { return [n, what] { return fmt::format("{} of node {}", what, n); }; };
    add(s.links[n].busy_up(), of_node("PCIe upstream"));
    add(s.links[n].busy_down(), of_node("PCIe downstream"));
    add(s.ports[n].busy_pipeline(), of_node("packet pipeline of the NIC"));
    add(s.ports[n].busy_buffer(), of_node("packet buffer of the NIC"));
    add(s.atomics[n].busy(),
        of_node(s.kernel.profile().nic_atomic_banks == 1 ? "atomic unit of the NIC" : "a bank of atomics of the NIC"));
    if (const std::uint32_t units = s.kernel.profile().nic_units; units > 0)
      add({s.caches[n].busy_units().ps / units}, of_node("processing units of the NIC"));
  }
  for (std::size_t t = 0; t < s.threads.size(); ++t)
    add(s.threads[t].busy(), [&] { return fmt::format("CPU thread {} of node {}", t, s.threads[t].node()); });
  for (std::size_t q = 0; q < s.contexts.size(); ++q) {
    const auto gap = [&] { return fmt::format("start gap of queue pair {} of node {}", q, s.connections[q].node()); };
    add(s.contexts[q].gap_busy(), gap);
    const auto answers = [&] {
      return fmt::format("READ answers of queue pair {} of node {}", q, s.connections[q].node());
    };
    add(s.contexts[q].answers_busy(), answers);
  }
  const fabric::PacketNetwork* const network = s.network->packet_network();
  for (fabric::topology::LinkId l = 0; network != nullptr && l < network->links(); ++l) {
    const auto link = [&] {
      const fabric::topology::Topology& graph = network->graph();
      return fmt::format("link {} to {}", graph.name(graph.links()[l].from), graph.name(graph.links()[l].to));
    };
    add(network->counters(l).busy, link);
  }
  const auto count = static_cast<std::ptrdiff_t>(std::min(most, all.size()));
  std::partial_sort(all.begin(), all.begin() + count, all.end(),
                    [](const Usage& a, const Usage& b) { return a.share > b.share; });
  all.resize(static_cast<std::size_t>(count));
  return all;
}

}  // namespace loco::nic
