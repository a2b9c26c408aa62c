#include "loco_sim/scenario/pcie_tree.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <vector>

#include "loco_sim/scenario/network_parts.hpp"
#include "nic_model/profile_options.hpp"
#include "options/rows.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"

namespace loco::scenario {

namespace {

constexpr std::int64_t kGpusMost = 64;
constexpr std::size_t kSwitchesMost = 64;
constexpr std::int64_t kNameMost = 32;
constexpr std::array<std::string_view, 2> kDeviceKinds = {"gpu", "nic"};
constexpr std::array<std::string_view, 2> kForwarding = {"cut_through", "store_and_forward"};

constexpr auto kDeviceOptions = std::to_array<Option>({
    rows::choice("kind", kDeviceKinds, "gpu: GPUs, numbered in the order of the list. nic: the next NICs of the host."),
    rows::integer("count", 1, {1, kGpusMost}, "How many."),
    rows::text("switch", {1, kNameMost},
               "The PCIe switch that they are behind, by its name in pcie.switches; without these by any name or "
               "number. Left out: each is at a root port."),
    rows::integer("socket", {0, nic::kSocketsMost - 1}, "At a root port: whose; the first socket's when left out."),
    rows::integer("pcie.generation", {1, 6}, "gpu: of its PCIe link; the NIC's when left out."),
    rows::integer("pcie.lanes", {1, 16}, "gpu: width of its PCIe link."),
});

constexpr auto kSwitchOptions = std::to_array<Option>({
    rows::text("name", {1, kNameMost}, "By which devices and other switches name it."),
    rows::text("switch", {1, kNameMost}, "The switch that it is behind; left out: it is at a root port."),
    rows::integer("socket", {0, nic::kSocketsMost - 1}, "At a root port: whose; the first socket's when left out."),
    rows::integer("generation", {1, 6}, "Of the link above it; the NIC's when left out."),
    rows::integer("lanes", {1, 16}, "Width of that link."),
    rows::rate("rate", rows::kAny,
               "What that link carries of TLPs, each way, in place of generation and lanes; 0: no limit."),
    rows::duration("delay", {0, 1'000'000'000},
                   "What a TLP takes through the switch; hardware.pcie.switch when left out."),
    rows::size("credits", rows::kAny,
               "Bytes of writes that the far end of its link has room for; no limit when left out."),
    rows::choice(
        "forwarding", kForwarding,
        "cut_through: it passes a TLP on as it comes (when left out). store_and_forward: once all of it has come."),
});

/// What a PCIe link of this generation and width carries; what is not given is as the NIC's.
sim::BitsPerSecond link_rate(nic::HardwareProfile nic, const Settings& s, const std::string& prefix) {
  constexpr std::string_view kSection = "pcie.";
  for (const Option& option : nic::profile_options()) {
    if (option.key != "pcie.generation" && option.key != "pcie.lanes") continue;
    std::string path = prefix + std::string(option.key);  // of a GPU; of a switch without the section
    if (given(s, path) == nullptr) path = prefix + std::string(option.key.substr(kSection.size()));
    const Value* const value = given(s, path);
    if (value == nullptr) continue;
    if (option.key == "pcie.lanes" && (value->number & (value->number - 1)) != 0)
      throw text::InputError(value->place, path, "1, 2, 4, 8 or 16", fmt::format("{}", value->number));
    nic::set_value(nic, option, value->number);
  }
  return nic.pcie_rate;
}

/// The switches of a host by name.
class Switches {
 public:
  explicit Switches(bool described) : described_(described) {}

  /// One that is described. Its number is that in HostConfig::switches.
  void add(const Value& name, const std::string& path) {
    if (find(name.text) != names_.end())
      throw text::InputError(name.place, path, "a name that no other switch has", text::in_quotes(name.text));
    names_.push_back(name.text);
  }
  /// Of that name. Where none is described, each name is a switch, and a number its own.
  std::uint32_t number_of(const Value& name, const std::string& path) {
    if (find(name.text) == names_.end()) {
      if (described_)
        throw text::InputError(name.place, path, fmt::format("a switch of pcie.switches: {}", fmt::join(names_, ", ")),
                               text::in_quotes(name.text));
      if (const auto number = text::parse_integer(name.text); number && *number >= 0 && *number < kFirstName)
        return static_cast<std::uint32_t>(*number);
      names_.push_back(name.text);
    }
    const auto number = static_cast<std::uint32_t>(find(name.text) - names_.begin());
    return described_ ? number : kFirstName + number;
  }

 private:
  [[nodiscard]] std::vector<std::string>::const_iterator find(const std::string& name) const {
    return std::ranges::find(names_, name);
  }
  static constexpr std::uint32_t kFirstName = 1001;  // behind the numbers

  bool described_;
  std::vector<std::string> names_;
};

/// Where something is in the tree: behind a switch, or at a socket's root port.
struct Place {
  std::uint32_t pcie_switch = nic::kRootPort;
  std::uint32_t socket = 0;
};
Place read_place(const Settings& s, const std::string& prefix, const nic::HostConfig& host, Switches& switches) {
  Place place;
  const Value* const behind = given(s, prefix + "switch");
  const Value* const socket = given(s, prefix + "socket");
  if (behind != nullptr) place.pcie_switch = switches.number_of(*behind, prefix + "switch");
  if (socket == nullptr) return place;
  if (behind != nullptr)
    throw text::InputError(socket->place, prefix + "socket", "a switch or a socket, not both",
                           fmt::format("{}", socket->number));
  if (socket->number >= host.sockets.count)
    throw text::InputError(socket->place, prefix + "socket",
                           fmt::format("a socket from 0 to {} (pcie.sockets)", host.sockets.count - 1),
                           fmt::format("{}", socket->number));
  place.socket = static_cast<std::uint32_t>(socket->number);
  return place;
}

/// Rate, credits and delay of a link; those that are not given stay as they are.
void read_link(const Settings& s, const std::string& prefix, nic::PcieLinkConfig& link,
               std::optional<sim::Duration>& delay) {
  take(s, prefix + "rate", link.rate);
  take(s, prefix + "credits", link.credits);
  take(s, prefix + "delay", delay);
}

nic::PcieSwitchConfig read_switch(const Settings& s, const std::string& prefix, const nic::HardwareProfile& nic,
                                  const nic::HostConfig& host, Switches& switches) {
  const Place place = read_place(s, prefix, host, switches);
  nic::PcieSwitchConfig one{.name = given(s, prefix + "name")->text,
                            .above = place.pcie_switch,
                            .socket = place.socket,
                            .link = {.rate = link_rate(nic, s, prefix)}};
  read_link(s, prefix, one.link, one.delay);
  take(s, prefix + "forwarding", one.store_and_forward);
  return one;
}

void read_switches(const yaml::Node& node, const std::string& path, const nic::HardwareProfile& nic,
                   nic::HostConfig& host, Switches& switches) {
  const std::vector<yaml::Node>& items = list(node, path, "PCIe switches");
  if (items.size() > kSwitchesMost)
    throw text::InputError(node.place, path, fmt::format("at most {} switches", kSwitchesMost),
                           fmt::format("{}", items.size()));
  const auto prefix = [&](std::size_t i) { return fmt::format("{}[{}].", path, i); };
  std::vector<Settings> all;
  for (std::size_t i = 0; i < items.size(); ++i) {
    all.push_back(read_settings(items[i], prefix(i), {{prefix(i), kSwitchOptions}}));
    const Value* const name = given(all[i], prefix(i) + "name");
    if (name == nullptr) refuse(items[i], fmt::format("{}[{}]", path, i), "a map with the key name");
    switches.add(*name, prefix(i) + "name");
  }
  for (std::size_t i = 0; i < items.size(); ++i)
    host.switches.push_back(read_switch(all[i], prefix(i), nic, host, switches));
  for (std::uint32_t i = 0; i < items.size(); ++i) {
    if (nic::switches_above(host, i).size() <= items.size()) continue;
    const Value& above = *given(all[i], prefix(i) + "switch");
    throw text::InputError(above.place, prefix(i) + "switch", "a switch that is not behind this one in turn",
                           text::in_quotes(above.text));
  }
}

void read_sockets(const Settings& s, const std::string& prefix, nic::HostConfig& host) {
  const auto value = [&](const char* key) { return given(s, prefix + "pcie." + key); };
  take(s, prefix + "pcie.sockets", host.sockets.count);
  for (const char* key : {"socket_link.rate", "socket_link.delay", "socket_link.credits", "memory_order"}) {
    if (const Value* v = value(key); v != nullptr && host.sockets.count == 1)
      throw text::InputError(v->place, prefix + "pcie." + key, "pcie.sockets: 2 or more", "one socket");
  }
  read_link(s, prefix + "pcie.socket_link.", host.sockets.link, host.sockets.delay);
  take(s, prefix + "pcie.memory_order", host.sockets.order);
}

/// The GPUs of a host and the places of its NICs. How many NICs the list names is returned.
std::uint32_t read_devices(const yaml::Node& node, const std::string& path, const nic::HardwareProfile& nic,
                           nic::HostConfig& host, Switches& switches) {
  std::uint32_t nics = 0;
  const std::vector<yaml::Node>& items = list(node, path, "GPUs and NICs");
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string prefix = fmt::format("{}[{}].", path, i);
    const Settings s = read_settings(items[i], prefix, {{prefix, kDeviceOptions}});
    const Value* const kind = given(s, prefix + "kind");
    if (kind == nullptr) refuse(items[i], prefix.substr(0, prefix.size() - 1), "a map with the key kind: gpu or nic");
    const Place place = read_place(s, prefix, host, switches);
    const bool gpu = kind->text == "gpu";
    const sim::BitsPerSecond rate = link_rate(nic, s, prefix);
    if (const yaml::Node* pcie = items[i].find("pcie"); pcie != nullptr && !gpu)
      throw text::InputError(pcie->place, prefix + "pcie", "none for NICs, whose link is their hardware's", "one");
    const auto count = static_cast<std::size_t>(s.find(prefix + "count")->second.number);
    if (gpu) {
      host.gpus.insert(host.gpus.end(), count, {place.pcie_switch, rate, place.socket});
    } else {
      host.nic_switches.insert(host.nic_switches.end(), count, place.pcie_switch);
      host.nic_sockets.insert(host.nic_sockets.end(), count, place.socket);
      nics += static_cast<std::uint32_t>(count);
    }
  }
  if (host.gpus.size() > static_cast<std::size_t>(kGpusMost))
    throw text::InputError(node.place, path, fmt::format("at most {} GPUs", kGpusMost),
                           fmt::format("{}", host.gpus.size()));
  return nics;
}

}  // namespace

std::span<const Option> device_options() { return kDeviceOptions; }
std::span<const Option> switch_options() { return kSwitchOptions; }

std::uint32_t read_pcie_tree(const yaml::Node& entry, const std::string& prefix, const Settings& s,
                             const nic::HardwareProfile& nic, nic::HostConfig& host) {
  read_sockets(s, prefix, host);
  const yaml::Node* const pcie = entry.find("pcie");
  const yaml::Node* const described = pcie == nullptr ? nullptr : pcie->find("switches");
  Switches switches(described != nullptr);
  if (described != nullptr) read_switches(*described, prefix + "pcie.switches", nic, host, switches);
  if (host.sockets.count > 1 && nic.pcie_remote_numa)
    throw text::InputError(pcie->place, prefix + "pcie.sockets",
                           "hardware without pcie.remote_numa, which is of hosts with one socket",
                           fmt::format("{}", host.sockets.count));
  const yaml::Node* const devices = entry.find("devices");
  return devices == nullptr ? 0 : read_devices(*devices, prefix + "devices", nic, host, switches);
}

}  // namespace loco::scenario
