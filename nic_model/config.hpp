// What a System is made from, who runs its threads, and who observes it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "fabric/config.hpp"
#include "fabric/congestion/congestion.hpp"
#include "nic_model/host_config.hpp"
#include "nic_model/profile.hpp"
#include "nic_model/transport_options.hpp"
#include "nic_model/verbs.hpp"

namespace loco::nic {

class MessageObserver;
class Observer;
class ThreadRunner;

/// Of a run, beside the hardware's.
inline constexpr std::size_t kTransportsMost = 64;

/// A NIC, as its host and its index there.
struct NicPlace {
  HostId host{};
  std::uint32_t index = 0;

  bool operator==(const NicPlace&) const = default;
};
/// The second and further NICs of hosts. On the network a host's first NIC has the host's number. The second NICs of
/// the hosts that have one follow, then the third, and so on: if all n hosts have several NICs, NIC k of host h is k *
/// n + h.
[[nodiscard]] std::vector<NicPlace> further_nics(const HostsConfig& hosts);

/// A port by its NIC, and which of the NIC's it is.
struct PortPlace {
  NicId nic{};
  std::uint32_t index = 0;

  bool operator==(const PortPlace&) const = default;
};
/// The ports behind the first ones. A NIC's first port has the NIC's number on the network; behind all NICs come the
/// second ports of those that have one, then the third, ...
[[nodiscard]] std::vector<PortPlace> further_ports(const HostsConfig& hosts, std::uint32_t nodes);

/// The ports of all NICs of all hosts, and the numbers of those of one host.
[[nodiscard]] std::uint32_t count_ports(const HostsConfig& hosts, std::uint32_t nodes);
[[nodiscard]] std::vector<PortId> ports_of(const HostsConfig& hosts, std::uint32_t nodes, HostId host);

struct SystemConfig {
  HardwareProfile profile;
  HostsConfig hosts{};                                 ///< hosts with other hardware, or with several NICs
  fabric::Topology topology = fabric::Topology::star;  ///< `profile.link_ideal` overrides it
  fabric::Config network{};  ///< shape, options, seed and failures count; the rest comes from here and the profile
  std::uint32_t nodes = 2;   ///< hosts
  /// By node, the path MTU of the queue pairs that System::connect() connects, as QpAttributes::path_mtu. Nodes beyond
  /// its end, and those with 0, have `profile.link_mtu`.
  std::vector<std::uint32_t> path_mtu{};
  /// Congestion control of queue pairs whose congestion control differs from that of `network` (QpConfig::congestion).
  std::vector<fabric::CongestionSettings> congestion{};
  /// Transports of reliable queue pairs that have another one than `profile` says (QpConfig::transport), at most
  /// kTransportsMost. The flow model knows none.
  std::vector<TransportOptions> transports{};
  /// Only System::step(context) will be called, so the earliest event is always next. Then the TLPs of a packet are one
  /// step where nothing can happen between them (pcie/bursts.hpp), which changes no time and no value.
  bool timed = false;
  /// Transport timers run even where nothing can be lost, for runs in the order of time. Searches leave them out,
  /// because there any pending event may be next, and a timer would only reflect the schedule.
  bool timers = false;
  std::uint64_t seed = 1;  ///< of the NICs' random choices: the order of words (nic.word_order: any)
  bool witness = false;    ///< remember the last writer of every word; needed for subevents' source and overwrote
};

/// The numbers of a host's NICs.
[[nodiscard]] std::vector<NicId> nics_of(const HostsConfig& hosts, std::uint32_t nodes, HostId host);

/// Returns the key in which `other` must not differ from `common` but does, empty if none. All NICs of a network share
/// the order and recovery of messages and the format of packets. A host's links are those of `common` except for the
/// rate of its own cable, and its faults are those of `common`.
[[nodiscard]] std::string_view differs_in(const HardwareProfile& common, const HardwareProfile& other);

/// Who runs the threads, and who observes (may be null). Passed to every step.
struct Context {
  ThreadRunner& runner;
  Observer* observer = nullptr;
  MessageObserver* messages = nullptr;
  bool lose = false;  ///< the arriving packet is lost; for unreliable queue pairs where any event may be next
};

}  // namespace loco::nic
