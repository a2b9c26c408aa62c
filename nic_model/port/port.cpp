#include "nic_model/port/port.hpp"

#include <algorithm>

#include "nic_model/connection/connection.hpp"
#include "nic_model/engine/check.hpp"
#include "nic_model/port/congestion.hpp"
#include "nic_model/port/context.hpp"
#include "nic_model/port/receive_buffer.hpp"
#include "probe/probe.hpp"

namespace loco::nic {

namespace {
const fabric::PacketFormat& format_of(const Engine& engine) { return engine.network.config().packets; }

/// Bytes on the wire. Where packets may be placed out of order, each packet of a WRITE must carry its address, in a
/// RETH.
std::uint32_t wire_bytes(const Engine& engine, const fabric::Packet& packet) {
  const HardwareProfile& p = engine.profile(packet.source);
  const std::uint32_t packets = format_of(engine).count(packet.length);
  const bool says_where =
      packet.opcode == fabric::Opcode::write && policy_of(engine, packet.source_qp).order.says_where;
  return packets * static_cast<std::uint32_t>(p.link_overhead.count) + packet.length +
         (says_where ? (packets - 1) * fabric::kRethBytes : 0) +
         fabric::extension_header_bytes(packet.opcode, packet.first || says_where, packet.last, packet.immediate);
}
/// True for an answer without payload, which is sent in the queue pair's ack_class.
bool is_bare_answer(fabric::Opcode op) {
  return op == fabric::Opcode::ack || op == fabric::Opcode::nak || op == fabric::Opcode::cnp;
}
}  // namespace

void announce_message(Engine& engine, fabric::Packet packet, sim::SimTime there) {
  const HardwareProfile& p = engine.profile(packet.source);
  packet.first = packet.last = true;
  packet.wire = wire_bytes(engine, packet);
  const sim::SimTime pipeline =
      std::max(engine.ports[first_port(engine.kernel.nic_of_port(packet.source))].pipeline_free(engine.now()), there);
  const sim::Duration buffered = engine.buffer_time(packet.source, format_of(engine).first(packet.length));
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
  const std::uint64_t pcie = engine.profile(packet.destination).pcie_rate.value;
  const std::uint64_t link = engine.network.train(packet).rate.value;
  if (link == 0 || pcie >= link) return link == 0 ? 0 : most;
  __extension__ using Wide = unsigned __int128;
  return std::min(most, static_cast<std::uint32_t>(static_cast<Wide>(packet.length) * pcie / link));
}

sim::Duration receive_buffer_time(const Engine& engine, const fabric::Packet& packet) {
  if (packet.length == 0) return {};
  return engine.buffer_time(packet.destination, packet.length - crossed_ahead(engine, packet));
}

namespace {
/// Ports that both NICs of a queue pair have.
std::uint32_t common_ports(const Engine& engine, const Connection& qp) {
  const HostsConfig& hosts = engine.kernel.config().hosts;
  return std::min(hosts.ports(engine.host_of(qp.node())), hosts.ports(engine.host_of(qp.peer_node())));
}
/// May packets of a queue pair take any of them?
bool takes_any_port(const Engine& engine, const Connection& qp) {
  return qp.type() == QpType::rc && qp.peer() != kNone && qp.peer_node() != qp.node() &&
         policy_of(engine, qp).order.writes_early && common_ports(engine, qp) > 1;
}

/// Of those the one that is free first and not paused, if one is not. False: the packet goes by its queue pair's port.
bool choose_port(Engine& engine, fabric::Packet& packet) {
  const Connection& qp = engine.connections[packet.source_qp];
  if (!takes_any_port(engine, qp)) return false;
  const std::uint8_t traffic_class = is_bare_answer(packet.opcode) ? qp.ack_class() : qp.traffic_class();
  std::uint32_t best = kNone;
  sim::SimTime best_next = sim::SimTime::max();
  for (std::uint32_t i = 0; i < common_ports(engine, qp); ++i) {
    const PortId from = engine.kernel.port_of(qp.node(), i);
    const PortId to = engine.kernel.port_of(qp.peer_node(), i);
    const sim::SimTime next = std::max(engine.ports[from].next(), engine.now());
    if (next >= best_next || engine.network.paused(from, to, traffic_class)) continue;
    best = i;
    best_next = next;
  }
  if (best == kNone) return true;
  packet.source = engine.kernel.port_of(qp.node(), best);
  packet.destination = engine.kernel.port_of(qp.peer_node(), best);
  return true;
}

bool any_port_open(const Engine& engine, const Connection& qp, std::uint8_t traffic_class) {
  for (std::uint32_t i = 0; takes_any_port(engine, qp) && i < common_ports(engine, qp); ++i) {
    const PortId from = engine.kernel.port_of(qp.node(), i);
    if (!engine.network.paused(from, engine.kernel.port_of(qp.peer_node(), i), traffic_class)) return true;
  }
  return false;
}

/// One of them takes the next packet then, where the one that has taken this one would do so at `port`.
sim::SimTime next_of_any(Engine& engine, const fabric::Packet& packet, sim::SimTime port) {
  const Connection& qp = engine.connections[packet.source_qp];
  engine.ports[packet.source].set_next(port);
  for (std::uint32_t i = 0; i < common_ports(engine, qp); ++i)
    port = std::min(port, std::max(engine.ports[engine.kernel.port_of(qp.node(), i)].next(), engine.now()));
  return port;
}
}  // namespace

sim::SimTime send_packet(Engine& engine, fabric::Packet packet, std::uint32_t following) {
  const HardwareProfile& p = engine.profile(packet.source);
  const bool sprays = engine.kernel.several_ports() && choose_port(engine, packet);
  packet.wire = wire_bytes(engine, packet);
  const Connection& sender = engine.connections[packet.source_qp];
  packet.traffic_class = is_bare_answer(packet.opcode) ? sender.ack_class() : sender.traffic_class();
  if (engine.kernel.controls()) carry_feedback(engine, packet);
  engine.count(&Counters::packets_sent);
  packet.serial = static_cast<std::uint32_t>(engine.kernel.counters().packets_sent);
  engine.count(&Counters::wire_bytes_sent, packet.wire);
  engine.hold(packet.buffer);
  engine.tell(PacketStep::sent, packet);
  if (MessageObserver* m = engine.messages(); m != nullptr && packet.call != 0)
    m->on_request_packet(PacketStep::sent, packet);
  const sim::Duration buffered = engine.buffer_time(packet.source, format_of(engine).first(packet.length));
  Port& first =
      engine
          .ports[engine.kernel.several_ports() ? first_port(engine.kernel.nic_of_port(packet.source)) : packet.source];
  const sim::SimTime pipeline = first.enter_pipeline(engine.now(), p.nic_packet_gap);
  // What a NIC sends to itself skips the transmit and receive pipelines and costs only nic.loopback.
  const bool loopback = packet.source == packet.destination;
  const sim::Duration way = (loopback ? sim::Duration{} : p.nic_transmit) + buffered;
  sim::SimTime port =
      engine.network.send(engine.kernel.events(), engine.now(), (pipeline - engine.now()) + way, packet);
  if (engine.kernel.loses_packets()) release_lost(engine);
  const sim::SimTime sent = port + (pipeline - engine.now()) + way;  // when its last bit leaves
  if (sprays) port = next_of_any(engine, packet, port);
  const sim::Duration lead = std::max(engine.buffer_time(packet.source, following), buffered) - buffered;
  return std::max({port - lead, pipeline, paced(engine, packet, sent)});
}

void release_lost(Engine& engine) {
  while (const std::optional<fabric::Lost> lost = engine.network.take_lost()) {
    engine.count(&Counters::packets_lost);
    engine.release(lost->packet.buffer);
  }
}

bool wait_for_port(Engine& engine, QpId id, bool responder, fabric::Opcode next) {
  const Connection& qp = engine.connections[id];
  const PortId port = port_of(engine, qp);
  const PortId to = peer_port_of(engine, qp);
  if (to == port) return wait_for_own_buffer(engine, id, responder);
  const std::uint8_t traffic_class = is_bare_answer(next) ? qp.ack_class() : qp.traffic_class();
  if (!engine.network.paused(port, to, traffic_class)) return false;
  if (engine.kernel.several_ports() && any_port_open(engine, qp, traffic_class)) return false;
  LOCO_PROBE(port_paused);
  // With planes or traffic classes, a queue pair that waited before may be waiting for another port.
  if (engine.ports[port].wait({id, responder}) || engine.network.config().planes || engine.network.config().classed())
    engine.network.await_resume(port);
  return true;
}

void wake(Engine& engine, const PortWaiter& waiter) {
  engine.schedule(waiter.responder ? kEventRespond : kEventTransmit, waiter.qp, 0, engine.now());
}

void Port::wake_all(Engine& engine) {
  for (; !waiters_.empty(); waiters_.pop_front()) wake(engine, waiters_.front());
}

void Port::hash(Hasher& h) const {
  h.add(waiters_.size());
  for (std::size_t i = 0; i < waiters_.size(); ++i) h.add_all(waiters_[i].qp, waiters_[i].responder);
}

void Port::check(PortId port, sim::SimTime now) const {
  const Check check(now, "port", "number", port);
  check.holds(busy_pipeline_.ps <= transmit_free_.ps, "its pipeline was busy no longer than until it is free");
  for (std::size_t i = 0; i < waiters_.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k)
      check.holds(!(waiters_[i] == waiters_[k]), "who waits for the port does so once");
  }
}

void port_resumed(Engine& engine, PortId port) { engine.ports[port].wake_all(engine); }

}  // namespace loco::nic
