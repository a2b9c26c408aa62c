// System::footprint: what a pending event will touch.
#include "nic_model/exploration/footprint.hpp"

#include "nic_model/pcie/parts.hpp"
#include "nic_model/pcie/pcie.hpp"
#include "nic_model/requester/requester.hpp"
#include "nic_model/requester/wqe.hpp"
#include "nic_model/state.hpp"
#include "nic_model/system.hpp"

namespace loco::nic {

namespace {
using Kind = Footprint::Kind;
using Enters = Footprint::Enters;

Footprint of_drain(const State& s, ThreadId id) {
  const Thread& thread = s.threads[id];
  const StoreEntry& entry = thread.oldest_store();
  if (entry.receive) return {.kind = Kind::internal, .queues = true, .thread = id, .node = thread.node().index()};
  if (entry.doorbell) {
    return {.kind = Kind::internal, .enters = Enters::eager, .thread = id, .node = thread.node().index()};
  }
  return {
      .kind = Kind::memory_write, .thread = id, .node = thread.node().index(), .address = entry.address, .bytes = 8};
}

Footprint of_commit(const Engine& engine, std::uint32_t domain, std::uint64_t number, std::uint32_t part) {
  const PostedDomain& d = engine.domains[domain];
  const PostedWrite& write = d.write(number);
  if (write.is_cqe) return {.kind = Kind::internal, .queues = true, .node = engine.node_of(d.node())};
  const Part next =
      part == 0 ? Part{write.committed,
                       write_step(engine, d.node(), write.address + write.committed, write.length - write.committed)}
                : Parts(engine.profile(d.node()).nic_word_unit.count, write.address, 0, write.length).at(part - 1);
  return {.kind = write.ends_atomic ? Kind::atomic : Kind::memory_write,
          .placed = write.stamp == Stamp::aNRW,
          .node = engine.node_of(d.node()),
          .address = write.address + next.offset,
          .bytes = next.bytes};
}

Footprint of_payload_read(const Engine& engine, QpId id, std::uint32_t number, std::uint32_t part) {
  const NodeId node = engine.node_of(engine.connections[id].node());
  const Requester& rq = engine.requesters[id];
  if (!rq.holds(number)) return {.qp = id, .node = node};
  const SendEntry& e = rq.entry(number);
  // A fence may wait for it: then the next work request starts, and may read over PCIe.
  const bool fenced = rq.first_unstarted() != nullptr && rq.first_unstarted()->fence;
  if (e.payload_read >= bytes_to_read(e.wqe)) return {.qp = id, .node = node};  // nic.stale_operands
  const PayloadStep step = rq.payload_part(engine, id, number, part);
  return {.kind = Kind::memory_read,
          .enters = fenced ? Enters::eager : Enters::none,
          .qp = id,
          .node = node,
          .address = step.address,
          .bytes = step.bytes};
}

Footprint of_remote_read(const Engine& engine, QpId id, std::uint64_t number, std::uint32_t part) {
  const NodeId node = engine.node_of(engine.connections[id].node());
  const Responder& rs = engine.responders[id];
  if (!rs.holds(number)) return {.qp = id, .node = node};
  const Part next = rs.read_part(engine, id, number, part);
  return {.kind = Kind::memory_read,
          .qp = id,
          .node = node,
          .address = rs.response(number).address + next.offset,
          .bytes = next.bytes};
}

/// Data comes back for a work request, if that is still known.
void answer(Footprint& f, const Requester& rq, std::uint32_t number) {
  const Wqe wqe = rq.holds(number) ? rq.entry(number).wqe : Wqe{};
  f.kind = Kind::response;
  f.enters = Enters::posted;
  f.address = wqe.local;
  f.wr_id = wqe.wr_id;
  f.requests_waiting = rq.first_unstarted() != nullptr;
}

Footprint of_packet(const State& s, const Engine& engine, const fabric::Packet& packet, bool on_link) {
  Footprint f{.enters = Enters::eager,
              .on_link = on_link,
              .qp = packet.destination_qp,
              .node = engine.kernel.host_of(packet.destination).index()};
  f.queues = packet.immediate || packet.opcode == fabric::Opcode::send || packet.opcode == fabric::Opcode::datagram;
  f.may_be_lost = s.connections[packet.destination_qp].type() != QpType::rc;
  const bool refused = f.queues && needs_receive(packet) && !s.responders[packet.destination_qp].can_receive(engine);
  f.unready = refused && !f.may_be_lost;
  switch (packet.opcode) {
    case fabric::Opcode::write:
      f.kind = Kind::request;
      f.enters = Enters::posted;
      f.address = packet.address + packet.offset;
      f.bytes = packet.length;
      break;
    case fabric::Opcode::read_response:
      answer(f, s.requesters[packet.destination_qp], packet.wqe);
      f.address += packet.offset;
      f.bytes = packet.length;
      break;
    case fabric::Opcode::atomic_response:
      answer(f, s.requesters[packet.destination_qp], packet.wqe);
      f.bytes = 8;
      break;
    case fabric::Opcode::compare_swap:
    case fabric::Opcode::fetch_add:
      f.kind = Kind::atomic_request;
      f.enters = Enters::posted;
      break;
    default:
      break;
  }
  return f;
}

/// A datagram that others may overtake is let loose only: nothing has happened yet.
Footprint of_lane(const State& s, const Engine& engine, const fabric::Packet& packet) {
  const bool loose = packet.opcode == fabric::Opcode::datagram && engine.kernel.datagrams_overtake();
  if (loose)
    return {.on_link = true, .qp = packet.destination_qp, .node = engine.kernel.host_of(packet.destination).index()};
  return of_packet(s, engine, packet, true);
}

Footprint of_stray(const State& s, const Engine& engine, const fabric::Packet& packet) {
  Footprint f = of_packet(s, engine, packet, false);
  f.loose = true;
  return f;
}
}  // namespace

namespace {
Footprint of_event(State& s, std::size_t i) {
  const Engine engine(s.units(), nullptr);  // what the helpers take; nothing is changed
  const sim::Event& e = s.kernel.events().pending(i);
  const auto part = static_cast<std::uint32_t>(e.b);
  switch (e.what) {
    case fabric::kEventLane:
      return of_lane(s, engine, s.network->lane_packet(e.where, 0));
    case kEventArrival:
      return of_packet(s, engine, s.stalled[s.contexts[e.where].stalled_first()].packet, false);
    case kEventStrayRequest:
      return of_stray(s, engine, s.responders[e.where].stray(static_cast<std::uint32_t>(e.a)));
    case kEventThreadStep:
      return {.kind = Kind::thread_step, .thread = e.where, .node = s.threads[e.where].node().index()};
    case kEventDrain:
      return of_drain(s, e.where);
    case kEventReadPayload:
      return of_payload_read(engine, e.where, static_cast<std::uint32_t>(e.a), part);
    case kEventReadRemote:
      return of_remote_read(engine, e.where, e.a, part);
    case kEventCommit:
      return of_commit(engine, e.where, e.a, part);
    case kEventDoorbell:
    case kEventFetchWqe:
    case kEventUnitFree:
      return {.enters = Enters::eager};
    case kEventTransmit:
    case kEventRespond:
      return {.enters = Enters::link};
    case kEventTimeout:
    case kEventRnrTimer:
      return {.enters = Enters::link, .queues = true};
    case kEventAtomic:
      return {.kind = Kind::atomic, .node = engine.node_of(NicId(e.where))};
    case kEventAtomicDone:
      return {.node = engine.node_of(NicId(e.where))};
    default:
      return {};
  }
}
}  // namespace

/// Memory and threads are the host's, whichever NIC works for them.
Footprint System::footprint(std::size_t i) const { return of_event(*state_, i); }

}  // namespace loco::nic
