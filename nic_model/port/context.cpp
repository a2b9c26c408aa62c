#include "nic_model/port/context.hpp"

#include <algorithm>

#include "nic_model/connection/connection.hpp"
#include "nic_model/engine/check.hpp"
#include "nic_model/pcie/pcie.hpp"
#include "nic_model/port/port.hpp"
#include "probe/probe.hpp"

namespace loco::nic {

namespace {

/// When the content looked up at `at` is known: at once on a hit, after a PCIe read on a miss.
sim::SimTime known(Engine& engine, NicId node, bool hit, sim::SimTime at) {
  if (hit) return at;
  LOCO_PROBE(nic_cache_miss);
  engine.count(&Counters::cache_misses);
  return context_read(engine, node, at);
}

/// Looks up one key at `at`. Returns when its content is known.
sim::SimTime look_up_context(Engine& engine, NicId node, std::uint32_t key, sim::SimTime at) {
  return known(engine, node, engine.caches[node].has_context(key), at);
}
sim::SimTime look_up_translation(Engine& engine, NicId node, std::uint64_t key, sim::SimTime at) {
  return known(engine, node, engine.caches[node].has_translation(key), at);
}

/// Looks up the state of the READ or atomic with this number. Each one that may be outstanding has a slot, which it
/// holds until its response arrives. Each slot number has a bank of its own with two-way sets, so neither one queue
/// pair nor two can evict their own entries.
sim::SimTime look_up_read_state(Engine& engine, NicId node, QpId qp, std::uint32_t number, sim::SimTime at) {
  const std::uint32_t slots = engine.profile(node).nic_max_rd_atomic;
  const std::uint32_t slot = number % slots;
  return known(engine, node, engine.caches[node].has_read_state(qp * slots + slot, slot), at);
}

std::uint64_t translation_key(const Engine& engine, NicId node, std::uint32_t region, Address address) {
  return std::uint64_t{region} << 40U | address / engine.profile(node).nic_translation_page.count;
}

sim::Duration stall_of(Engine& engine, const fabric::Packet& packet) {
  const NicId node = engine.kernel.nic_of_port(packet.destination);
  // Where response data goes is in another part of the context.
  const bool data = packet.opcode == fabric::Opcode::read_response || packet.opcode == fabric::Opcode::atomic_response;
  const std::uint32_t context = ContextCaches::context_key(packet.destination_qp, data);
  sim::SimTime at = look_up_context(engine, node, context, engine.now());
  if (!fabric::is_response(packet.opcode) && packet.total > 0 && packet.opcode != fabric::Opcode::send &&
      packet.opcode != fabric::Opcode::datagram) {
    const std::uint64_t key = translation_key(engine, node, packet.rkey, packet.address + packet.offset);
    at = look_up_translation(engine, node, key, at);
  }
  return at - engine.now();
}

/// Until when a queue pair starts no other work request after one whose payload the NIC reads and that its unit is done
/// with at `unit_end`. Its turn and its data go on side by side. The data of its first packet comes behind the unit's
/// work; later packets hold up nothing but the link.
sim::SimTime gap_end_of(const Engine& engine, const Connection& qp, const Wqe& wqe, sim::SimTime unit_end) {
  const HardwareProfile& p = engine.profile(qp.node());
  const sim::SimTime turn = engine.now() + p.nic_qp_gap;
  if (p.nic_qp_gap_rate.value == 0 || reads_or_atomic(wqe.opcode)) return turn;  // the other NIC reads the data
  const std::uint64_t first = std::min<std::uint64_t>(wqe.length, mtu_of(engine, qp));
  return std::max(turn, unit_end + sim::transmission_time({first}, p.nic_qp_gap_rate));
}

/// Schedules the turn of the queue pair that has waited longest, for when a unit is free.
void tell_first_waiter(Engine& engine, const ContextCaches& caches) {
  const NicId nic = engine.connections[caches.first_waiter()].node();
  engine.schedule(kEventUnitFree, caches.first_waiter(), 0, caches.unit_free_since(engine.profile(nic).nic_units));
}

/// True if a unit can work for this queue pair now. If not, an event will tell it when.
bool unit_is_free(Engine& engine, QpId id) {
  NicContext& qp = engine.contexts[id];
  const NicId node = engine.connections[id].node();
  ContextCaches& caches = engine.caches[node];
  if (qp.waits_for_unit()) return false;
  const bool has_one = qp.unit_until() > engine.now();
  const bool its_turn = caches.first_waiter() == kNone || caches.first_waiter() == id;
  if (!has_one && its_turn && caches.unit_free_since(engine.profile(node).nic_units) <= engine.now()) return true;
  qp.wait_for_unit(true);
  if (has_one) {
    engine.schedule(kEventUnitFree, id, 0, qp.unit_until());
    return false;
  }
  LOCO_PROBE(waits_for_a_unit);
  if (caches.wait(id)) tell_first_waiter(engine, caches);
  return false;
}

}  // namespace

ContextCaches::ContextCaches(const HardwareProfile& p)
    : contexts_(p.nic_context_entries, 4),
      translations_(p.nic_translation_entries, 4),
      read_states_(p.nic_read_state_entries, 2, std::max<std::uint32_t>(1, p.nic_max_rd_atomic)) {}

void use_translations(Engine& engine, NicId nic, std::uint32_t key, Address base, std::uint64_t size) {
  const std::uint64_t page = engine.profile(nic).nic_translation_page.count;
  for (Address at = base / page * page; at < base + size; at += page)
    engine.caches[nic].has_translation(translation_key(engine, nic, key, at));
}

std::uint64_t translated(const Engine& engine, NicId nic, std::uint32_t key, Address base, std::uint64_t size) {
  const std::uint64_t page = engine.profile(nic).nic_translation_page.count;
  Address at = base;
  while (at < base + size && engine.caches[nic].holds_translation(translation_key(engine, nic, key, at)))
    at = (at / page + 1) * page;
  return std::min(at - base, size);
}

bool take_unit(Engine& engine, QpId id, const Wqe& wqe, std::uint32_t number, sim::Duration& stall) {
  const NicId node = engine.connections[id].node();
  const HardwareProfile& p = engine.profile(node);
  if (p.nic_units > 0 && !unit_is_free(engine, id)) return false;
  sim::SimTime at = look_up_context(engine, node, ContextCaches::context_key(id, false), engine.now());
  if (!wqe.inline_data && wqe.length > 0) {
    for (std::uint64_t done = 0; done < wqe.length;) {
      const bool list = is_scattered(wqe.local);
      const Piece piece = list ? piece_at(engine, wqe.local + done) : Piece{wqe.local, wqe.length, wqe.lkey};
      at = look_up_translation(engine, node, translation_key(engine, node, piece.key, piece.address), at);
      done += std::max<std::uint64_t>(piece.bytes, 1);
    }
  }
  if (reads_or_atomic(wqe.opcode)) at = look_up_read_state(engine, node, id, number, at);
  stall = at - engine.now();
  if (p.nic_units == 0) return true;
  const sim::SimTime unit_end = engine.now() + stall + p.nic_unit_time;
  engine.caches[node].take_unit(p.nic_units, engine.now(), unit_end);
  NicContext& qp = engine.contexts[id];
  const sim::SimTime gap_end =
      wqe.inline_data ? engine.now() : gap_end_of(engine, engine.connections[id], wqe, unit_end);
  const sim::SimTime until = std::max(unit_end, gap_end);
  qp.take_unit_until(until);
  if (gap_end > unit_end) {
    qp.count_gap(until - engine.now());
  } else {
    qp.count_unit();
  }
  return true;
}

bool begin_turn(Engine& engine, QpId id) {
  engine.contexts[id].wait_for_unit(false);
  return engine.caches[engine.connections[id].node()].first_waiter() == id;
}

void end_turn(Engine& engine, QpId id) {
  ContextCaches& caches = engine.caches[engine.connections[id].node()];
  caches.forget_first_waiter();
  if (caches.first_waiter() != kNone) tell_first_waiter(engine, caches);
}

bool hold_arrival(Engine& engine, const fabric::Packet& packet) {
  const HardwareProfile& p = engine.profile(packet.destination);
  if (p.nic_context_entries == 0 && p.nic_translation_entries == 0) return false;
  const sim::Duration looked_up = stall_of(engine, packet);
  // The first packet starts the lookup; those behind it do not wait once the content is there.
  const sim::Duration stall{std::max<std::int64_t>(0, looked_up.ps - known_for(engine, packet).ps)};
  NicContext& qp = engine.contexts[packet.destination_qp];
  const bool first = !qp.has_stalled();
  if (stall == sim::Duration{} && first) return false;
  if (!first) LOCO_PROBE(arrival_behind_a_stalled_one);
  qp.push_stalled(engine.stalled, packet, engine.now() + stall);
  if (first) engine.schedule(kEventArrival, packet.destination_qp, 0, engine.now() + stall);
  return true;
}

fabric::Packet next_arrival(Engine& engine, QpId id) {
  NicContext& qp = engine.contexts[id];
  const fabric::Packet packet = qp.pop_stalled(engine.stalled);
  if (qp.has_stalled()) engine.schedule(kEventArrival, id, 0, engine.stalled[qp.stalled_first()].ready);
  return packet;
}

void ContextCaches::hash(Hasher& h) const {
  h.add(waiters_.size());
  for (std::size_t i = 0; i < waiters_.size(); ++i) h.add(waiters_[i]);
}

void ContextCaches::check(NicId node, const HardwareProfile& p, sim::SimTime now) const {
  const Check check(now, "context caches", "node", node);
  check.holds(p.nic_units > 0 || waiters_.empty(), "nobody waits for units that are not counted");
  check.holds(busy_units_.ps >= 0, "its units were busy for a time");
  for (std::size_t i = 0; i < waiters_.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) check.holds(waiters_[i] != waiters_[k], "who waits for a unit does so once");
  }
}

void NicContext::push_stalled(sim::Pool<StalledPacket>& all, const fabric::Packet& packet, sim::SimTime ready) {
  const std::uint32_t slot = all.acquire();
  all[slot] = {.ready = ready, .packet = packet};
  if (has_stalled()) {
    all[all[stalled_first_].last].next = slot;
  } else {
    stalled_first_ = slot;
  }
  all[stalled_first_].last = slot;
}

fabric::Packet NicContext::pop_stalled(sim::Pool<StalledPacket>& all) {
  const StalledPacket taken = all[stalled_first_];
  all.release(stalled_first_);
  stalled_first_ = taken.next;
  if (has_stalled()) all[stalled_first_].last = taken.last;
  return taken.packet;
}

void NicContext::check(QpId id, sim::SimTime now) const {
  const Check check(now, "context", "queue pair", id);
  check.holds(gap_busy_.ps >= 0 && gap_busy_.ps <= std::max(unit_until(), now).ps, "its gaps follow each other");
  check.holds(answers_busy().ps >= 0, "its answers took a time");
}

}  // namespace loco::nic
