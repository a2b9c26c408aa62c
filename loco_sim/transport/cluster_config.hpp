// What a simulated cluster is made of, and how it is run: plain values.
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

/// What the queue pairs of a workload, or some of them, have of their own.
struct Service {
  std::uint8_t traffic_class = 0;           ///< 0 to 7, of all that they send
  std::uint8_t ack_class = nic::kOwnClass;  ///< of answers without payload
  std::uint8_t congestion = 0;              ///< 0: as the network's options say; n: ClusterConfig::congestion[n - 1]
  std::uint8_t transport = 0;               ///< 0: as the hardware says; n: ClusterConfig::transports[n - 1]
  std::uint8_t inbox = 0;                   ///< n: takes SENDs, into VirtualTransport::open_inbox(n)

  bool operator==(const Service&) const = default;
};

/// Are rounds that only repeat others simulated? (loco_sim/workloads/rounds.hpp)
enum class FastForward : std::uint8_t {
  off,         ///< yes
  exact,       ///< not those behind rounds that took the same time to the picosecond
  approximate  ///< not those behind rounds whose times differ by 0.2 % at most
};

/// What the runtime of its hosts is made of, and what LOCO's nodes are beside that.
struct ClusterConfig : hosts::Config {
  Service service = {};                   ///< of all queue pairs that have no other
  sim::Duration keep_alive{100'000'000};  ///< with stops or failing links: how often the nodes ask each other
  /// False, for experiments: a connection that a program ends stays as it is on both sides, beside the next one.
  bool connections_end = true;
  /// Channels refuse hardware that lacks what they are built on (Capability). False: they run, and the checkers show
  /// what comes of it.
  bool refuse_unfit = true;
  /// Of each queue pair. A thread that finds its send queue full waits until completions are polled: by another thread,
  /// as a node's polling thread. One that polls for itself has no more than this under way towards a node.
  std::uint32_t send_queue_entries = 128;
  std::uint32_t completion_entries = 1U << 16U;  ///< of each node's completion queue
  FastForward fast_forward = FastForward::off;
  /// What a word is called in the report of a run that cannot go on; empty, or giving "": by its address.
  std::function<std::string(NodeId, Address)> word_name = {};
};

}  // namespace loco
