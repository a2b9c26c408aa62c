// Requester: turns started work requests into packets. Interface and order: requester.hpp.
#include <algorithm>
#include <cstring>

#include "nic_model/pcie/pcie.hpp"
#include "nic_model/port/congestion.hpp"
#include "nic_model/port/port.hpp"
#include "nic_model/requester/requester.hpp"
#include "nic_model/requester/wqe.hpp"
#include "probe/probe.hpp"

namespace loco::nic {

namespace {
using fabric::Psn;

/// True for an atomic that, by a flaw, leaves with whatever words the NIC has read last.
bool leaves_early(const HardwareProfile& p, const Connection& qp, const Wqe& wqe) {
  if (p.nic_stale_operands == StaleOperands::none || !gathers(wqe) || qp.peer_node() != qp.node()) return false;
  const StaleOperands kind = wqe.opcode == Opcode::fetch_add ? StaleOperands::add : StaleOperands::compare;
  return p.nic_stale_operands == kind || p.nic_stale_operands == StaleOperands::both;
}

bool has_operands(const SendEntry& e) { return e.payload_read >= bytes_to_read(e.wqe); }

/// Payload bytes of the packet of a WRITE or SEND that begins at `offset`.
std::uint32_t packet_bytes(const Engine& engine, const Connection& qp, const SendEntry& e, std::uint32_t offset) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(e.wqe.length - offset, mtu_of(engine, qp, e.wqe.length)));
}

/// Payload bytes of the next packet of a WRITE or SEND.
std::uint32_t next_packet(const Engine& engine, const Connection& qp, const SendEntry& e) {
  return packet_bytes(engine, qp, e, e.sent);
}

/// Bytes of a packet besides its payload.
std::uint32_t overhead(const Engine& engine, const Connection& qp) {
  return static_cast<std::uint32_t>(engine.profile(qp.node()).link_overhead.count);
}

/// The Q_Key of a datagram: the work request's, or the queue pair's own if that has the high bit set (IBTA volume 1,
/// 10.2.5).
std::uint32_t qkey_of(const Connection& qp, const Wqe& wqe) {
  constexpr std::uint32_t kControlled = 1U << 31U;
  return (wqe.remote_qkey & kControlled) != 0 ? qp.qkey() : wqe.remote_qkey;
}

fabric::Packet request_packet(const Engine& engine, QpId id, const SendEntry& e, std::uint32_t number) {
  const Connection& qp = engine.connections[id];
  const bool datagram = qp.type() == QpType::ud;
  fabric::Packet packet;
  packet.source = port_of(engine, qp);
  packet.source_qp = id;
  packet.destination_qp = datagram ? e.wqe.remote_qp : qp.peer();
  packet.destination = datagram ? port_of(engine, engine.connections[packet.destination_qp]) : peer_port_of(engine, qp);
  packet.wqe = number;
  packet.call = e.wqe.op;  // the requester may have dropped the work request before it is executed
  packet.thread = qp.thread();
  packet.rkey = datagram ? qkey_of(qp, e.wqe) : e.wqe.rkey;
  packet.total = e.wqe.length;
  packet.address = e.wqe.opcode == Opcode::send ? e.left_out : e.wqe.remote;
  return packet;
}

fabric::Opcode payload_opcode(const Connection& qp, const Wqe& wqe) {
  if (wqe.opcode == Opcode::rdma_write) return fabric::Opcode::write;
  return qp.type() == QpType::ud ? fabric::Opcode::datagram : fabric::Opcode::send;
}

/// Makes the packet of a WRITE or SEND that begins at `offset`. A packet of a message that travels by words carries the
/// word that was read at that position.
void add_payload(const Engine& engine, const Connection& qp, const SendEntry& e, std::uint32_t offset,
                 fabric::Packet& packet) {
  const auto index = static_cast<std::uint32_t>(offset / mtu_of(engine, qp, e.wqe.length));
  packet.opcode = payload_opcode(qp, e.wqe);
  packet.psn = e.psn + index;
  packet.offset =
      travels_by_words(engine, qp.type(), e.wqe.length) ? 8 * engine.payloads.word_read(e.buffer, index) : offset;
  packet.length = packet_bytes(engine, qp, e, offset);
  packet.first = offset == 0;
  packet.last = offset + packet.length == e.wqe.length;
  packet.buffer = packet.length == 0 ? fabric::kNoBuffer : e.buffer;
  packet.immediate = e.wqe.with_imm && packet.last;
  packet.a = e.wqe.imm;
  const std::uint32_t asks = policy_of(engine, qp).answers_each_packet() ? 1 : engine.kernel.ack_every(qp.node());
  const bool every = asks != 0 && (index + 1) % asks == 0;
  packet.ack_request = policy_of(engine, qp).acknowledges() && (packet.last || every);
}

/// An operand that was read from memory; 0 for the second one of a fetch-and-add.
std::uint64_t operand(const Engine& engine, const SendEntry& e, std::uint32_t index) {
  std::uint64_t word = 0;
  if (8 * index < bytes_to_read(e.wqe)) {
    std::memcpy(&word, engine.payloads.data(e.buffer) + std::size_t{8} * index, 8);
  }
  return word;
}

/// A READ request asks for the data that is still missing; an atomic is always whole.
void add_request(const Engine& engine, const Connection& qp, const SendEntry& e, fabric::Packet& packet) {
  packet.psn = e.psn;
  if (e.wqe.opcode == Opcode::rdma_read) {
    packet.opcode = fabric::Opcode::read_request;
    if (policy_of(engine, qp).order.answers_early) return;  // the data so far need not be the beginning
    packet.psn = e.psn + static_cast<std::uint32_t>(e.received / mtu_of(engine, qp, e.wqe.length));
    packet.address += e.received;
    packet.total -= e.received;
    return;
  }
  packet.opcode = e.wqe.opcode == Opcode::compare_swap ? fabric::Opcode::compare_swap : fabric::Opcode::fetch_add;
  packet.a = gathers(e.wqe) ? operand(engine, e, 0) : e.wqe.compare_add;
  packet.b = gathers(e.wqe) ? operand(engine, e, 1) : e.wqe.swap;
}

/// Number of PSNs from `psn` on that one request can ask for again: for a READ, all that follow.
std::uint32_t most_at_once(const SendEntry& e, Psn psn) {
  return e.wqe.opcode == Opcode::rdma_read ? e.packets - static_cast<std::uint32_t>(psn.distance(e.psn)) : 1;
}
}  // namespace

/// True if the next packet of the oldest unsent work request may leave.
bool Requester::may_transmit(const Engine& engine, QpId id) const {
  const Connection& qp = engine.connections[id];
  if (rnr_wait_ || transmit_next_ == started_) return false;
  const SendEntry& e = entry(transmit_next_);
  const bool may_wait = engine.kernel.holds_back() || policy_of(engine, qp).order.when_whole;
  if (e.status != Status::success || (may_wait && waits_for_answers(engine, id))) return false;
  if (gathers(e.wqe)) return has_operands(e) || leaves_early(engine.profile(qp.node()), qp, e.wqe);
  return !sends_payload(e.wqe.opcode) || e.payload_read >= e.sent + next_packet(engine, qp, e);
}

/// Number of unacknowledged PSNs before the next packet.
std::uint32_t Requester::sent_ahead(const Engine& engine, const Connection& qp) const {
  Psn next = next_psn_;
  if (transmit_next_ != started_) {
    const SendEntry& e = entry(transmit_next_);
    next = e.psn + static_cast<std::uint32_t>(e.sent / mtu_of(engine, qp));
  }
  return static_cast<std::uint32_t>(std::max(next.distance(una_), 0));
}

/// Number of packets that may be in flight.
std::uint32_t Requester::window(const Engine& engine, const Connection& qp) const {
  const std::uint32_t kAll = policy_of(engine, qp).order.when_whole ? kReorderWindow : kPsnsMax;
  const std::uint64_t mtu = mtu_of(engine, qp);
  const std::uint64_t bytes = engine.profile(qp.node()).nic_tx_window.count;
  const std::uint32_t most =
      bytes == 0 ? kAll : static_cast<std::uint32_t>(std::clamp<std::uint64_t>(bytes / mtu, 1, kAll));
  return window_->packets() == 0 ? most : std::min(most, window_->packets());
}

/// True if the next packet has to wait for answers. A single packet, or a READ request of any length, may always go.
bool Requester::window_is_full(const Engine& engine, const Connection& qp) const {
  if (!policy_of(engine, qp).acknowledges()) return false;
  const std::uint32_t ahead = sent_ahead(engine, qp);
  const SendEntry& e = entry(transmit_next_);
  const std::uint32_t psns = sends_payload(e.wqe.opcode) ? 1 : e.packets;
  return ahead > 0 && ahead + psns > window(engine, qp);
}

/// True if the window of packets or that of congestion control is full.
bool Requester::waits_for_answers(const Engine& engine, QpId id) const {
  const Connection& qp = engine.connections[id];
  if ((engine.kernel.windows() || policy_of(engine, qp).order.when_whole) && window_is_full(engine, qp)) {
    LOCO_PROBE(window_of_packets_full);
    return true;
  }
  const SendEntry& e = entry(transmit_next_);
  if (!engine.kernel.controls() || !sends_payload(e.wqe.opcode) || !policy_of(engine, qp).acknowledges()) return false;
  if (window_allows(engine, id, next_packet(engine, qp, e) + overhead(engine, qp))) return false;
  LOCO_PROBE(window_of_congestion_control_full);
  return true;
}

/// True if a retransmission may leave.
bool Requester::may_repeat(const Engine& engine, QpId id) const {
  if (!repeats() || rnr_wait_) return false;
  const Connection& qp = engine.connections[id];
  const auto bytes = static_cast<std::uint32_t>(mtu_of(engine, qp));
  return !engine.kernel.controls() || window_allows(engine, id, bytes + overhead(engine, qp));
}

/// In a window without the last packet of a message nobody would be asked for an answer, so one packet per quarter of
/// it asks.
void Requester::ask_within_window(const Engine& engine, const Connection& qp, fabric::Packet& packet) {
  if (packet.psn == una_) window_.edit().begins(engine.now(), engine.profile(qp.node()).nic_slow_restart_idle);
  if (!sends_payload(entry(transmit_next_).wqe.opcode)) return;
  const std::uint32_t most = window(engine, qp);
  const auto index = static_cast<std::uint32_t>(packet.psn.distance(una_)) + 1;
  const std::uint32_t quarter = std::max<std::uint32_t>(most / 4, 1);
  if (most < kPsnsMax && (index % quarter == 0 || index >= most)) packet.ack_request = true;
}

/// Flow model: a message may begin to flow once its first packet has been read.
void Requester::announce_oldest(Engine& engine, QpId id) const {
  const fabric::Network& network = engine.network;
  const Connection& qp = engine.connections[id];
  if (!network.whole_messages() || rnr_wait_ || transmit_next_ == started_ || qp.type() == QpType::ud) return;
  const SendEntry& e = entry(transmit_next_);
  if (e.status != Status::success || !sends_payload(e.wqe.opcode) || e.payload_read < network.announce_after()) return;
  fabric::Packet packet;
  packet.source = port_of(engine, qp);
  packet.destination = peer_port_of(engine, qp);
  packet.source_qp = id;
  packet.opcode = e.wqe.opcode == Opcode::rdma_write ? fabric::Opcode::write : fabric::Opcode::send;
  packet.length = e.wqe.length;
  packet.immediate = e.wqe.with_imm;
  const auto first = static_cast<std::uint32_t>(network.announce_after());
  announce_message(engine, packet, there_before(engine, qp.node(), e.ready, e.wqe.local, first, e.payload_read));
}

/// When the port, and the pacing of congestion control, allow the next packet.
sim::SimTime Requester::may_send_from(const Engine& engine, QpId id) const {
  return engine.kernel.controls() ? std::max(transmit_free_, paced_until(engine, id)) : transmit_free_;
}

/// Schedules the next packet if it can be sent.
void Requester::schedule_transmit(Engine& engine, QpId id) {
  const Connection& qp = engine.connections[id];
  if (transmit_event_) return;
  if (may_repeat(engine, id)) {
    transmit_event_ = true;
    engine.schedule(kEventTransmit, id, 0, std::max(may_send_from(engine, id), selective_->from()));
    return;
  }
  settle_payload(engine, id);
  if (!may_transmit(engine, id)) {
    shorten_payload_burst(engine, id);
    return announce_oldest(engine, id);
  }
  transmit_event_ = true;
  const SendEntry& e = entry(transmit_next_);
  sim::SimTime there = e.ready;
  if (sends_payload(e.wqe.opcode) && !e.wqe.inline_data) {
    there = there_before(engine, qp.node(), there, e.wqe.local, e.sent + next_packet(engine, qp, e), e.payload_read);
  }
  engine.schedule(kEventTransmit, id, 0, std::max(there, may_send_from(engine, id)));
}

/// Most payload bytes of the packet after the one that is about to leave. An unknown work request may have a packet of
/// any size.
std::uint32_t Requester::following_payload(const Engine& engine, const Connection& qp, bool last) const {
  const std::uint32_t next = transmit_next_ + (last ? 1 : 0);
  if (next == started_) return static_cast<std::uint32_t>(mtu_of(engine, qp));
  const SendEntry& e = entry(next);
  return sends_payload(e.wqe.opcode) ? next_packet(engine, qp, e) : 0;
}

void Requester::sent_last_packet(Engine& engine, QpId id, SendEntry& e) {
  ++transmit_next_;
  if (!policy_of(engine, id).acknowledges()) {  // sent is done, because nobody answers
    e.done = true;
    complete(engine, id, {});
  }
  free_finished(engine);
  start(engine, id, {});  // a fence may have waited for this packet
}

/// The packet that repeats `psn` of request `number`, or for a READ the request that asks again for `count` PSNs from
/// it on.
fabric::Packet Requester::repeated_packet(const Engine& engine, QpId id, std::uint32_t number, Psn psn,
                                          std::uint32_t count) const {
  const Connection& qp = engine.connections[id];
  const SendEntry& e = entry(number);
  fabric::Packet packet = request_packet(engine, id, e, number);
  packet.oldest = first_;
  const auto offset =
      static_cast<std::uint32_t>(mtu_of(engine, qp, e.wqe.length) * static_cast<std::uint32_t>(psn.distance(e.psn)));
  if (sends_payload(e.wqe.opcode)) {
    add_payload(engine, qp, e, offset, packet);
    packet.ack_request = true;
    return packet;
  }
  add_request(engine, qp, e, packet);
  if (e.wqe.opcode != Opcode::rdma_read) return packet;
  packet.psn = psn;
  packet.address += offset;
  packet.total = std::min(e.wqe.length - offset, static_cast<std::uint32_t>(mtu_of(engine, qp, e.wqe.length) * count));
  return packet;
}

/// Chooses the entropy, which switches hash.
void Requester::choose_path(const DeliveryPolicy& policy, QpId id, fabric::Packet& packet) {
  if (!policy.paths.sprays()) return;
  packet.entropy = static_cast<std::uint16_t>(packet_answers_.edit().entropies.next(policy.paths, id));
}

void Requester::repeat(Engine& engine, QpId id) {
  SelectiveRepeat& selective = selective_.edit();
  const Psn psn = selective.next();
  const std::uint32_t number = holder_of(psn);
  const bool known = number != started_ && !entry(number).done;
  const std::uint32_t most = known ? most_at_once(entry(number), psn) : 1;
  const std::uint32_t count = selective.take(most);
  if (!known) {
    LOCO_PROBE(repetition_not_needed_any_more);
    schedule_transmit(engine, id);
    if (!transmit_event_ && recovering_) start_timer(engine, id);
    return;
  }
  LOCO_PROBE(packet_sent_again);
  fabric::Packet packet = repeated_packet(engine, id, number, psn, count);
  const DeliveryPolicy& policy = policy_of(engine, id);
  if (policy.paths.sprays()) packet_answers_.edit().entropies.answered(policy.paths, selective.entropy_of(psn), false);
  choose_path(policy, id, packet);
  if (policy.recovery.rto_least.ps > 0) packet_answers_.edit().round_trips.forget();
  note_sent(engine, packet, count);
  engine.count(&Counters::retransmissions);
  transmit_free_ = send_packet(engine, packet, static_cast<std::uint32_t>(mtu_of(engine, engine.connections[id])));
  start_timer(engine, id);
  schedule_transmit(engine, id);
}

void Requester::transmit(Engine& engine, QpId id) {
  const Connection& qp = engine.connections[id];
  const DeliveryPolicy& policy = policy_of(engine, qp);
  if (wait_for_port(engine, id, false, fabric::Opcode::write)) {
    LOCO_PROBE(requester_waits_for_port);
    return port_is_closed(engine, id);
  }
  transmit_event_ = false;
  if (engine.kernel.controls() && engine.now() < may_send_from(engine, id)) return schedule_transmit(engine, id);
  if (may_repeat(engine, id)) {
    // What was due before that is held back.
    return engine.now() < selective_->from() ? schedule_transmit(engine, id) : repeat(engine, id);
  }
  settle_payload(engine, id);
  if (!may_transmit(engine, id)) {
    shorten_payload_burst(engine, id);
    // After a timeout, everything to be sent again has been answered meanwhile. Other answers may still be missing, so
    // the timer runs on.
    if (policy.recovery.selective && recovering_ && completed_ != started_) {
      LOCO_PROBE(nothing_left_to_send_again);
      start_timer(engine, id);
    }
    return;
  }
  SendEntry& e = edit(transmit_next_);
  if (gathers(e.wqe) && !has_operands(e)) {
    LOCO_PROBE(atomic_leaves_without_operands);
    take_stale_operands(engine, qp.node(), e);
    schedule_payload(engine, id);  // skips it: its read may still be pending long after its answer
  }
  fabric::Packet packet = request_packet(engine, id, e, transmit_next_);
  packet.oldest = first_;
  const bool has_payload = sends_payload(e.wqe.opcode);
  if (has_payload) {
    add_payload(engine, qp, e, e.sent, packet);
    e.sent += packet.length;
  } else {
    add_request(engine, qp, e, packet);
  }
  choose_path(policy, id, packet);
  const std::uint32_t psns = has_payload ? 1 : e.packets;
  if (engine.kernel.windows() && policy.acknowledges()) ask_within_window(engine, qp, packet);
  const std::uint32_t before = under_way();
  if (packet.psn == unsent_psn_) unsent_psn_ = packet.psn + psns;
  if (policy.recovery.selective) note_sent(engine, packet, psns);
  more_under_way(engine, qp, before);
  transmit_free_ = send_packet(engine, packet, following_payload(engine, qp, packet.last));
  if (timing_ && transmit_next_ == completed_) cancel_timer(engine);  // it covered the wait for the port
  if (packet.ack_request || reads_or_atomic(e.wqe.opcode)) {
    if (engine.kernel.windows()) window_.edit().sent(packet.psn, engine.now());
    if (policy.recovery.rto_least.ps > 0 && has_payload && !recovering_)
      packet_answers_.edit().round_trips.sent(packet.psn, engine.now());
    start_timer(engine, id);
  }
  if (packet.last) sent_last_packet(engine, id, e);
  schedule_transmit(engine, id);
}

}  // namespace loco::nic
