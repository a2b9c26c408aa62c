// The state behind System as one value: the private states of all units. Private to nic_model/.
//
// Each guaranteed order is a ring, and only the element that may happen next has a pending event (docs/machine.md, law
// 1). Elements of rings are named by consecutive numbers (32 or 64 bits, never reused); the number of a ring's first
// element is kept beside it. All structs are values and are compared member by member.
//
// Requests in flight keep two kinds of times. Instants (`ready`, `due`, `available`) are the earliest time of the next
// step, if nothing is in front of the request. Durations (`way`, `reach`) are the time of a TLP from the link to
// memory; they serve to recompute an instant after the TLP has waited for tags or credits.
#pragma once

#include <vector>

#include "fabric/network.hpp"
#include "nic_model/connection/completion_queue.hpp"
#include "nic_model/connection/connection.hpp"
#include "nic_model/connection/receive_queue.hpp"
#include "nic_model/engine/engine.hpp"
#include "nic_model/engine/kernel.hpp"
#include "nic_model/engine/payloads.hpp"
#include "nic_model/host/host.hpp"
#include "nic_model/host/memory.hpp"
#include "nic_model/host/process.hpp"
#include "nic_model/host/thread.hpp"
#include "nic_model/pcie/link.hpp"
#include "nic_model/pcie/paths.hpp"
#include "nic_model/pcie/posted_domain.hpp"
#include "nic_model/port/context.hpp"
#include "nic_model/port/port.hpp"
#include "nic_model/port/receive_buffer.hpp"
#include "nic_model/requester/ack_timers.hpp"
#include "nic_model/requester/answer_tracks.hpp"
#include "nic_model/requester/requester.hpp"
#include "nic_model/responder/atomics.hpp"
#include "nic_model/responder/responder.hpp"

namespace loco::nic {

struct State {
  explicit State(const SystemConfig& c);

  Kernel kernel;
  fabric::NetworkValue network;
  Payloads payloads{};
  std::vector<MemoryRegion> regions{};
  sim::IdVector<HostId, HostMemory> memories{};
  sim::IdVector<HostId, Process> processes{};
  std::vector<Thread> threads{};
  sim::IdVector<NicId, Host> hosts{};
  sim::IdVector<NicId, PcieLink> links{};
  PciePaths paths;
  std::vector<TreeLink> tree_links{};
  std::vector<PostedDomain> domains{};
  sim::IdVector<PortId, Port> ports{};
  sim::IdVector<PortId, ReceiveBuffer> receive_buffers{};
  sim::IdVector<NicId, ContextCaches> caches{};
  std::vector<Connection> connections{};
  std::vector<QpSettings> settings = std::vector<QpSettings>(1);  // the first: of a connection that has set none
  std::vector<NicContext> contexts{};
  std::vector<Requester> requesters{};
  std::vector<Responder> responders{};
  sim::IdVector<NicId, AtomicUnit> atomics{};
  std::vector<CompletionQueue> cqs{};
  std::vector<ReceiveQueue> receive_queues{};
  AnswerTracks tracks{};
  std::vector<AckTimers> ack_timers{};
  sim::Pool<StalledPacket> stalled{};  // a list for each of many queue pairs, few of which have any

  /// Gives an ordering domain its paths to memories with an order of their own: that on the NIC (optional), GPUs', and
  /// those on other NICs of the host once there is one.
  void add_paths(std::uint32_t domain);
  /// Memory on a NIC of a host with several is used from now on.
  void reach_nics(HostId host);
  [[nodiscard]] Units units() {
    return {kernel,     *network,   payloads, regions, memories,        processes, threads,     hosts,    links,
            paths,      tree_links, domains,  ports,   receive_buffers, caches,    connections, settings, contexts,
            requesters, responders, atomics,  cqs,     receive_queues,  tracks,    ack_timers,  stalled};
  }
  [[nodiscard]] bool operator==(const State& other) const = default;

 private:
  void add_nic_paths(std::uint32_t domain);
};

/// The host of that number. Throws std::invalid_argument if there is no such one.
[[nodiscard]] HostId checked_host(const State& s, NodeId node);

}  // namespace loco::nic
