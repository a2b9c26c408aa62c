#include "loco_sim/scenario/hosts.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string>
#include <utility>
#include <vector>

#include "loco_sim/scenario/hardware.hpp"
#include "loco_sim/scenario/network_parts.hpp"
#include "nic_model/profile_options.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"

namespace loco::scenario {

namespace {

constexpr std::int64_t kNicsMost = 64;
constexpr std::int64_t kGpusMost = 64;
constexpr std::array<std::string_view, 2> kDeviceKinds = {"gpu", "nic"};

constexpr auto kHostOptions = std::to_array<Option>({
    {.key = "nodes",
     .type = Type::list,
     .doc = "Which hosts: numbers and ranges, such as [0, 4-7]; all when left out. Each host is in one entry."},
    {.key = "hardware",
     .type = Type::map,
     .doc = "Their hardware, as the key of the whole scenario; that of the others when left out. Placement, recovery "
            "and word order of NICs, and links, are those of the others; a host's own cable has its NIC's rate."},
    {.key = "nics", .type = Type::integer, .least = 1, .most = kNicsMost, .doc = "NICs of each, all alike."},
    {.key = "devices",
     .type = Type::list,
     .doc = "What else is on PCIe, and behind which switch: a list of {kind: gpu, count: 8, switch: 0, pcie: "
            "{generation: 5, lanes: 16}} and {kind: nic, count: 2, switch: 0}."},
});

constexpr auto kDeviceOptions = std::to_array<Option>({
    {.key = "kind",
     .type = Type::choice,
     .choices = kDeviceKinds,
     .doc = "gpu: GPUs, numbered in the order of the list. nic: the next NICs of the host."},
    {.key = "count", .type = Type::integer, .fallback = 1, .least = 1, .most = kGpusMost, .doc = "How many."},
    {.key = "switch",
     .type = Type::integer,
     .most = 1'000,
     .doc = "The PCIe switch that they are behind, by any number; left out: each is at a root port."},
    {.key = "pcie.generation",
     .type = Type::integer,
     .least = 1,
     .most = 6,
     .doc = "gpu: of its PCIe link; the NIC's when left out."},
    {.key = "pcie.lanes", .type = Type::integer, .least = 1, .most = 16, .doc = "gpu: width of its PCIe link."},
});

std::pair<std::uint32_t, std::uint32_t> range_of(const yaml::Node& node, const std::string& path, std::uint32_t hosts) {
  return host_range(node, path, hosts, fmt::format("hosts from 0 to {}: a number, or a range such as 0-1", hosts - 1));
}

/// Which entry has each host; kNone: none yet.
class Taken {
 public:
  explicit Taken(std::uint32_t hosts) : entry_(hosts, kNone) {}

  /// The hosts of an entry; they are its own from now on.
  std::vector<NodeId> take(const yaml::Node& item, std::size_t entry) {
    const std::string path = fmt::format("hosts[{}].nodes", entry);
    const yaml::Node* const nodes = item.find("nodes");
    std::vector<NodeId> hosts;
    const auto add = [&](const yaml::Node& node, NodeId first, NodeId last) {
      for (NodeId host = first; host <= last; ++host) {
        if (entry_[host] != kNone)
          throw text::InputError(node.place, path, "hosts that no other entry has",
                                 fmt::format("host {}, which is in hosts[{}]", host, entry_[host]));
        entry_[host] = entry;
        hosts.push_back(host);
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

/// Its number among those of the scenario: 0 is `hardware`.
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

/// What a PCIe link of this generation and width carries; what is not given is as the NIC's.
sim::BitsPerSecond link_rate(nic::HardwareProfile nic, const Settings& s, const std::string& prefix) {
  for (const Option& option : nic::profile_options()) {
    if (option.key != "pcie.generation" && option.key != "pcie.lanes") continue;
    if (const auto given = s.find(prefix + std::string(option.key)); given != s.end())
      nic::set_value(nic, option, given->second.number);
  }
  return nic.pcie_rate;
}

/// The GPUs of a host and the switches of its NICs. How many NICs the list names is returned.
std::uint32_t read_devices(const yaml::Node& node, const std::string& path, const nic::HardwareProfile& nic,
                           nic::HostConfig& host) {
  std::vector<std::uint32_t> switches;
  const std::vector<yaml::Node>& items = list(node, path, "GPUs and NICs");
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string prefix = fmt::format("{}[{}].", path, i);
    const Settings s = read_settings(items[i], prefix, {{prefix, kDeviceOptions}});
    const auto kind = s.find(prefix + "kind");
    if (kind == s.end()) refuse(items[i], prefix.substr(0, prefix.size() - 1), "a map with the key kind: gpu or nic");
    const auto at = s.find(prefix + "switch");
    const std::uint32_t behind = at == s.end() ? nic::kRootPort : static_cast<std::uint32_t>(at->second.number);
    const std::int64_t count = s.find(prefix + "count")->second.number;
    const bool gpu = kind->second.text == "gpu";
    if (const auto lanes = s.find(prefix + "pcie.lanes");
        lanes != s.end() && (lanes->second.number & (lanes->second.number - 1)) != 0)
      throw text::InputError(lanes->second.place, prefix + "pcie.lanes", "1, 2, 4, 8 or 16",
                             fmt::format("{}", lanes->second.number));
    if (const yaml::Node* pcie = items[i].find("pcie"); pcie != nullptr && !gpu)
      throw text::InputError(pcie->place, prefix + "pcie", "none for NICs, whose link is their hardware's", "one");
    for (std::int64_t k = 0; k < count; ++k) {
      if (gpu)
        host.gpus.push_back({behind, link_rate(nic, s, prefix)});
      else
        switches.push_back(behind);
    }
  }
  if (host.gpus.size() > static_cast<std::size_t>(kGpusMost))
    throw text::InputError(node.place, path, fmt::format("at most {} GPUs", kGpusMost),
                           fmt::format("{}", host.gpus.size()));
  host.nic_switches = switches;
  return static_cast<std::uint32_t>(switches.size());
}

/// Topologies whose hosts can have several NICs say where each of them is.
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

void read_entry(const yaml::Node& item, std::size_t entry, const Settings& settings, Taken& taken, Scenario& out) {
  const std::string prefix = fmt::format("hosts[{}].", entry);
  const Settings s = read_settings(item, prefix, {{prefix, kHostOptions}});
  const std::vector<NodeId> hosts = taken.take(item, entry);
  nic::HostConfig host{.nics = out.hosts.of[hosts.front()].nics};
  if (const yaml::Node* hardware = item.find("hardware"); hardware != nullptr)
    host.hardware = read_hardware_of(*hardware, prefix + "hardware", settings, out);
  const auto nics = s.find(prefix + "nics");
  if (nics != s.end()) host.nics = static_cast<std::uint32_t>(nics->second.number);
  const text::Place& place = nics != s.end() ? nics->second.place : item.place;
  if (const yaml::Node* devices = item.find("devices"); devices != nullptr) {
    const nic::HardwareProfile& p = host.hardware == 0 ? out.hardware : out.hosts.hardware[host.hardware - 1];
    const std::uint32_t named = read_devices(*devices, prefix + "devices", p, host);
    if (nics == s.end() && named > host.nics) host.nics = named;
    if (named > host.nics)
      throw text::InputError(devices->place, prefix + "devices",
                             fmt::format("at most the {} NICs of the host", host.nics), fmt::format("{}", named));
  }
  require_place_for_nics(place, prefix + "nics", host.nics, settings, out);
  for (const NodeId h : hosts) out.hosts.of[h] = host;
}

}  // namespace

std::span<const Option> host_options() { return kHostOptions; }
std::span<const Option> device_options() { return kDeviceOptions; }

void read_hosts(const yaml::Node& node, const Settings& settings, Scenario& out) {
  const std::vector<yaml::Node>& items = list(node, "hosts", "hosts and what they have");
  if (out.hosts.of.empty()) out.hosts.of.resize(out.nodes);
  Taken taken(out.nodes);
  for (std::size_t i = 0; i < items.size(); ++i) read_entry(items[i], i, settings, taken, out);
  const bool alike = std::ranges::all_of(out.hosts.of, [](const nic::HostConfig& h) { return h == nic::HostConfig{}; });
  if (alike) out.hosts = {};
}

std::uint32_t nics(const Scenario& out) {
  return out.nodes + static_cast<std::uint32_t>(nic::further_nics(out.hosts).size());
}

fabric::topology::VertexId vertex(const yaml::Node& node, const std::string& path, const Scenario& out,
                                  std::uint32_t switches) {
  const std::uint32_t ends = nics(out);
  if (ends == out.nodes) return vertex(node, path, out.nodes, switches);
  const std::string& name = node.text;
  const std::size_t dot = name.find('.');
  const auto v = node.kind == yaml::Node::Kind::scalar
                     ? fabric::topology::vertex_of(name.substr(0, dot), out.nodes, switches)
                     : std::nullopt;
  const auto index =
      dot == std::string::npos ? std::optional<std::int64_t>(0) : text::parse_integer(name.substr(dot + 1));
  if (v && *v >= out.nodes && dot == std::string::npos) return *v - out.nodes + ends;
  if (v && *v < out.nodes && index && *index >= 0 && *index < out.hosts.nics(*v))
    return nic::nics_of(out.hosts, out.nodes, *v)[static_cast<std::size_t>(*index)];
  refuse(node, path,
         fmt::format("one of {} hosts (h0, h1, ...), NIC k of one (h0.k), or one of {} switches (s0, s1, ...)",
                     out.nodes, switches));
}

}  // namespace loco::scenario
