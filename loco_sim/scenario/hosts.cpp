#include "loco_sim/scenario/hosts.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "loco_sim/scenario/hardware.hpp"
#include "loco_sim/scenario/network_parts.hpp"
#include "loco_sim/scenario/pcie_tree.hpp"
#include "options/rows.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"

namespace loco::scenario {

namespace {

constexpr std::int64_t kNicsMost = 64;

constexpr std::array<std::string_view, 2> kMemoryOrders = {"one", "each"};

constexpr auto kHostOptions = std::to_array<Option>({
    rows::list("nodes",
               "Which hosts: numbers and ranges, such as [0, 4-7]; all when left out. Each host is in one entry."),
    rows::map("hardware",
              "Their hardware, as the key of the whole scenario; that of the others when left out. Placement, recovery "
              "and word order of NICs, and links, are those of the others; a host's own cable has its NIC's rate."),
    rows::integer("nics", {1, kNicsMost}, "NICs of each, all alike."),
    rows::integer("ports", {1, nic::kPortsMost},
                  "Ports of each NIC, each with a cable of its own; 1 when left out. A queue pair is bound to one."),
    rows::list("pcie.switches",
               "PCIe switches, each with the link above it: a list of {name: a, generation: 4, lanes: 16} and {name: "
               "b, switch: a}. Devices name those that they are behind."),
    rows::integer("pcie.sockets", {1, nic::kSocketsMost},
                  "Root complexes, each with memory of its own (a NUMA node); 1 when left out."),
    rows::rate("pcie.socket_link.rate", rows::kAny,
               "Of the link between two sockets, each way; no limit when left out."),
    rows::duration("pcie.socket_link.delay", {0, 1'000'000'000},
                   "What an access to another socket's memory takes longer; hardware.pcie.numa_penalty when left out."),
    rows::size("pcie.socket_link.credits", rows::kAny,
               "Bytes of writes that its far end has room for; no limit when left out."),
    rows::choice("pcie.memory_order", kMemoryOrders,
                 "one: a NIC's writes to the memories of several sockets keep their order (when left out). each: those "
                 "to one socket's memory do."),
    rows::list("devices",
               "What else is on PCIe, and behind which switch: a list of {kind: gpu, count: 8, switch: 0, pcie: "
               "{generation: 5, lanes: 16}} and {kind: nic, count: 2, switch: 0}."),
});

std::pair<std::uint32_t, std::uint32_t> range_of(const yaml::Node& node, const std::string& path, std::uint32_t hosts) {
  return host_range(node, path, hosts, fmt::format("hosts from 0 to {}: a number, or a range such as 0-1", hosts - 1));
}

/// The entry that describes each host; kNone: none so far.
class Taken {
 public:
  explicit Taken(std::uint32_t hosts) : entry_(hosts, kNone) {}

  /// Reads the hosts of an entry and assigns them to it.
  std::vector<nic::HostId> take(const yaml::Node& item, std::size_t entry) {
    const std::string path = fmt::format("hosts[{}].nodes", entry);
    const yaml::Node* const nodes = item.find("nodes");
    std::vector<nic::HostId> hosts;
    const auto add = [&](const yaml::Node& node, NodeId first, NodeId last) {
      for (NodeId host = first; host <= last; ++host) {
        if (entry_[host] != kNone)
          throw text::InputError(node.place, path, "hosts that no other entry has",
                                 fmt::format("host {}, which is in hosts[{}]", host, entry_[host]));
        entry_[host] = entry;
        hosts.emplace_back(host);
      }
    };
    const auto count = static_cast<std::uint32_t>(entry_.size());
    if (nodes == nullptr) {
      add(item, 0, count - 1);
    } else if (nodes->kind == yaml::Node::Kind::list) {
      if (nodes->items.empty()) refuse(*nodes, path, "at least one host");
      for (const yaml::Node& one : nodes->items) {
        const auto [first, last] = range_of(one, path, count);
        add(one, first, last);
      }
    } else {
      const auto [first, last] = range_of(*nodes, path, count);
      add(*nodes, first, last);
    }
    return hosts;
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  std::vector<std::size_t> entry_;
};

/// The index of the entry's hardware among that of the scenario, where 0 is `hardware`.
std::uint32_t read_hardware_of(const yaml::Node& node, const std::string& path, const Settings& settings,
                               Scenario& out) {
  const Hardware hardware = read_hardware(node);
  for (const std::string& file : hardware.files) out.inputs.push_back({"hardware", file});
  nic::HardwareProfile p = hardware.profile;
  p.faults = out.hardware.faults;
  const auto rate = settings.find("fabric.link.rate");
  if (rate != settings.end() && rate->second.given) p.link_rate = out.hardware.link_rate;
  if (const std::string_view key = nic::differs_in(out.hardware, p); !key.empty())
    throw text::InputError(
        node.place, path,
        fmt::format("hardware with the {} of {}, as all NICs of a network have", key, out.hardware_name),
        hardware.name);
  if (p == out.hardware) return 0;
  const auto known = std::ranges::find(out.hosts.hardware, p);
  if (known != out.hosts.hardware.end()) return static_cast<std::uint32_t>(known - out.hosts.hardware.begin()) + 1;
  out.hosts.hardware.push_back(p);
  return static_cast<std::uint32_t>(out.hosts.hardware.size());
}

/// Hosts can have several NICs only in topologies that say where each NIC is.
void require_place_for_nics(const text::Place& place, const std::string& path, std::uint32_t nics,
                            const Settings& settings, const Scenario& out) {
  const Value& kind = settings.find("topology.kind")->second;
  const std::string_view name = kind.text;
  if (const auto* rails = std::get_if<fabric::topology::Rails>(&out.network.shape);
      rails != nullptr && out.network.flow.platform.empty()) {
    if (nics != rails->rails)
      throw text::InputError(place, path, fmt::format("{}, a NIC for each of topology.rails", rails->rails),
                             fmt::format("{}", nics));
    return;
  }
  if (nics == 1) return;
  if (!out.network.flow.platform.empty() || (name != "star" && name != "custom"))
    throw text::InputError(place, path, "1: hosts with several NICs are in topologies star, rails and custom",
                           fmt::format("{}", nics));
}

void require_place_for_ports(const Value& ports, const std::string& path, const Settings& settings,
                             const Scenario& out) {
  if (ports.number == 1) return;
  const std::string_view name = settings.find("topology.kind")->second.text;
  if (!out.network.flow.platform.empty() || (name != "star" && name != "custom"))
    throw text::InputError(ports.place, path, "1: NICs with several ports are in topologies star and custom",
                           fmt::format("{}", ports.number));
  if (out.network.model == fabric::Model::flow || out.hardware.link_ideal)
    throw text::InputError(ports.place, path, "1 without links that packets take (fabric.model: flow, link.ideal)",
                           fmt::format("{}", ports.number));
}

void read_entry(const yaml::Node& item, std::size_t entry, const Settings& settings, Taken& taken, Scenario& out) {
  const std::string prefix = fmt::format("hosts[{}].", entry);
  const Settings s = read_settings(item, prefix, {{prefix, kHostOptions}});
  const std::vector<nic::HostId> hosts = taken.take(item, entry);
  nic::HostConfig host{.nics = out.hosts.of[hosts.front()].nics};
  if (const yaml::Node* hardware = item.find("hardware"); hardware != nullptr)
    host.hardware = read_hardware_of(*hardware, prefix + "hardware", settings, out);
  const auto nics = s.find(prefix + "nics");
  if (nics != s.end()) host.nics = static_cast<std::uint32_t>(nics->second.number);
  const text::Place& place = nics != s.end() ? nics->second.place : item.place;
  const nic::HardwareProfile& p = host.hardware == 0 ? out.hardware : out.hosts.hardware[host.hardware - 1];
  const std::uint32_t named = read_pcie_tree(item, prefix, s, p, host);
  if (nics == s.end() && named > host.nics) host.nics = named;
  if (named > host.nics)
    throw text::InputError(item.find("devices")->place, prefix + "devices",
                           fmt::format("at most the {} NICs of the host", host.nics), fmt::format("{}", named));
  if (const Value* ports = given(s, prefix + "ports"); ports != nullptr) {
    host.ports = static_cast<std::uint32_t>(ports->number);
    require_place_for_ports(*ports, prefix + "ports", settings, out);
  }
  require_place_for_nics(place, prefix + "nics", host.nics, settings, out);
  for (const nic::HostId h : hosts) out.hosts.of[h] = host;
}

}  // namespace

std::span<const Option> host_options() { return kHostOptions; }

void read_hosts(const yaml::Node& node, const Settings& settings, Scenario& out) {
  const std::vector<yaml::Node>& items = list(node, "hosts", "hosts and what they have");
  if (out.hosts.of.empty()) out.hosts.of.resize(out.nodes);
  Taken taken(out.nodes);
  for (std::size_t i = 0; i < items.size(); ++i) read_entry(items[i], i, settings, taken, out);
  const bool alike = std::ranges::all_of(out.hosts.of, [](const nic::HostConfig& h) { return h == nic::HostConfig{}; });
  if (alike) out.hosts = {};
}

std::uint32_t ports(const Scenario& out) { return nic::count_ports(out.hosts, out.nodes); }

namespace {
/// `h0`, `h0.1`, `h0.1.1`; none: it names no port of a host.
std::optional<nic::PortId> port_named(const std::string& name, const Scenario& out) {
  std::vector<std::int64_t> numbers;
  if (!name.starts_with('h')) return std::nullopt;
  for (std::size_t at = 1; at <= name.size();) {
    const std::size_t dot = std::min(name.find('.', at), name.size());
    const std::optional<std::int64_t> number = text::parse_integer(name.substr(at, dot - at));
    if (!number || *number < 0) return std::nullopt;
    numbers.push_back(*number);
    at = dot + 1;
  }
  constexpr std::size_t kParts = 3;  // host, NIC, port
  if (numbers.empty() || numbers.size() > kParts || name.ends_with('.')) return std::nullopt;
  numbers.resize(kParts);
  if (numbers[0] >= out.nodes) return std::nullopt;
  const nic::HostId host(static_cast<std::uint32_t>(numbers[0]));
  if (numbers[1] >= out.hosts.nics(host) || numbers[2] >= out.hosts.ports(host)) return std::nullopt;
  const std::vector<nic::PortId> all = nic::ports_of(out.hosts, out.nodes, host);
  return all[static_cast<std::size_t>(numbers[2] * out.hosts.nics(host) + numbers[1])];
}
}  // namespace

fabric::topology::VertexId vertex(const yaml::Node& node, const std::string& path, const Scenario& out,
                                  std::uint32_t switches) {
  const std::uint32_t ends = ports(out);
  if (ends == out.nodes) return vertex(node, path, out.nodes, switches);
  if (node.kind == yaml::Node::Kind::scalar) {
    if (const auto port = port_named(node.text, out)) return port->index();
    const auto v = fabric::topology::vertex_of(node.text, out.nodes, switches);
    if (v && *v >= out.nodes) return *v - out.nodes + ends;
  }
  refuse(node, path,
         fmt::format("one of {} hosts (h0, h1, ...), NIC k of one (h0.k), port p of that (h0.k.p), or one of {} "
                     "switches (s0, s1, ...)",
                     out.nodes, switches));
}

}  // namespace loco::scenario
