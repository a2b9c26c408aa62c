#include "nic_model/port/context.hpp"

#include <algorithm>

#include "nic_model/pcie/pcie.hpp"
#include "nic_model/port/port.hpp"
#include "nic_model/requester/requester.hpp"

namespace loco::nic {

namespace {

/// When it is known what was looked up at `at`.
sim::SimTime known(Engine& engine, NodeId node, bool hit, sim::SimTime at) {
  if (hit) return at;
  engine.count(&Counters::cache_misses);
  return context_read(engine, node, at);
}

/// One key of a cache, looked up at `at`; a miss reads its content over PCIe. Returns when it is known.
template <class Key>
sim::SimTime look_up(Engine& engine, NodeId node, KeyCache<Key>& cache, Key key, sim::SimTime at) {
  return known(engine, node, cache.touch(key), at);
}

/// The state of the READ or atomic with this number: one slot for each that may be outstanding, held until the
/// response is there. Slots have a bank each and sets two ways, so that neither one queue pair nor two displace their
/// own.
sim::SimTime look_up_read_state(Engine& engine, NodeId node, QpId qp, std::uint32_t number, sim::SimTime at) {
  const std::uint32_t slots = engine.profile().nic_max_rd_atomic;
  const std::uint32_t slot = number % slots;
  return known(engine, node, engine.hosts[node].read_states.touch(qp * slots + slot, slot, slots), at);
}

/// Of a queue pair's context, or of the part of it that says where the data of answers goes.
std::uint32_t context_key(QpId qp, bool data) { return qp << 1U | (data ? 1U : 0U); }

std::uint64_t translation_key(const Engine& engine, std::uint32_t region, Address address) {
  return std::uint64_t{region} << 40U | address / engine.profile().nic_translation_page.count;
}

sim::Duration stall_of(Engine& engine, const fabric::Packet& packet) {
  const NodeId node = packet.destination;
  Host& host = engine.hosts[node];
  // Data that comes back goes where another part of the context says.
  const bool data = packet.opcode == fabric::Opcode::read_response || packet.opcode == fabric::Opcode::atomic_response;
  const std::uint32_t context = context_key(packet.destination_qp, data);
  sim::SimTime at = look_up(engine, node, host.contexts, context, engine.now());
  if (!fabric::is_response(packet.opcode) && packet.total > 0 && packet.opcode != fabric::Opcode::send &&
      packet.opcode != fabric::Opcode::datagram) {
    const std::uint64_t key = translation_key(engine, packet.rkey, packet.address + packet.offset);
    at = look_up(engine, node, host.translations, key, at);
  }
  return at - engine.now();
}

/// When there is a unit for the queue pair that has waited longest.
void tell_first_waiter(Engine& engine, const Host& host) {
  const sim::SimTime at = host.units.free_since(engine.profile().nic_units);
  engine.schedule(kEventUnitFree, host.unit_waiters.front(), 0, at);
}

/// Is there one that may work for this queue pair now? If not, it will be told.
bool unit_is_free(Engine& engine, QpId id) {
  NicContext& qp = engine.contexts[id];
  Host& host = engine.hosts[engine.connections[id].node()];
  if (qp.waits_for_unit) return false;
  const bool has_one = qp.unit_until > engine.now();
  const bool its_turn = host.unit_waiters.empty() || host.unit_waiters.front() == id;
  if (!has_one && its_turn && host.units.free_since(engine.profile().nic_units) <= engine.now()) return true;
  qp.waits_for_unit = true;
  if (has_one) {
    engine.schedule(kEventUnitFree, id, 0, qp.unit_until);
    return false;
  }
  host.unit_waiters.push_back(id);
  if (host.unit_waiters.size() == 1) tell_first_waiter(engine, host);
  return false;
}

}  // namespace

bool take_unit(Engine& engine, QpId id, const Wqe& wqe, std::uint32_t number, sim::Duration& stall) {
  const HardwareProfile& p = engine.profile();
  const NodeId node = engine.connections[id].node();
  Host& host = engine.hosts[node];
  if (p.nic_units > 0 && !unit_is_free(engine, id)) return false;
  sim::SimTime at = look_up(engine, node, host.contexts, context_key(id, false), engine.now());
  if (!wqe.inline_data && wqe.length > 0) {
    at = look_up(engine, node, host.translations, translation_key(engine, wqe.lkey, wqe.local), at);
  }
  if (reads_or_atomic(wqe.opcode)) at = look_up_read_state(engine, node, id, number, at);
  stall = at - engine.now();
  if (p.nic_units > 0) {
    const sim::SimTime unit_end = engine.now() + stall + p.nic_unit_time;
    host.units.take(p.nic_units, unit_end);
    host.busy.units += unit_end - engine.now();
    NicContext& nic = engine.contexts[id];
    nic.unit_until = wqe.inline_data ? unit_end : std::max(unit_end, engine.now() + p.nic_qp_gap);
    if (p.nic_qp_gap.ps > 0) nic.gap_busy += nic.unit_until - engine.now();
  }
  return true;
}

void unit_free(Engine& engine, QpId id) {
  NicContext& qp = engine.contexts[id];
  Host& host = engine.hosts[engine.connections[id].node()];
  const bool its_turn = !host.unit_waiters.empty() && host.unit_waiters.front() == id;
  qp.waits_for_unit = false;
  engine.requesters[id].start(engine, id, {});
  if (!its_turn) return;
  host.unit_waiters.pop_front();
  if (!host.unit_waiters.empty()) tell_first_waiter(engine, host);
}

bool hold_arrival(Engine& engine, const fabric::Packet& packet) {
  const HardwareProfile& p = engine.profile();
  if (p.nic_context_entries == 0 && p.nic_translation_entries == 0) return false;
  const sim::Duration looked_up = stall_of(engine, packet);
  // The first packet asks; what comes behind it is not held up once the answer is there.
  const sim::Duration stall{std::max<std::int64_t>(0, looked_up.ps - known_for(engine, packet).ps)};
  NicContext& qp = engine.contexts[packet.destination_qp];
  const bool first = qp.stalled_first == kNone;
  if (stall == sim::Duration{} && first) return false;
  const std::uint32_t slot = engine.stalled.acquire();
  engine.stalled[slot] = {.ready = engine.now() + stall, .packet = packet};
  (first ? qp.stalled_first : engine.stalled[qp.stalled_last].next) = slot;
  qp.stalled_last = slot;
  if (first) engine.schedule(kEventArrival, packet.destination_qp, 0, engine.stalled[slot].ready);
  return true;
}

fabric::Packet next_arrival(Engine& engine, QpId id) {
  NicContext& qp = engine.contexts[id];
  const StalledPacket taken = engine.stalled[qp.stalled_first];
  engine.stalled.release(qp.stalled_first);
  qp.stalled_first = taken.next;
  if (taken.next != kNone) engine.schedule(kEventArrival, id, 0, engine.stalled[taken.next].ready);
  return taken.packet;
}

}  // namespace loco::nic
