#include "nic_model/step_check.hpp"

#ifdef LOCO_SIM_CHECK_STEPS

namespace loco::nic {

namespace {

void check_queue_pair(const State& s, QpId id) {
  s.connections[id].check(id, s.settings[s.connections[id].settings()], s.kernel.now());
  s.requesters[id].check(id, s.kernel.now());
  s.responders[id].check(s.connections[id], id, s.kernel.now());
  s.contexts[id].check(id, s.kernel.now());
}

/// Checks all units.
void check_all(const State& s) {
  const sim::SimTime now = s.kernel.now();
  for (QpId id = 0; id < s.connections.size(); ++id) check_queue_pair(s, id);
  for (CqId id = 0; id < s.cqs.size(); ++id) s.cqs[id].check(id, now);
  for (SrqId id = 0; id < s.receive_queues.size(); ++id) s.receive_queues[id].check(id, now);
  for (ThreadId id = 0; id < s.threads.size(); ++id)
    s.threads[id].check(id, now, s.kernel.profile(first_nic(s.threads[id].node())));
  for (const HostId id : s.processes.ids()) s.processes[id].check(id, now);
  for (std::uint32_t domain = 0; domain < s.domains.size(); ++domain) s.domains[domain].check(domain, now);
  for (const NicId node : s.links.ids()) {
    const HardwareProfile& p = s.kernel.profile(node);
    s.links[node].check(node, p, now);
    s.caches[node].check(node, p, now);
    s.atomics[node].check(node, now, p.nic_atomic_banks);
  }
  for (const PortId port : s.ports.ids()) {
    s.ports[port].check(port, now);
    s.receive_buffers[port].check(port, s.kernel.profile(port).nic_receive_buffer.count, now);
  }
  s.network->check(now);
}

}  // namespace

void check_step(const State& s, const sim::Event& event) {
  const bool of_queue_pair =
      event.what == kEventFetchWqe || event.what == kEventReadPayload || event.what == kEventTransmit ||
      event.what == kEventTimeout || event.what == kEventRnrTimer || event.what == kEventUnitFree ||
      event.what == kEventReadRemote || event.what == kEventRespond || event.what == kEventStrayRequest;
  if (of_queue_pair) check_queue_pair(s, event.where);
  if (event.what == kEventCommit) s.domains[event.where].check(event.where, s.kernel.now());
  if (event.what == kEventThreadStep || event.what == kEventDrain) {
    s.threads[event.where].check(event.where, s.kernel.now(),
                                 s.kernel.profile(first_nic(s.threads[event.where].node())));
  }
  constexpr std::uint64_t kNowAndThen = 1024;
  if (s.kernel.counters().events % kNowAndThen == 0) check_all(s);
}

}  // namespace loco::nic

#endif
