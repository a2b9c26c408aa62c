// What a System is made from, and who runs its threads and watches it.
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

/// A NIC by its host, and which of the host's it is.
struct NicPlace {
  NodeId host = 0;
  std::uint32_t index = 0;

  bool operator==(const NicPlace&) const = default;
};
/// The NICs behind the first ones. A host's first NIC has the host's number on the network; behind them come the second
/// NICs of the hosts that have one, then the third, ...: of n hosts that all have r, NIC k of host h is k * n + h.
[[nodiscard]] std::vector<NicPlace> further_nics(const HostsConfig& hosts);

/// A port by its NIC, and which of the NIC's it is.
struct PortPlace {
  NicId nic = 0;
  std::uint32_t index = 0;

  bool operator==(const PortPlace&) const = default;
};
/// The ports behind the first ones. A NIC's first port has the NIC's number on the network; behind all NICs come the
/// second ports of those that have one, then the third, ...
[[nodiscard]] std::vector<PortPlace> further_ports(const HostsConfig& hosts, std::uint32_t nodes);

/// The ports of all NICs of all hosts, and the numbers of those of one host.
[[nodiscard]] std::uint32_t count_ports(const HostsConfig& hosts, std::uint32_t nodes);
[[nodiscard]] std::vector<PortId> ports_of(const HostsConfig& hosts, std::uint32_t nodes, NodeId host);

struct SystemConfig {
  HardwareProfile profile;
  HostsConfig hosts{};                                 ///< whose hardware is another, who has several NICs
  fabric::Topology topology = fabric::Topology::star;  ///< `profile.link_ideal` overrides it
  fabric::Config network{};  ///< shape, options, seed and failures are used; the rest comes from here and the profile
  std::uint32_t nodes = 2;   ///< hosts
  /// The path MTU of each node's queue pairs that System::connect() connects, as QpAttributes::path_mtu; of nodes that
  /// it does not reach, and 0: `profile.link_mtu`.
  std::vector<std::uint32_t> path_mtu{};
  /// Congestion control of queue pairs that have another one than `network` says (QpConfig::congestion).
  std::vector<fabric::CongestionSettings> congestion{};
  /// Transports of reliable queue pairs that have another one than `profile` says (QpConfig::transport), at most
  /// kTransportsMost. The flow model knows none.
  std::vector<TransportOptions> transports{};
  /// Only System::step(context) will be called: the earliest event is always next. TLPs of a packet that nothing can
  /// fall between are one step then (pcie/bursts.hpp), which changes no time and no value.
  bool timed = false;
  /// Transport timers run where nothing can be lost, too: for runs in the order of time. Searches leave them out: there
  /// any pending event may be next, and a timer would say something of the schedule only.
  bool timers = false;
  std::uint64_t seed = 1;  ///< of what NICs draw: the order of words (nic.word_order: any)
  bool witness = false;    ///< remember the last writer of every word; needed for subevents' source and overwrote
};

/// The numbers of a host's NICs.
[[nodiscard]] std::vector<NicId> nics_of(const HostsConfig& hosts, std::uint32_t nodes, NodeId host);

/// What all NICs of a network have in common: order, recovery, the format of packets. Empty when `other` may be the
/// hardware of a host among those of `common`, else the key in which it must not differ. Its links are those of
/// `common`, but for the rate of its own cable; its faults too.
[[nodiscard]] std::string_view differs_in(const HardwareProfile& common, const HardwareProfile& other);

/// Who runs the threads, and who watches (may be null). Passed to every step.
struct Context {
  ThreadRunner& runner;
  Observer* observer = nullptr;
  MessageObserver* messages = nullptr;
  bool lose = false;  ///< the packet that comes is lost: where any event may be next, of an unreliable queue pair
};

}  // namespace loco::nic
