// Responder: answers, queued and sent in order (IBTA volume 1, 9.7.5).
#include <algorithm>

#include "nic_model/pcie/pcie.hpp"
#include "nic_model/port/context.hpp"
#include "nic_model/port/port.hpp"
#include "nic_model/responder/responder.hpp"
#include "probe/probe.hpp"

namespace loco::nic {

namespace {
using Op = fabric::Opcode;

/// Payload bytes of the next packet of the oldest response.
std::uint32_t next_segment(const Engine& engine, const Connection& qp, const Response& r) {
  if (r.opcode != Op::read_response) return 0;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(r.length - r.sent, mtu_of(engine, qp, r.length)));
}

/// The next packet of an answer. An ACK, a NAK and an atomic's response are a single packet.
fabric::Packet response_packet(const Engine& engine, QpId id, const Response& r) {
  const Connection& qp = engine.connections[id];
  fabric::Packet packet;
  packet.source = port_of(engine, qp);
  packet.destination = peer_port_of(engine, qp);
  packet.source_qp = id;
  packet.destination_qp = qp.peer();
  packet.opcode = r.opcode;
  packet.nak = r.nak;
  packet.psn = r.psn;
  packet.wqe = r.wqe;
  packet.a = r.value;
  packet.marked = r.marked;
  packet.entropy = r.entropy;
  if (r.opcode == Op::nak) packet.b = r.swap;
  if (r.opcode != Op::read_response) return packet;
  const auto index = static_cast<std::uint32_t>(r.sent / mtu_of(engine, qp, r.length));
  packet.offset =
      travels_by_words(engine, QpType::rc, r.length) ? 8 * engine.payloads.word_read(r.buffer, index) : r.sent;
  packet.total = r.length;
  packet.length = next_segment(engine, qp, r);
  packet.first = r.sent == 0;
  packet.last = r.sent + packet.length == r.length;
  packet.buffer = packet.length == 0 ? fabric::kNoBuffer : r.buffer;
  packet.psn = r.psn + index;
  const DeliveryPaths& paths = policy_of(engine, qp).paths;  // nobody answers data, so there is nothing to learn from
  if (paths.sprays()) packet.entropy = static_cast<std::uint16_t>(packet.psn.value() % paths.entropies);
  return packet;
}
}  // namespace

/// Flow model: a READ's answer may begin to flow once its first packet has been read.
void Responder::announce_response(Engine& engine, QpId id) const {
  const std::uint64_t first = engine.network.announce_after();
  const Connection& qp = engine.connections[id];
  const Response& r = responses_.front();
  if (r.read < first) return;
  fabric::Packet packet;
  packet.source = port_of(engine, qp);
  packet.destination = peer_port_of(engine, qp);
  packet.source_qp = id;
  packet.opcode = r.opcode;
  packet.length = r.length;
  const auto part = static_cast<std::uint32_t>(first);
  announce_message(engine, packet, there_before(engine, qp.node(), r.available, r.address, part, r.read));
}

/// True if the next packet may leave.
bool Responder::may_respond(const Engine& engine, const Connection& qp) const {
  if (responses_.empty() || !responses_.front().ready) return false;
  const Response& r = responses_.front();
  return r.read >= r.sent + next_segment(engine, qp, r) || r.opcode != Op::read_response;
}

/// Schedules the oldest answer if it has something to send.
void Responder::schedule_respond(Engine& engine, QpId id) {
  const Connection& qp = engine.connections[id];
  if (!respond_event_) settle_reads(engine, id);
  if (respond_event_ || responses_.empty() || !responses_.front().ready) return;
  const Response& r = responses_.front();
  sim::SimTime there = r.available;
  if (r.opcode == Op::read_response) {
    const std::uint32_t part = r.sent + next_segment(engine, qp, r);
    if (r.read < part) return announce_response(engine, id);
    there = there_before(engine, qp.node(), there, r.address, part, r.read);
  }
  respond_event_ = true;
  engine.schedule(kEventRespond, id, 0, std::max(there, transmit_free_));
}

/// Sends an answer ahead of those that wait for data.
void Responder::answer_now(Engine& engine, QpId id, const Response& response) const {
  send_packet(engine, response_packet(engine, id, response));
}

/// Queues an answer and returns its number.
std::uint64_t Responder::push_response(Engine& engine, QpId id, const Response& response) {
  responses_.push_back(response);
  schedule_respond(engine, id);
  return first_ + responses_.size() - 1;
}

/// As in the requester: most payload bytes of the packet after the one that is about to leave.
std::uint32_t Responder::payload_behind(const Engine& engine, const Connection& qp, bool last) const {
  if (last && responses_.size() == 1) return static_cast<std::uint32_t>(mtu_of(engine, qp));
  const Response& r = responses_[last ? 1 : 0];
  return r.opcode == Op::read_response ? next_segment(engine, qp, r) : 0;
}

/// A packet of a READ's answer leaves now. Returns when the next one's data is there, for a queue pair that reads
/// `nic.read_packets` packets ahead: each packet that leaves makes room, so the packet that many places later is
/// requested now, on the link after what the NIC is writing.
sim::SimTime Responder::next_packet_read(Engine& engine, QpId id, std::uint32_t bytes, std::uint32_t key) {
  const NicId node = engine.connections[id].node();
  const std::uint32_t packets = engine.profile(node).nic_read_packets;
  sim::Ring<sim::SimTime>& there = edit_disorder().packets_there;
  while (there.size() < packets - 1) there.push_back({});  // the first ones are all requested at once
  there.push_back(engine.now() + read_time_now(engine, node, key, bytes));
  const sim::SimTime next = there.front();
  there.pop_front();
  return next;
}

/// When the queue pair's next packet may follow an answer's packet that has the port until `port`. There is a gap after
/// the data of a READ.
sim::SimTime Responder::answer_free(Engine& engine, QpId id, const fabric::Packet& packet, std::uint32_t key,
                                    sim::SimTime port) {
  if (packet.opcode != Op::read_response) return port;
  const HardwareProfile& p = engine.profile(packet.source);
  sim::SimTime free = packet.last ? port + p.nic_read_gap : port;
  const bool one_of_several = !packet.first || !packet.last;
  if (p.nic_read_packets != 0 && one_of_several)
    free = std::max(free, next_packet_read(engine, id, packet.length, key));
  // A packet that waits for the port anyway does not wait for the gap.
  if (p.nic_read_gap.ps > 0 || free > port) engine.contexts[id].count_answer(free - engine.now());
  return free;
}

void Responder::respond(Engine& engine, QpId id) {
  if (wait_for_port(engine, id, true, responses_.empty() ? Op::read_response : responses_.front().opcode)) {
    LOCO_PROBE(responder_waits_for_port);
    return;
  }
  respond_event_ = false;
  const Connection& qp = engine.connections[id];
  settle_reads(engine, id);
  if (!may_respond(engine, qp)) return schedule_respond(engine, id);  // its answer was dropped by a RESET
  Response& r = responses_.front();
  const fabric::Packet packet = response_packet(engine, id, r);
  r.sent += packet.length;
  const sim::SimTime port = send_packet(engine, packet, payload_behind(engine, qp, packet.last));
  transmit_free_ = answer_free(engine, id, packet, r.rkey, port);
  if (packet.last) {
    engine.release(r.buffer);
    responses_.pop_front();
    ++first_;
  }
  schedule_respond(engine, id);
}

}  // namespace loco::nic
