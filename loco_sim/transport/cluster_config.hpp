// What a simulated cluster is made of, and how it is run: plain values.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fabric/config.hpp"
#include "hosts/runtime.hpp"
#include "loco_sim/loco/transport.hpp"
#include "nic_model/profile.hpp"
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
  std::uint8_t inbox = 0;                   ///< n: takes SENDs, into VirtualTransport::open_inbox(n)

  bool operator==(const Service&) const = default;
};

struct ClusterConfig {
  nic::HardwareProfile profile;
  nic::HostsConfig hosts = {};  ///< who has other hardware, or several NICs
  fabric::Topology topology = fabric::Topology::star;
  fabric::Config network{};  ///< shape, options, failures and seed of the fabric
  std::uint32_t nodes = 2;
  std::vector<std::uint32_t> path_mtu = {};                 ///< of each node's queue pairs (nic::SystemConfig)
  Service service = {};                                     ///< of all queue pairs that have no other
  std::vector<fabric::CongestionSettings> congestion = {};  ///< beside that of `network`
  std::uint64_t seed = 1;
  Schedule schedule = Schedule::timed;
  bool record = false;              ///< keep a trace of calls and subevents
  bool record_activities = false;   ///< and of packets, TLPs, doorbells, CQEs
  sim::Duration series_interval{};  ///< look at the links so often; zero: not at all. Schedule::timed only
  std::uint64_t events_max = 1'000'000'000;
  sim::Budget* budget = nullptr;          ///< asked now and then; may be null, and outlives the cluster
  nic::PartMeeting* meeting = nullptr;    ///< hosts::Config::meeting
  std::vector<NodeStop> stops = {};       ///< Schedule::timed only
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
  bool strong = false;                           ///< hosts::Config::strong
  /// What a word is called in the report of a run that cannot go on; empty, or giving "": by its address.
  std::function<std::string(NodeId, Address)> word_name = {};
};

}  // namespace loco
