#include "nic_model/engine/kernel.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>
#include <string>

#include "sim/id_format.hpp"

namespace loco::nic {

namespace {

/// Has a policy of the reliable queue pairs that there may be such a property?
template <class Holds>
bool any_policy(const SystemConfig& c, const Holds& holds) {
  return holds(reliable_policy(c.profile)) || std::ranges::any_of(c.transports, [&](const TransportOptions& t) {
           return holds(reliable_policy(with_transport(c.profile, t)));
         });
}
bool sprays(const DeliveryPolicy& policy) { return policy.paths.sprays(); }

/// True if packets of one flow may take several paths.
bool has_paths(const SystemConfig& c) {
  const fabric::Routing routing = c.network.options.routing;
  if (routing == fabric::Routing::ecmp && any_policy(c, sprays)) return true;
  return routing != fabric::Routing::deterministic && routing != fabric::Routing::ecmp;
}

/// True if packets can be lost or reordered.
bool can_lose(const SystemConfig& c) {
  if (c.profile.link_ideal) return false;
  const fabric::Options& o = c.network.options;
  return has_paths(c) || c.network.buffers_overflow() || o.loss != 0 || !c.network.losses.empty() ||
         !c.network.changes.empty();
}

/// True if all TLPs of a packet may be one step. They may not where each TLP is observed, waits for credits or for a
/// minimum distance, or may pass others; nor where PCIe takes no time, or packets are messages of any length.
bool has_bursts(const HardwareProfile& p) {
  return p.nic_word_order == WordOrder::ascending && p.faults.none() && p.pcie_rate.value != 0 &&
         p.pcie_posted_credits.count == 0 && p.pcie_write_interval.ps == 0 &&
         p.nic_stale_operands == StaleOperands::none;
}
/// Nor if several NICs write to one memory, because their TLPs have no order among them.
bool has_bursts(const SystemConfig& c) {
  const HostsConfig& hosts = c.hosts;
  const auto all = [](const auto& values, const auto& holds) { return std::ranges::all_of(values, holds); };
  return c.timed && !c.witness && c.network.model == fabric::Model::packet && has_bursts(c.profile) &&
         all(hosts.hardware, [](const HardwareProfile& p) { return has_bursts(p); }) &&
         all(hosts.of, [](const HostConfig& h) { return h.nics == 1 && h.ports == 1; });
}

/// Each host needs a NIC and a known, valid profile that agrees with the other profiles.
void check_hosts(const SystemConfig& c) {
  if (c.hosts.of.empty()) return;
  if (c.hosts.of.size() != c.nodes)
    throw std::invalid_argument(fmt::format("{} hosts are described, the system has {}", c.hosts.of.size(), c.nodes));
  for (const HardwareProfile& p : c.hosts.hardware) {
    if (const std::string error = p.validate(); !error.empty()) throw std::invalid_argument(error);
    if (const std::string_view key = differs_in(c.profile, p); !key.empty())
      throw std::invalid_argument(fmt::format("{} must be the same on all hosts", key));
  }
  for (const HostId node : c.hosts.of.ids()) {
    const HostConfig& host = c.hosts.of[node];
    if (host.hardware > c.hosts.hardware.size()) throw std::invalid_argument("a host has hardware that is not there");
    if (const std::string error = validate(host); !error.empty()) throw std::invalid_argument(error);
    if (host.sockets.count > 1 && c.hosts.profile(c.profile, node).pcie_remote_numa)
      throw std::invalid_argument(
          "pcie.remote_numa is of hosts with one socket: with several the region says whose memory it is in");
  }
}

/// Transports beside the hardware's.
void check_transports(const SystemConfig& c) {
  if (c.transports.size() > kTransportsMost) throw std::invalid_argument("a run has at most 64 transports of its own");
  for (const TransportOptions& t : c.transports)
    if (const std::string error = with_transport(c.profile, t).validate(); !error.empty())
      throw std::invalid_argument(error);
  if (!c.transports.empty() && c.network.model == fabric::Model::flow)
    throw std::invalid_argument("in the flow model all queue pairs have one transport");
}

SystemConfig checked(const SystemConfig& config) {
  if (const std::string error = config.profile.validate(); !error.empty()) throw std::invalid_argument(error);
  check_hosts(config);
  check_transports(config);
  if (const std::string_view error = fabric_config(config).validate(); !error.empty()) {
    throw std::invalid_argument(std::string(error));
  }
  std::vector<fabric::CongestionAlgorithm> algorithms = {config.network.options.algorithm()};
  for (const fabric::CongestionSettings& settings : config.congestion) algorithms.push_back(settings.algorithm);
  const bool by_answers = std::ranges::any_of(algorithms, [](auto a) { return needs_answers(a); });
  const auto spares_answers = [](const HardwareProfile& p) { return p.nic_ack_coalescing > 1; };
  if (by_answers && (spares_answers(config.profile) || std::ranges::any_of(config.hosts.hardware, spares_answers))) {
    throw std::invalid_argument(
        "congestion.algorithm hpcc, timely, swift and nscc need an answer a packet: nic.ack_coalescing 1, or 0 to have "
        "it set");
  }
  if (by_answers && config.profile.link_rate.value == 0) {
    throw std::invalid_argument("congestion.algorithm hpcc, timely, swift and nscc need links with a rate");
  }
  SystemConfig c = config;
  for (HardwareProfile& p : c.hosts.hardware) {  // fields of the network and the experiment are the same for all
    p.link_delay = c.profile.link_delay;
    p.link_mtu = c.profile.link_mtu;
    p.link_overhead = c.profile.link_overhead;
    p.switch_latency = c.profile.switch_latency;
    p.faults = c.profile.faults;
    p.transport = c.profile.transport;
  }
  const bool several_ports = std::ranges::any_of(config.hosts.of, [](const HostConfig& h) { return h.ports > 1; });
  if (several_ports && (config.network.model == fabric::Model::flow || config.profile.link_ideal))
    throw std::invalid_argument("NICs with several ports need links: fabric.model: packet, and no link.ideal");
  const Faults& faults = config.profile.faults;
  const bool when_whole = any_policy(config, [](const DeliveryPolicy& policy) { return policy.order.when_whole; });
  if (when_whole && (faults.has(Fault::responder_reorders) || faults.has(Fault::early_write_completion) ||
                     faults.has(Fault::atomic_replayed))) {
    throw std::invalid_argument(
        "faults responder_reorders, early_write_completion and atomic_replayed are of connections: transport rc, or "
        "uet with mode rod");
  }
  if (when_whole && config.network.model == fabric::Model::flow) {
    throw std::invalid_argument(
        "the flow model has no packets to place as they come: transport rc, or uet with mode rod");
  }
  if (can_lose(config) && (faults.has(Fault::responder_reorders) || faults.has(Fault::early_write_completion))) {
    throw std::invalid_argument(
        "the faults responder_reorders and early_write_completion need a network that neither loses nor reorders");
  }
  return c;
}

}  // namespace

std::string_view differs_in(const HardwareProfile& common, const HardwareProfile& other) {
  using P = HardwareProfile;
  const auto differs = [&](auto P::*field) { return !(common.*field == other.*field); };
  if (differs(&P::link_ideal)) return "link.ideal";
  if (differs(&P::nic_placement)) return "nic.placement";
  if (differs(&P::nic_atomic_placement)) return "nic.atomic_placement";
  if (recovery_of(common.nic_recovery, common.nic_placement) != recovery_of(other.nic_recovery, other.nic_placement))
    return "nic.recovery";
  if (differs(&P::nic_reorder_tolerance)) return "nic.reorder_tolerance";
  if (differs(&P::nic_word_order)) return "nic.word_order";
  if (differs(&P::nic_word_unit)) return "nic.word_unit";
  if (differs(&P::nic_stale_operands)) return "nic.stale_operands";
  if (differs(&P::pcie_ordering_domain)) return "pcie.ordering_domain";
  if (differs(&P::pcie_read_ordering)) return "pcie.read_ordering";
  return {};
}

std::vector<NicPlace> further_nics(const HostsConfig& hosts) {
  std::uint32_t most = 1;
  for (const HostConfig& host : hosts.of) most = std::max(most, host.nics);
  std::vector<NicPlace> all;
  for (std::uint32_t index = 1; index < most; ++index) {
    for (const HostId host : hosts.of.ids())
      if (index < hosts.of[host].nics) all.push_back({host, index});
  }
  return all;
}

std::vector<PortPlace> further_ports(const HostsConfig& hosts, std::uint32_t nodes) {
  std::uint32_t most = 1;
  for (const HostConfig& host : hosts.of) most = std::max(most, host.ports);
  std::vector<PortPlace> all;
  if (most == 1) return all;
  const std::vector<NicPlace> further = further_nics(hosts);
  const auto nics = nodes + static_cast<std::uint32_t>(further.size());
  for (std::uint32_t index = 1; index < most; ++index) {
    for (const NicId nic : sim::IdRange<NicId>(nics))
      if (index < hosts.ports(nic.index() < nodes ? HostId(nic.index()) : further[nic.index() - nodes].host))
        all.push_back({nic, index});
  }
  return all;
}

std::vector<NicId> nics_of(const HostsConfig& hosts, std::uint32_t nodes, HostId host) {
  std::vector<NicId> all = {first_nic(host)};
  const std::vector<NicPlace> further = further_nics(hosts);
  for (std::size_t i = 0; i < further.size(); ++i)
    if (further[i].host == host) all.emplace_back(nodes + static_cast<std::uint32_t>(i));
  return all;
}

std::uint32_t count_ports(const HostsConfig& hosts, std::uint32_t nodes) {
  return nodes + static_cast<std::uint32_t>(further_nics(hosts).size() + further_ports(hosts, nodes).size());
}

std::vector<PortId> ports_of(const HostsConfig& hosts, std::uint32_t nodes, HostId host) {
  const std::vector<NicId> nics = nics_of(hosts, nodes, host);
  std::vector<PortId> all;
  for (const NicId nic : nics) all.push_back(first_port(nic));
  const std::vector<PortPlace> further = further_ports(hosts, nodes);
  const auto first = count_ports(hosts, nodes) - static_cast<std::uint32_t>(further.size());
  for (std::uint32_t i = 0; i < further.size(); ++i)
    if (std::ranges::find(nics, further[i].nic) != nics.end()) all.emplace_back(first + i);
  return all;
}

namespace {
/// `h0`, of several NICs `h0.1`, of several ports `h0.1.1`.
std::string name_of(const HostsConfig& hosts, HostId host, std::uint32_t nic, std::uint32_t port) {
  if (hosts.ports(host) > 1) return fmt::format("h{}.{}.{}", host, nic, port);
  return hosts.nics(host) == 1 ? std::string() : fmt::format("h{}.{}", host, nic);
}
/// What the ports have of their own, by their numbers.
std::vector<fabric::EndPoint> end_points(const SystemConfig& c) {
  std::vector<fabric::EndPoint> all;
  if (c.hosts.of.empty()) return all;
  const auto add = [&](HostId host, std::uint32_t index, std::uint32_t port) {
    const HardwareProfile& p = c.hosts.profile(c.profile, host);
    all.push_back({.name = name_of(c.hosts, host, index, port),
                   .loopback_latency = p.nic_loopback,
                   .delivery_latency = p.nic_receive,
                   .delivery_jitter = p.nic_jitter,
                   .rate = p.link_rate,
                   .gap = p.nic_packet_gap});
  };
  const std::vector<NicPlace> further = further_nics(c.hosts);
  for (const HostId host : c.hosts.of.ids()) add(host, 0, 0);
  for (const NicPlace& place : further) add(place.host, place.index, 0);
  for (const PortPlace& port : further_ports(c.hosts, c.nodes)) {
    const NicPlace nic =
        port.nic.index() < c.nodes ? NicPlace{HostId(port.nic.index()), 0} : further[port.nic.index() - c.nodes];
    add(nic.host, nic.index, port.index);
  }
  return all;
}
}  // namespace

fabric::Config fabric_config(const SystemConfig& c) {
  const HardwareProfile& p = c.profile;
  fabric::Config network = c.network;
  network.end_points = end_points(c);
  network.topology = p.link_ideal ? fabric::Topology::ideal : c.topology;
  network.nodes = network.end_points.empty() ? c.nodes : static_cast<std::uint32_t>(network.end_points.size());
  network.link_rate = p.link_rate;
  network.link_delay = p.link_delay;
  network.switch_latency = p.switch_latency;
  network.loopback_latency = p.nic_loopback;
  network.delivery_latency = p.nic_receive;
  network.delivery_jitter = p.nic_jitter;
  network.packets = {.mtu = p.link_mtu,
                     .overhead = p.link_overhead,
                     .reth_in_all = reliable_order(p).says_where,
                     .gap = p.nic_packet_gap};
  network.planes = any_policy(c, [](const DeliveryPolicy& policy) { return policy.order.writes_early; });
  network.sprays = any_policy(c, sprays);
  network.packet_max = p.link_mtu + p.link_overhead + sim::Bytes{fabric::kAtomicEthBytes};
  network.telemetry = network.telemetry || std::ranges::any_of(c.congestion, [](const auto& settings) {
                        return needs_telemetry(settings.algorithm);
                      });
  if (network.writes_telemetry()) {
    network.packet_max =
        network.packet_max + sim::Bytes{fabric::kTelemetryBytes + fabric::kTelemetryHops * fabric::kTelemetryHopBytes};
  }
  return network;
}

Kernel::Kernel(const SystemConfig& c)
    : config_(checked(c)),
      further_nics_(further_nics(c.hosts)),
      further_ports_(further_ports(c.hosts, c.nodes)),
      loses_packets_(can_lose(c)),
      bursts_(has_bursts(c)) {
  nics_ = c.nodes + static_cast<std::uint32_t>(further_nics_.size());
  if (!c.hosts.of.empty()) set_kinds();
  ranked_ = c.network.share.ranked;
  // Speculation compares what was read from the beginning on, and the stale-operand flaw depends on what was read last;
  // so both need words in order.
  any_word_order_ = c.profile.nic_word_order == WordOrder::any &&
                    c.profile.pcie_read_ordering != ReadOrdering::speculative &&
                    c.profile.nic_stale_operands == StaleOperands::none;
  // A packet of one word would cost as much as any other packet, so words travel alone only where packets are free.
  const HardwareProfile& p = c.profile;
  const bool free =
      p.pcie_rate.value == 0 && p.nic_transmit.ps == 0 && p.nic_receive.ps == 0 && p.nic_packet_gap.ps == 0;
  const bool overtakes = any_policy(c, [](const DeliveryPolicy& policy) { return policy.order.overtakes(); });
  words_travel_alone_ = any_word_order_ && free && p.link_ideal && !overtakes && p.faults.none() &&
                        c.network.model == fabric::Model::packet;
  const bool flows = c.network.model == fabric::Model::flow;  // their events are elsewhere, so time must not run ahead
  times_ports_ = c.timers && !c.profile.link_ideal && !flows;
  // At most what one hop takes for a whole packet, as if the packet had taken other switches than those before it.
  if (!c.profile.link_ideal) {
    packet_spread_ = c.profile.link_delay + c.profile.switch_latency +
                     sim::transmission_time(c.profile.link_mtu + c.profile.link_overhead, c.profile.link_rate);
  }
  const bool drops = loses_packets_ && c.network.has(fabric::FlowControl::drop_tail);
  in_time_ = c.timed || c.timers;  // elsewhere a window would impose an order on packets that nothing guarantees
  drops_in_time_ = in_time_ && drops;
  datagrams_overtake_ = c.profile.link_ideal && !in_time_;
  for (const NicId nic : all_nics()) {
    windows_ =
        windows_ || (in_time_ && (lossy_timeout(nic).ps > 0 || slow_restarts(nic) ||
                                  profile(nic).nic_tx_window.count > 0 || profile(nic).nic_slow_restart_idle.ps > 0));
  }
  // With these faults each answer is for its own work request, so no answer says how far a window has advanced.
  const Faults& faults = c.profile.faults;
  if (faults.has(Fault::responder_reorders) || faults.has(Fault::early_write_completion)) windows_ = false;
  const fabric::Options& options = c.network.options;
  congestion_.push_back({options.algorithm(), options.dcqcn, options.congestion});
  congestion_.insert(congestion_.end(), c.congestion.begin(), c.congestion.end());
  for (fabric::CongestionSettings& settings : congestion_) {
    if (needs_answers(settings.algorithm) && !in_time_) settings.algorithm = fabric::CongestionAlgorithm::none;
    controls_ = controls_ || needs_answers(settings.algorithm);
  }
  const DeliveryNetwork network{.ideal = c.profile.link_ideal,
                                .loses = loses_packets_,
                                .has_paths = has_paths(c),
                                .any_order = options.order == fabric::PacketOrder::any,
                                .timers = times_ports_};
  for (const TransportRow& row : transports()) policies_.push_back(row.make(c.profile, network));
  for (const TransportOptions& own : c.transports) {
    const TransportRow& row = transports()[static_cast<std::size_t>(transport_of(QpType::rc, own))];
    policies_.push_back(row.make(with_transport(c.profile, own), network));
  }
}

/// NICs with equal profiles are of one kind.
void Kernel::set_kinds() {
  for (const NicId nic : all_nics()) {
    const HostId host = host_of(nic);
    HardwareProfile p = config_.hosts.profile(config_.profile, host);
    const HostConfig& described = config_.hosts.of[host];
    sim::Duration switches{};
    for (const std::uint32_t s : switches_above(described, described.switch_of(index_of(nic))))
      switches += switch_delay(described, p, s);
    p.pcie_upstream += switches;
    p.pcie_downstream += switches;
    auto kind = std::ranges::find(kinds_, p);
    if (kind == kinds_.end()) kind = kinds_.insert(kind, p);
    kind_of_.emplace_back(static_cast<std::uint16_t>(kind - kinds_.begin()));
  }
  for (const PortPlace& port : further_ports_) kind_of_.emplace_back(kind_of_[first_port(port.nic)]);
  alike_ = kinds_.size() == 1 && kinds_.front() == config_.profile;
}

std::uint8_t Kernel::policy_number(QpType type, std::uint8_t own) const {
  if (type != QpType::rc || own == 0) return static_cast<std::uint8_t>(transport_of(type, config_.profile.transport));
  if (own > config_.transports.size())
    throw std::invalid_argument("a queue pair has a transport that the system does not have");
  return static_cast<std::uint8_t>(kTransports + own - 1);
}

NicId Kernel::nic_of(HostId host, std::uint32_t index) const {
  if (index == 0) return first_nic(host);
  const auto found = std::ranges::find(further_nics_, NicPlace{host, index});
  if (found == further_nics_.end())
    throw std::invalid_argument(fmt::format("host {} has no NIC {}: it has {}", host, index, config_.hosts.nics(host)));
  return NicId(config_.nodes + static_cast<std::uint32_t>(found - further_nics_.begin()));
}

PortId Kernel::further_port(NicId nic, std::uint32_t index) const {
  const auto found = std::ranges::find(further_ports_, PortPlace{nic, index});
  if (found == further_ports_.end())
    throw std::invalid_argument(fmt::format("NIC {} of host {} has no port {}: it has {}", index_of(nic), host_of(nic),
                                            index, config_.hosts.ports(host_of(nic))));
  return PortId(nics() + static_cast<std::uint32_t>(found - further_ports_.begin()));
}

SubeventId Kernel::next_subevent() {
  if (subevents_ == 0xffffffffU) throw std::length_error("a run records at most 2^32 - 1 subevents");
  return ++subevents_;
}

void Kernel::absorb(const Kernel& part) {
  for (const NamedCounter& counter : kCounters) counters_.*counter.member += part.counters_.*counter.member;
  now_ = std::max(now_, part.now_);
}

bool Kernel::operator==(const Kernel& o) const {
  if (events_.size() != o.events_.size()) return false;
  for (std::size_t i = 0; i < events_.size(); ++i) {
    if (!(events_.pending(i) == o.events_.pending(i))) return false;
  }
  return config_.profile == o.config_.profile && config_.hosts == o.config_.hosts && config_.nodes == o.config_.nodes &&
         config_.witness == o.config_.witness && counters_ == o.counters_ && now_ == o.now_ && seq_ == o.seq_ &&
         subevents_ == o.subevents_;
}

}  // namespace loco::nic
