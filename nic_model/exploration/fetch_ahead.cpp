#include "nic_model/exploration/fetch_ahead.hpp"

#include <array>

#include "nic_model/verbs/cpu.hpp"
#include "sim/prefetch.hpp"

namespace loco::nic {

namespace {

template <class T>
void fetch(const T& object) {
  sim::prefetch(&object, sizeof(T));
}

/// What the event names.
void fetch_first(const State& s, ThreadRunner& runner, const sim::Event& e) {
  switch (e.what) {
    case fabric::kEventLane:
      return s.network->prefetch_lane(e.where);
    case kEventThreadStep:
      runner.prefetch(e.where);
      return fetch(s.threads[e.where]);
    case kEventDrain:
      return fetch(s.threads[e.where]);
    case kEventDoorbell:
      return fetch(s.links[NicId(e.where)]);
    case kEventAtomic:
    case kEventAtomicDone:
      return fetch(s.atomics[NicId(e.where)]);
    case kEventCommit:
      return fetch(s.domains[e.where]);
    case kEventFetchWqe:
    case kEventReadPayload:
    case kEventTransmit:
    case kEventUnitFree:
      fetch(s.connections[e.where]);
      return fetch(s.requesters[e.where]);
    case kEventReadRemote:
    case kEventRespond:
      fetch(s.connections[e.where]);
      return fetch(s.responders[e.where]);
    case kEventArrival:
      return fetch(s.contexts[e.where]);
    default:
      return;
  }
}

/// What is found there.
void fetch_second(const State& s, const sim::Event& e) {
  switch (e.what) {
    case fabric::kEventLane:
      return s.network->prefetch_entry(e.where);
    case kEventDoorbell: {
      if (const Doorbell* doorbell = s.links[NicId(e.where)].next_doorbell()) fetch(s.requesters[doorbell->qp]);
      return;
    }
    case kEventCommit: {
      const PostedDomain& domain = s.domains[e.where];
      if (domain.holds(e.a)) fetch(domain.write(e.a));
      return;
    }
    case kEventFetchWqe:
    case kEventReadPayload:
    case kEventTransmit:
      return s.requesters[e.where].queue().prefetch();
    case kEventReadRemote:
    case kEventRespond:
      return s.responders[e.where].responses().prefetch();
    default:
      return;
  }
}

/// And what is found there.
void fetch_third(const State& s, const sim::Event& e) {
  if (e.what == fabric::kEventLane) return s.network->prefetch_packet(e.where);
  if (e.what != kEventCommit) return;
  const PostedDomain& domain = s.domains[e.where];
  if (!domain.holds(e.a)) return;
  const PostedWrite& write = domain.write(e.a);
  if (!write.is_cqe) s.memories[s.kernel.host_of(domain.node())].prefetch(write.address, 8);
}

/// The queue pair that a packet is for, and its host.
void fetch_fourth(const State& s, const sim::Event& e) {
  if (e.what != fabric::kEventLane) return;
  const fabric::Packet* packet = s.network->arriving(e.where);
  if (packet == nullptr) return;
  fetch(s.connections[packet->destination_qp]);
  if (fabric::is_response(packet->opcode)) {
    fetch(s.requesters[packet->destination_qp]);
  } else {
    fetch(s.responders[packet->destination_qp]);
  }
  const bool data =
      packet->opcode == fabric::Opcode::read_response || packet->opcode == fabric::Opcode::atomic_response;
  const NicId nic = s.kernel.nic_of_port(packet->destination);
  s.caches[nic].prefetch_context(packet->destination_qp, data);
  fetch(s.contexts[packet->destination_qp]);
  fetch(s.links[nic]);
  fetch(s.ports[packet->destination]);
  fetch(s.memories[s.kernel.host_of(packet->destination)]);
}

}  // namespace

void fetch_ahead(const State& state, ThreadRunner& runner) {
  constexpr std::size_t kListed = 2048;           // as many as a window of the calendar begins with, but for the finest
  std::array<const sim::Event*, kListed> events;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled up to `end`
  auto end = events.begin();
  state.kernel.events().for_each_near([&](const sim::Event& e) {
    fetch_first(state, runner, e);
    if (end != events.end()) *end++ = &e;
  });
  for (auto e = events.begin(); e != end; ++e) fetch_second(state, **e);
  for (auto e = events.begin(); e != end; ++e) fetch_third(state, **e);
  for (auto e = events.begin(); e != end; ++e) fetch_fourth(state, **e);
}

}  // namespace loco::nic
