#include "nic_model/port/congestion.hpp"

#include <algorithm>

#include "nic_model/connection/connection.hpp"
#include "nic_model/port/context.hpp"
#include "nic_model/port/port.hpp"
#include "probe/probe.hpp"

namespace loco::nic {

namespace {
using fabric::CongestionAlgorithm;
using fabric::Psn;
using Op = fabric::Opcode;

/// The settings of the queue pair's congestion control.
const fabric::CongestionSettings& settings_of(const Engine& engine, QpId id) {
  return engine.kernel.congestion(engine.connections[id].congestion());
}

/// True for data that a requester sends and the peer acknowledges.
bool is_answered_data(const Engine& engine, const fabric::Packet& packet) {
  return (packet.opcode == Op::write || packet.opcode == Op::send) && packet.length > 0 &&
         packet.source != packet.destination && policy_of(engine, packet.source_qp).acknowledges();
}

/// True if the answer says that one packet, and all before the expected one, have arrived. An ACK in order can only say
/// that all packets up to its PSN have.
bool answers_one(const Engine& engine, const fabric::Packet& answer) {
  return answer.opcode == Op::nak || policy_of(engine, answer.source_qp).order.when_whole;
}
/// The PSN that the answer acknowledges; the last one if it acknowledges several.
Psn answered_by(const Engine& engine, const fabric::Packet& answer) {
  return answers_one(engine, answer) ? Psn(static_cast<std::uint32_t>(answer.a)) : answer.psn;
}

/// With selective repeat a NAK acknowledges packets, too.
bool answers_data(const Engine& engine, const fabric::Packet& packet) {
  const bool nak = packet.opcode == Op::nak && packet.nak == fabric::NakCode::psn_sequence_error &&
                   policy_of(engine, packet.source_qp).recovery.selective;
  return (packet.opcode == Op::ack || nak) && packet.source != packet.destination;
}

/// Base RTT: from the first bit of a packet on the first link until the sender has processed the answer.
sim::Duration round_trip(const Engine& engine, PortId from, PortId to, std::uint32_t wire) {
  const HardwareProfile& p = engine.profile(to);
  const auto answer = static_cast<std::uint32_t>(p.link_overhead.count) + fabric::kAethBytes;
  return engine.network.way(from, to, wire).time + p.nic_transmit + engine.network.way(to, from, answer).time;
}

/// The longest base RTT from this port to any other.
sim::Duration longest_round_trip(const Engine& engine, PortId from, std::uint32_t wire) {
  sim::Duration most{};
  for (const PortId to : engine.ports.ids()) {
    if (to != from) most = std::max(most, round_trip(engine, from, to, wire));
  }
  return most;
}

fabric::CongestionPath path_of(const Engine& engine, const fabric::CongestionSettings& settings, PortId from,
                               PortId to) {
  const HardwareProfile& p = engine.profile(from);
  const auto wire = static_cast<std::uint32_t>(p.link_mtu.count + p.link_overhead.count);
  fabric::CongestionPath path{.line = engine.network.port_rate(from),
                              .packet = {wire},
                              .segment = p.link_mtu,
                              .trims = engine.network.config().options.trim};
  if (!needs_answers(settings.algorithm)) return path;
  path.switches = engine.network.way(from, to, wire).switches;
  path.base_rtt = settings.others.base_rtt;
  if (path.base_rtt.ps == 0) {
    const bool longest = settings.algorithm == CongestionAlgorithm::hpcc;
    path.base_rtt = longest ? longest_round_trip(engine, from, wire) : round_trip(engine, from, to, wire);
  }
  return path;
}

CongestionControl& control_of(Engine& engine, QpId id, PortId to) {
  CongestionControl& c = engine.contexts[id].edit_congestion();
  if (!c.control.begun()) {
    const fabric::CongestionSettings& settings = settings_of(engine, id);
    c.control = fabric::Congestion(settings, path_of(engine, settings, port_of(engine, engine.connections[id]), to));
  }
  return c;
}

/// Copies to the answer what the network said of the packets that it acknowledges: the newest telemetry, and a mark if
/// any packet was marked.
void echo(CongestionControl& c, fabric::Packet& answer, Engine& engine) {
  const Psn psn = answered_by(engine, answer);
  const bool alone = policy_of(engine, answer.source_qp).order.when_whole;  // then each packet is answered at once
  bool found = false;
  fabric::Telemetry telemetry;
  while (!c.seen.empty() && (alone || c.seen.front().psn.distance(psn) <= 0)) {
    answer.marked = answer.marked || c.seen.front().marked;
    telemetry = c.seen.front().telemetry;
    found = true;
    c.seen.pop_front();
  }
  if (!found || telemetry.hops == 0 || answer.opcode != Op::ack) return;
  answer.wire += telemetry.wire();
  answer.b = engine.network.keep_telemetry(telemetry);
}

/// Limit on the records of packets that are never answered.
constexpr std::size_t kSeenMax = 4'096;
}  // namespace

void carry_feedback(Engine& engine, fabric::Packet& packet) {
  const CongestionAlgorithm algorithm = settings_of(engine, packet.source_qp).algorithm;
  if (!needs_answers(algorithm)) return;
  if (answers_data(engine, packet)) return echo(engine.contexts[packet.source_qp].edit_congestion(), packet, engine);
  if (!needs_telemetry(algorithm) || !is_answered_data(engine, packet)) return;
  packet.b = engine.network.keep_telemetry({});
  packet.wire += fabric::kTelemetryBytes;
}

sim::SimTime paced(Engine& engine, const fabric::Packet& packet, sim::SimTime at) {
  const fabric::CongestionSettings& settings = settings_of(engine, packet.source_qp);
  const sim::SimTime now = engine.now();
  // Only data that crosses the network is paced.
  if (settings.algorithm == CongestionAlgorithm::none || packet.length == 0 || packet.source == packet.destination) {
    return now;
  }
  const bool by_answers = needs_answers(settings.algorithm);
  if (by_answers && !is_answered_data(engine, packet)) return now;
  CongestionControl& c = control_of(engine, packet.source_qp, packet.destination);
  if (by_answers) {
    c.flight.sent(packet.psn, packet.wire,
                  at - sim::transmission_time({packet.wire}, engine.network.port_rate(packet.source)));
  }
  c.control.on_sent(now, {packet.wire}, settings);
  if (by_answers) {  // its rate may change before the next packet: paced_until()
    c.next = now;
    c.last = packet.wire;
    return now;
  }
  // Packets are spaced at the current rate.
  c.next = std::max(c.next, now) + sim::transmission_time({packet.wire}, c.control.rate());
  return c.next;
}

sim::SimTime paced_until(const Engine& engine, QpId id) {
  const CongestionControl& c = engine.contexts[id].congestion();
  const sim::BitsPerSecond rate = c.control.rate();
  return rate.value == 0 ? sim::SimTime{} : c.next + sim::transmission_time({c.last}, rate);
}

void take_feedback(Engine& engine, const fabric::Packet& packet) {
  const fabric::CongestionSettings& settings = settings_of(engine, packet.destination_qp);
  if (!needs_answers(settings.algorithm)) return;
  fabric::Telemetry telemetry;
  const bool carries = needs_telemetry(settings.algorithm) && packet.b != 0 &&
                       (packet.opcode == Op::ack || is_answered_data(engine, packet));
  if (carries) telemetry = engine.network.take_telemetry(static_cast<std::uint32_t>(packet.b));
  if (packet.trimmed) {
    LOCO_PROBE(feedback_of_a_trimmed_packet);
    return;
  }
  if (is_answered_data(engine, packet)) {
    if (!carries && !needs_marks(settings.algorithm)) return;
    CongestionControl& c = engine.contexts[packet.destination_qp].edit_congestion();
    if (c.seen.size() == kSeenMax) {
      LOCO_PROBE(feedback_never_echoed);
      c.seen.pop_front();
    }
    c.seen.push_back({packet.psn, packet.marked, telemetry});
    return;
  }
  const QpId id = packet.destination_qp;
  if (!answers_data(engine, packet) || packet.source_qp != engine.connections[id].peer()) return;
  CongestionControl& c = control_of(engine, id, packet.source);
  const bool ack = packet.opcode == Op::ack;
  const Psn psn = answered_by(engine, packet);
  const bool one = answers_one(engine, packet);
  Flight::Answered answered = one ? c.flight.answered(psn, engine.now()) : c.flight.answered_up_to(psn, engine.now());
  if (one) {  // all packets before the expected one have arrived as well
    const Psn last = ack ? packet.psn : packet.psn + Psn::kMask;
    const Flight::Answered before = c.flight.answered_up_to(last, engine.now());
    answered.bytes += before.bytes;
    answered.packets += before.packets;
  }
  if (answered.packets == 0) return;
  c.control.on_ack(engine.now(),
                   {.rtt = answered.rtt,
                    .acknowledged = {answered.bytes},
                    .in_flight = {c.flight.bytes()},
                    .packets = answered.packets,
                    .psn = psn,
                    .next = c.flight.next(),
                    .marked = packet.marked,
                    .telemetry = carries ? &telemetry : nullptr},
                   settings);
}

bool window_allows(const Engine& engine, QpId id, std::uint32_t wire) {
  const CongestionControl& c = engine.contexts[id].congestion();
  return c.control.may_send(c.flight.bytes(), wire);
}

void tell_acknowledged(Engine& engine, QpId id, Psn una) {
  if (engine.contexts[id].congestion().flight.bytes() == 0) return;
  engine.contexts[id].edit_congestion().flight.answered_up_to(una + Psn::kMask, engine.now());
}

void tell_timeout(Engine& engine, QpId id) {
  CongestionControl& c = engine.contexts[id].edit_congestion();
  c.control.on_timeout(engine.now(), settings_of(engine, id));
}

void tell_lost(Engine& engine, QpId id, Psn psn, bool trimmed) {
  CongestionControl& c = engine.contexts[id].edit_congestion();
  const Flight::Lost lost = c.flight.lose(psn, engine.now());
  if (lost.bytes == 0) return;
  LOCO_PROBE(congestion_control_hears_of_loss);
  c.control.on_loss(
      engine.now(),
      {.bytes = {lost.bytes}, .in_flight = {c.flight.bytes()}, .rtt = trimmed ? lost.rtt : sim::Duration{}},
      settings_of(engine, id));
}

void tell_all_sent_again(Engine& engine, QpId id, bool lost) {
  CongestionControl& c = engine.contexts[id].edit_congestion();
  const std::uint64_t bytes = c.flight.lose_all();
  if (lost && bytes != 0) c.control.on_loss(engine.now(), {.bytes = {bytes}}, settings_of(engine, id));
}

void answer_mark(Engine& engine, const fabric::Packet& packet) {
  const fabric::CongestionSettings& settings = settings_of(engine, packet.destination_qp);
  if (settings.algorithm != CongestionAlgorithm::dcqcn) return;
  CongestionControl& c = engine.contexts[packet.destination_qp].edit_congestion();
  if (!c.cnps.due(engine.now(), settings.dcqcn.cnp_interval)) return;
  LOCO_PROBE(cnp_sent);
  fabric::Packet cnp;
  cnp.opcode = Op::cnp;
  cnp.source = packet.destination;
  cnp.destination = packet.source;
  cnp.source_qp = packet.destination_qp;
  cnp.destination_qp = packet.source_qp;
  send_packet(engine, cnp);
}

void slow_down(Engine& engine, QpId qp) {
  CongestionControl& c = control_of(engine, qp, peer_port_of(engine, engine.connections[qp]));
  c.control.on_cnp(engine.now(), settings_of(engine, qp));
}

}  // namespace loco::nic
