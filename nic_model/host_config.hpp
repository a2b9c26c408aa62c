// What hosts have that the common hardware does not say: NICs, GPUs, and the PCIe tree that these are in.
//
// The tree is that of the PCIe base specification, 1.3: root complexes, one a socket, switches below them, devices at
// the ends. Every edge is a link with a rate, credits and a delay of its own. Memory is in the tree, too: a socket's
// behind its root complex, a GPU's behind the GPU's link. A plain value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nic_model/profile.hpp"
#include "nic_model/verbs.hpp"
#include "sim/time.hpp"

namespace loco::nic {

/// No PCIe switch: a device at a root port of its own.
inline constexpr std::uint32_t kRootPort = 0xffffffffU;
inline constexpr std::uint32_t kSocketsMost = 8;
inline constexpr std::uint32_t kPortsMost = 8;

/// A link of the tree.
struct PcieLinkConfig {
  sim::BitsPerSecond rate{};  ///< of TLP bytes, each way; 0: no limit
  sim::Bytes credits{0};      ///< payload of posted writes that its far end has room for; 0: no limit

  bool operator==(const PcieLinkConfig&) const = default;
};

/// A switch, with the link above it.
struct PcieSwitchConfig {
  std::string name{};                    ///< in reports; its number when empty
  std::uint32_t above = kRootPort;       ///< the switch that it is behind, in HostConfig::switches
  std::uint32_t socket = 0;              ///< behind none: whose root complex it is at
  PcieLinkConfig link{};                 ///< to what is above
  std::optional<sim::Duration> delay{};  ///< of a TLP through it; HardwareProfile::pcie_switch when left out
  /// A TLP leaves once all of it has come. Else it is passed on as it comes (cut-through), as switches today do.
  bool store_and_forward = false;

  bool operator==(const PcieSwitchConfig&) const = default;
};

/// Which writes of a NIC to the memories of several sockets keep their order.
enum class MemoryOrder : std::uint8_t {
  one,   ///< all: the NIC's root complex ends them in order, whichever socket's memory they are for
  each,  ///< those for the same socket's memory: each socket ends its own
};

struct SocketsConfig {
  std::uint32_t count = 1;               ///< root complexes, each with memory: NUMA nodes
  PcieLinkConfig link{};                 ///< between each two of them
  std::optional<sim::Duration> delay{};  ///< of an access that goes over it; HardwareProfile::pcie_numa_penalty
  MemoryOrder order = MemoryOrder::one;

  bool operator==(const SocketsConfig&) const = default;
};

/// A GPU whose memory NICs reach over PCIe.
struct GpuConfig {
  std::uint32_t pcie_switch = kRootPort;  ///< that it is behind
  sim::BitsPerSecond rate{};              ///< of its PCIe link, each way; 0: no limit
  std::uint32_t socket = 0;               ///< behind no switch: whose root complex it is at

  bool operator==(const GpuConfig&) const = default;
};

/// A host that is not as SystemConfig::profile says, has several NICs, or other devices.
struct HostConfig {
  std::uint32_t hardware = 0;                 ///< 0: SystemConfig::profile; n: HostsConfig::hardware[n - 1]
  std::uint32_t nics = 1;                     ///< all of this hardware
  std::uint32_t ports = 1;                    ///< of each NIC, each with a cable of its own; they share the rest
  std::vector<std::uint32_t> nic_switches{};  ///< the PCIe switch that each NIC is behind; empty: none is
  std::vector<GpuConfig> gpus{};
  /// The switches of the tree. A number of no entry here is a switch at socket 0 whose link has no limit.
  std::vector<PcieSwitchConfig> switches{};
  SocketsConfig sockets{};
  std::vector<std::uint32_t> nic_sockets{};  ///< of NICs behind no switch: whose root complex; empty: socket 0's

  [[nodiscard]] std::uint32_t switch_of(std::uint32_t nic) const {
    return nic < nic_switches.size() ? nic_switches[nic] : kRootPort;
  }
  [[nodiscard]] std::uint32_t nic_socket(std::uint32_t nic) const {
    return nic < nic_sockets.size() ? nic_sockets[nic] : 0;
  }

  bool operator==(const HostConfig&) const = default;
};

/// A switch and those that it is behind, the lowest first; none for kRootPort.
[[nodiscard]] std::vector<std::uint32_t> switches_above(const HostConfig& host, std::uint32_t pcie_switch);
/// Whose root complex a device behind this switch is at; behind none that of `at_root_port`.
[[nodiscard]] std::uint32_t socket_of(const HostConfig& host, std::uint32_t pcie_switch, std::uint32_t at_root_port);
/// What a TLP takes through a switch, and the link above it.
[[nodiscard]] sim::Duration switch_delay(const HostConfig& host, const HardwareProfile& p, std::uint32_t pcie_switch);
/// PcieSwitchConfig::store_and_forward of this one; false for kRootPort.
[[nodiscard]] bool stores_tlps(const HostConfig& host, std::uint32_t pcie_switch);
/// What is wrong with a host's tree: switches and sockets that are not there, a switch behind itself. Empty: nothing.
[[nodiscard]] std::string validate(const HostConfig& host);

/// What hosts have that SystemConfig::profile does not say.
struct HostsConfig {
  std::vector<HardwareProfile> hardware{};  ///< of some of them; differs_in() says what they have in common
  sim::IdVector<HostId, HostConfig> of{};   ///< by host; empty: all have `profile` and one NIC

  [[nodiscard]] std::uint32_t nics(HostId host) const { return of.empty() ? 1 : of[host].nics; }
  [[nodiscard]] std::uint32_t ports(HostId host) const { return of.empty() ? 1 : of[host].ports; }
  [[nodiscard]] std::size_t gpus(HostId host) const { return of.empty() ? 0 : of[host].gpus.size(); }
  [[nodiscard]] std::uint32_t sockets(HostId host) const { return of.empty() ? 1 : of[host].sockets.count; }
  [[nodiscard]] const HardwareProfile& profile(const HardwareProfile& common, HostId host) const {
    return of.empty() || of[host].hardware == 0 ? common : hardware[of[host].hardware - 1];
  }
  bool operator==(const HostsConfig&) const = default;
};

}  // namespace loco::nic
