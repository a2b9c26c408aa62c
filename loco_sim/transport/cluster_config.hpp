// What a simulated cluster consists of and how it is run: plain values.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "hosts/runtime.hpp"
#include "loco_sim/loco/transport.hpp"
#include "sim/time.hpp"

namespace loco {

using hosts::Deadlock;
using hosts::EventLimit;
using hosts::NodeStop;
using hosts::ProgramError;
using hosts::Schedule;

/// Properties of a workload's queue pairs, or of some of them.
struct Service {
  std::uint8_t traffic_class = 0;           ///< 0 to 7, of all that they send
  std::uint8_t ack_class = nic::kOwnClass;  ///< of answers without payload
  std::uint8_t congestion = 0;              ///< 0: as the network's options say; n: ClusterConfig::congestion[n - 1]
  std::uint8_t transport = 0;               ///< 0: as the hardware says; n: ClusterConfig::transports[n - 1]
  std::uint8_t inbox = 0;                   ///< n: takes SENDs, into VirtualTransport::open_inbox(n)

  bool operator==(const Service&) const = default;
};

/// Whether rounds that only repeat earlier ones are simulated (loco_sim/workloads/rounds.hpp).
enum class FastForward : std::uint8_t {
  off,         ///< they are
  exact,       ///< not after rounds that took equal times to the picosecond
  approximate  ///< not after rounds whose times differ by 0.2 % at most
};

/// The configuration of the hosts' runtime, and of LOCO's nodes on top.
struct ClusterConfig : hosts::Config {
  Service service = {};                   ///< of all queue pairs without another one
  sim::Duration keep_alive{100'000'000};  ///< with stops or failing links: interval at which nodes probe each other
  /// False, for experiments: a connection that a program ends stays alive on both sides, beside the next one.
  bool connections_end = true;
  /// True: channels refuse hardware without the capabilities that they rely on (Capability). False: they run, and the
  /// checkers show the consequences.
  bool refuse_unfit = true;
  /// Per queue pair. A thread that finds its send queue full waits until another thread, such as the node's polling
  /// thread, polls completions. A thread that polls for itself must not have more operations than this in flight
  /// towards a node.
  std::uint32_t send_queue_entries = 128;
  std::uint32_t completion_entries = 1U << 16U;  ///< per node's completion queue
  FastForward fast_forward = FastForward::off;
  /// Names a word in the report of a deadlock; if this is empty or returns "", the report gives the address.
  std::function<std::string(NodeId, Address)> word_name = {};
};

}  // namespace loco
