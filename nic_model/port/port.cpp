#include "nic_model/port/port.hpp"

#include <algorithm>

#include "nic_model/connection/connection.hpp"
#include "nic_model/port/receive_buffer.hpp"
#include "nic_model/records.hpp"

namespace loco::nic {

namespace {
/// When a queue pair may send its next packet, by its rate under congestion control. Only data counts, and only what
/// passes the network.
sim::SimTime paced(Engine& engine, const fabric::Packet& packet) {
  const fabric::DcqcnOptions& options = engine.network.config().options.dcqcn;
  if (!options.enabled || packet.length == 0 || packet.source == packet.destination) return engine.now();
  CongestionControl& congestion = engine.contexts[packet.source_qp].congestion.edit();
  congestion.rate.on_bytes(engine.now(), {packet.wire}, options);
  // Requester and responder share the rate: each packet takes its turn behind those of both.
  congestion.next = std::max(congestion.next, engine.now()) + sim::transmission_time({packet.wire}, congestion.rate.rate());
  return congestion.next;
}

const fabric::PacketFormat& format_of(const Engine& engine) { return engine.network.config().packets; }

/// Bytes on the wire. What may be placed before what precedes it must say where: out of order, every packet of a WRITE
/// has a RETH.
std::uint32_t wire_bytes(const Engine& engine, const fabric::Packet& packet) {
  const HardwareProfile& p = engine.profile();
  const std::uint32_t packets = format_of(engine).count(packet.length);
  const bool says_where = overtakes(p.nic_placement) && packet.opcode == fabric::Opcode::write;
  return packets * static_cast<std::uint32_t>(p.link_overhead.count) + packet.length +
         (says_where ? (packets - 1) * fabric::kRethBytes : 0) +
         fabric::extension_header_bytes(packet.opcode, packet.first || says_where, packet.last, packet.immediate);
}
}  // namespace

void announce_message(Engine& engine, fabric::Packet packet, sim::SimTime there) {
  const HardwareProfile& p = engine.profile();
  packet.first = packet.last = true;
  packet.wire = wire_bytes(engine, packet);
  const sim::SimTime pipeline = std::max({engine.hosts[packet.source].transmit_free, engine.now(), there});
  const sim::Duration buffered = engine.buffer_time(format_of(engine).first(packet.length));
  engine.network.announce(engine.now(), (pipeline - engine.now()) + p.nic_transmit + buffered, packet);
}

void withdraw_message(Engine& engine, QpId id, bool responder) { engine.network.withdraw(id, responder); }

sim::Duration known_for(const Engine& engine, const fabric::Packet& packet) {
  const fabric::Train train = engine.network.train(packet);
  return train.behind == 0 ? sim::Duration{} : sim::transmission_time({train.behind}, train.rate);
}

std::uint32_t crossed_ahead(const Engine& engine, const fabric::Packet& packet) {
  const std::uint32_t most = packet.length - format_of(engine).first(packet.length);
  if (most == 0) return 0;
  const std::uint64_t pcie = engine.profile().pcie_rate.value;
  const std::uint64_t link = engine.network.train(packet).rate.value;
  if (link == 0 || pcie >= link) return link == 0 ? 0 : most;
  __extension__ using Wide = unsigned __int128;
  return std::min(most, static_cast<std::uint32_t>(static_cast<Wide>(packet.length) * pcie / link));
}

sim::Duration receive_buffer_time(const Engine& engine, const fabric::Packet& packet) {
  if (packet.length == 0) return {};
  return engine.buffer_time(packet.length - crossed_ahead(engine, packet));
}

sim::SimTime send_packet(Engine& engine, fabric::Packet packet, std::uint32_t following) {
  const HardwareProfile& p = engine.profile();
  packet.wire = wire_bytes(engine, packet);
  engine.count(&Counters::packets_sent);
  packet.serial = static_cast<std::uint32_t>(engine.kernel.counters().packets_sent);
  engine.count(&Counters::wire_bytes_sent, packet.wire);
  engine.hold(packet.buffer);
  if (Observer* o = engine.observer()) o->on_packet(PacketStep::sent, packet, engine.now());
  Host& host = engine.hosts[packet.source];
  const sim::SimTime pipeline = std::max(host.transmit_free, engine.now());
  host.transmit_free = pipeline + p.nic_packet_gap;
  const sim::Duration buffered = engine.buffer_time(format_of(engine).first(packet.length));
  host.busy.pipeline += p.nic_packet_gap;
  host.busy.buffer += buffered;
  // What a NIC sends to itself does not go through its transmit and receive pipelines: nic.loopback is all it takes.
  const bool loopback = packet.source == packet.destination;
  const sim::Duration way = (loopback ? sim::Duration{} : p.nic_transmit) + buffered;
  const sim::SimTime port =
      engine.network.send(engine.kernel.events(), engine.now(), (pipeline - engine.now()) + way, packet);
  if (engine.lossy()) release_lost(engine);
  const sim::Duration lead = std::max(engine.buffer_time(following), buffered) - buffered;
  return std::max({port - lead, pipeline, paced(engine, packet)});
}

void release_lost(Engine& engine) {
  while (const std::optional<fabric::Lost> lost = engine.network.take_lost()) {
    engine.count(&Counters::packets_lost);
    engine.release(lost->packet.buffer);
  }
}

bool wait_for_port(Engine& engine, QpId id, bool responder) {
  const NodeId node = engine.connections[id].node();
  if (engine.connections[id].peer_node() == node) return wait_for_own_buffer(engine, id, responder);
  if (!engine.network.paused(node)) return false;
  if (engine.hosts[node].port_waiters.empty()) engine.network.await_resume(node);
  engine.hosts[node].port_waiters.push_back({id, responder});
  return true;
}

void send_waiting(Engine& engine, sim::Ring<PortWaiter>& waiters) {
  for (; !waiters.empty(); waiters.pop_front()) {
    engine.schedule(waiters.front().responder ? kEventRespond : kEventTransmit, waiters.front().qp, 0, engine.now());
  }
}

void port_resumed(Engine& engine, NodeId node) { send_waiting(engine, engine.hosts[node].port_waiters); }

void answer_mark(Engine& engine, const fabric::Packet& packet) {
  const fabric::DcqcnOptions& options = engine.network.config().options.dcqcn;
  if (!options.enabled) return;
  if (!engine.contexts[packet.destination_qp].congestion.edit().cnps.due(engine.now(), options.cnp_interval)) return;
  fabric::Packet cnp;
  cnp.opcode = fabric::Opcode::cnp;
  cnp.source = packet.destination;
  cnp.destination = packet.source;
  cnp.source_qp = packet.destination_qp;
  cnp.destination_qp = packet.source_qp;
  send_packet(engine, cnp);
}

}  // namespace loco::nic
