// System::behaviour_hash: what the future depends on, without when the state was reached.
#include "nic_model/engine/hash_parts.hpp"
#include "nic_model/state.hpp"
#include "nic_model/system.hpp"

namespace loco::nic {

namespace {

/// A pending event stands for what it names; the stray request's slot for the packet in it.
std::uint64_t event_hash(const State& s, const sim::Event& e) {
  Hasher h;
  h.add_all(e.what, e.where);
  if (e.what == kEventStrayRequest) {
    add_packet(h, s.payloads, s.responders[e.where].stray(static_cast<std::uint32_t>(e.a)));
  } else if (e.what == kEventNoAnswer) {
    h.add(e.a);  // since when is a time
  } else {
    h.add_all(e.a, e.b);
  }
  return h.value();
}

}  // namespace

std::uint64_t System::behaviour_hash() const {
  const State& s = *state_;
  Hasher all;
  // A hash a part, then one of these: the processor computes those of several parts at a time.
  const auto add = [&all](const auto& part) {
    Hasher h;
    part(h);
    all.add(h.value());
  };
  for (const NicId nic : s.links.ids()) {
    add([&](Hasher& h) {
      if (const HostId host(nic.index()); s.memories.has(host)) {
        h.add(s.memories[host].hash());
        s.processes[host].hash(h);
      }
      s.atomics[nic].hash(h);
      s.links[nic].hash(h);
      s.ports[first_port(nic)].hash(h);
      s.caches[nic].hash(h);
    });
  }
  for (PortId port(s.kernel.nics()); port.index() < s.kernel.ports(); ++port)
    add([&](Hasher& h) { s.ports[port].hash(h); });
  for (const Thread& thread : s.threads) add([&](Hasher& h) { thread.hash(h); });
  for (const PostedDomain& domain : s.domains) add([&](Hasher& h) { domain.hash(h, s.payloads); });
  for (const CompletionQueue& cq : s.cqs) add([&](Hasher& h) { cq.hash(h); });
  for (const ReceiveQueue& queue : s.receive_queues) add([&](Hasher& h) { queue.hash(h); });
  for (QpId qp = 0; qp < s.connections.size(); ++qp) {
    add([&](Hasher& h) { s.requesters[qp].hash(h, s.payloads); });
    add([&](Hasher& h) {
      h.add_all(s.connections[qp].state(), s.contexts[qp].waits_for_unit());
      s.responders[qp].hash(h, s.payloads);
      for (std::uint32_t i = s.contexts[qp].stalled_first(); i != kNone; i = s.stalled[i].next) {
        add_packet(h, s.payloads, s.stalled[i].packet);
      }
    });
  }
  for (std::size_t lane = 0; lane < s.network->lanes(); ++lane) {
    add([&](Hasher& h) {
      h.add(s.network->lane_size(lane));
      for (std::size_t i = 0; i < s.network->lane_size(lane); ++i)
        add_packet(h, s.payloads, s.network->lane_packet(lane, i));
    });
  }
  std::uint64_t pending = 0;  // a multiset: the order in the queue's storage is history
  const sim::EventQueue& events = s.kernel.events();
  for (std::size_t i = 0; i < events.size(); ++i) pending += event_hash(s, events.pending(i));
  all.add(pending);
  return all.value();
}

}  // namespace loco::nic
