#include "nic_model/usage.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "fabric/packet_network.hpp"
#include "nic_model/pcie/bursts.hpp"
#include "nic_model/state.hpp"
#include "nic_model/system.hpp"
#include "sim/id_format.hpp"

namespace loco::nic {

std::string limited_by(const std::vector<Usage>& busiest) {
  if (busiest.empty()) return {};
  const Usage& most = busiest.front();
  const std::string told = fmt::format("{} ({:.0f} %)", most.resource, std::min(most.share, 1.0) * 100);
  return something_limits(busiest) ? told : fmt::format("latency (the busiest: {})", told);
}

namespace {

/// Collects the greatest shares of a time, `most` of them: of queue pairs there can be millions, and each has several.
class Shares {
 public:
  Shares(sim::Duration window, std::size_t most) : window_(window), most_(most) {}

  /// A resource that carries one thing after the other.
  template <class Name>
  void serial(sim::Duration busy, const Name& name) {
    add(busy, name, 0);
  }
  /// A resource with a bounded number of things in flight, or a wait for one of them. It is also exhausted if a
  /// resource behind it is never idle, in which case more of it would not help; so its share is ranked slightly lower.
  template <class Name>
  void window(sim::Duration busy, const Name& name) {
    add(busy, name, kLess);
  }

  /// The greatest share first; of equal ones that which was added first.
  std::vector<Usage> take() {
    std::vector<Usage> out;
    for (Ranked& ranked : best_) out.push_back(std::move(ranked.usage));
    return out;
  }

 private:
  static constexpr double kLess = 0.04;
  struct Ranked {
    Usage usage;
    double rank = 0;
  };

  template <class Name>
  void add(sim::Duration busy, const Name& name, double less) {
    if (busy.ps <= 0) return;
    const double share = static_cast<double>(busy.ps) / static_cast<double>(window_.ps);
    const double rank = std::min(share, 1.0) - less;
    const auto behind = std::upper_bound(best_.begin(), best_.end(), rank,
                                         [](double r, const Ranked& other) { return r > other.rank; });
    if (behind == best_.end() && best_.size() >= most_) return;
    best_.insert(behind, {{name(), share}, rank});
    if (best_.size() > most_) best_.pop_back();
  }

  sim::Duration window_;
  std::size_t most_;
  std::vector<Ranked> best_;
};

void add_nic(Shares& shares, const State& s, NicId nic) {
  const HardwareProfile& p = s.kernel.profile(nic);
  const HostId host = s.kernel.host_of(nic);
  const std::string place = s.kernel.config().hosts.nics(host) == 1
                                ? fmt::format("node {}", host)
                                : fmt::format("node {}, NIC {}", host, s.kernel.index_of(nic));
  const auto of_node = [&place](const char* what) {
    return [&place, what] { return fmt::format("{} of {}", what, place); };
  };
  const PcieLink& link = s.links[nic];
  shares.serial(link.busy_up(), of_node("PCIe upstream"));
  shares.serial(link.busy_down(), of_node("PCIe downstream"));
  shares.serial(link.busy_commits(), of_node("commits of PCIe writes in order (pcie.write_interval)"));
  shares.serial(link.busy_issue(), of_node("DMA engine (pcie.read_interval)"));
  shares.serial(s.ports[first_port(nic)].busy_pipeline(), of_node("packet pipeline of the NIC"));
  shares.serial(s.atomics[nic].busy(),
                of_node(p.nic_atomic_banks == 1 ? "atomic unit of the NIC" : "a bank of atomics of the NIC"));
  // The first of these is what the others wait for.
  shares.window(link.walks().busy(), of_node("table walks of the IOMMU (pcie.iommu_walks)"));
  shares.window(link.context_fetches().busy(), of_node("context fetches (nic.context_fetches) of the NIC"));
  shares.window(link.posted_credits().busy(), of_node("PCIe credits for writes (pcie.posted_credits)"));
  shares.window(link.nonposted_credits().busy(), of_node("PCIe credits for reads (pcie.nonposted_credits)"));
  shares.window(link.completion_credits().busy(), of_node("PCIe credits for read data (pcie.completion_credits)"));
  shares.window(link.tags().busy(), of_node("PCIe tags (pcie.tags)"));
  if (p.nic_units > 0) {
    shares.window({s.caches[nic].busy_units().ps / p.nic_units}, of_node("processing units of the NIC"));
  }
}

std::string text_of(const State& s, const TreeLink& link, LinkWay way) {
  const TreeLinkName& name = link.name();
  const bool up = way == LinkWay::up;
  switch (name.kind) {
    case TreeLinkName::Kind::of_gpu:
      return fmt::format("PCIe {} memory of GPU {} of node {}", up ? "reads from" : "writes to", name.number,
                         name.host);
    case TreeLinkName::Kind::sockets:
      return fmt::format("link from socket {} to socket {} of node {}", up ? name.number : name.other,
                         up ? name.other : name.number, name.host);
    case TreeLinkName::Kind::above_switch:
      break;
  }
  const std::string& given = s.kernel.config().hosts.of[name.host].switches[name.number].name;
  return fmt::format("PCIe {} of switch {} of node {}", up ? "upstream" : "downstream",
                     given.empty() ? fmt::to_string(name.number) : given, name.host);
}

void add_tree_link(Shares& shares, const State& s, const TreeLink& link) {
  for (const LinkWay way : {LinkWay::down, LinkWay::up}) {
    shares.serial(link.busy(way), [&s, &link, way] { return text_of(s, link, way); });
    shares.window(link.busy_credits(way), [&s, &link, way] { return "credits of the " + text_of(s, link, way); });
  }
}

void add_queue_pair(Shares& shares, const State& s, std::size_t q) {
  const auto of_pair = [&s, q](const char* what) {
    return [&s, q, what] {
      return fmt::format("{} of queue pair {} of node {}", what, q, s.kernel.host_of(s.connections[q].node()));
    };
  };
  const NicContext& context = s.contexts[q];
  shares.serial(context.gap_busy(), of_pair("start gap"));
  shares.serial(s.kernel.profile(s.connections[q].node()).nic_unit_time * std::int64_t{context.units()},
                of_pair("processing unit (nic.unit_time)"));
  shares.serial(context.answers_busy(), of_pair("READ answers"));
  shares.window(context.waited(s.kernel.now()), of_pair("READs and atomics outstanding (nic.max_rd_atomic)"));
}

}  // namespace

std::vector<Usage> System::usage(sim::Duration window, std::size_t most) const {
  if (window.ps <= 0) return {};
  Shares shares(window, most);
  const State& s = *state_;
  Engine engine(state_->units(), nullptr);
  settle_all(engine);
  for (const NicId nic : s.links.ids()) add_nic(shares, s, nic);
  for (const TreeLink& link : s.tree_links) add_tree_link(shares, s, link);
  for (std::size_t t = 0; t < s.threads.size(); ++t) {
    shares.serial(s.threads[t].busy(), [&] { return fmt::format("CPU thread {} of node {}", t, s.threads[t].node()); });
  }
  for (std::size_t q = 0; q < s.contexts.size(); ++q) add_queue_pair(shares, s, q);
  const fabric::PacketNetwork* const network = s.network->packet_network();
  for (fabric::topology::LinkId l = 0; network != nullptr && l < network->links(); ++l) {
    const auto link = [&] {
      const fabric::topology::Topology& graph = network->graph();
      return fmt::format("link {} to {}", graph.name(graph.links()[l].from), graph.name(graph.links()[l].to));
    };
    shares.serial(network->counters(l).busy, link);
  }
  return shares.take();
}

}  // namespace loco::nic
