#include "traffic.hpp"

#include <algorithm>

#include "fabric/topology/reports.hpp"

namespace loco::fabric {

using namespace sim::literals;

Traffic::Traffic(const Config& config, std::vector<Flow> flows, std::uint32_t ack_every)
    : flows_(std::move(flows)), states_(flows_.size()), hosts_(config.nodes), ack_every_(ack_every), fabric_(config) {
  for (std::uint32_t i = 0; i < flows_.size(); ++i) {
    hosts_[flows_[i].source].flows.push_back(i);
    states_[i].pace = flows_[i].start;
    states_[i].rate = Dcqcn(config.link_rate);
  }
  for (NodeId host = 0; host < hosts_.size(); ++host) {
    if (!hosts_[host].flows.empty()) events_.push({.at = {}, .what = kEventSend, .where = host});
  }
  fabric_.start(events_);
}

bool Traffic::step() {
  if (events_.empty()) return false;
  const sim::Event e = events_.pop_earliest();
  now_ = e.at;
  ++handled_;
  if (e.what == kEventSend || e.what == kEventResumed) {
    send_next(e.where);
  } else if (const auto packet = fabric_.handle(events_, now_, e)) {
    arrived(*packet);
  }
  while (fabric_.take_lost()) {
  }
  return true;
}

/// The next flow in turn that may send does; then the port is asked again.
void Traffic::send_next(NodeId host) {
  if (fabric_.paused(PortId(host), PortId(host), 0)) return fabric_.await_resume(PortId(host));
  Host& h = hosts_[host];
  sim::SimTime next = sim::SimTime::max();
  for (std::size_t n = 0; n < h.flows.size(); ++n) {
    h.turn = h.turn + 1 >= h.flows.size() ? 0 : h.turn + 1;
    const std::uint32_t flow = h.flows[h.turn];
    if (states_[flow].sent == flows_[flow].bytes) continue;
    if (states_[flow].pace <= now_) {
      events_.push({.at = send_packet(flow), .what = kEventSend, .where = host});
      return;
    }
    next = std::min(next, states_[flow].pace);
  }
  if (next != sim::SimTime::max()) events_.push({.at = next, .what = kEventSend, .where = host});
}

sim::SimTime Traffic::send_packet(std::uint32_t flow) {
  const Flow& f = flows_[flow];
  FlowState& s = states_[flow];
  Packet p;
  p.source = PortId(f.source);
  p.destination = PortId(f.destination);
  p.source_qp = p.destination_qp = flow;
  p.length = static_cast<std::uint32_t>(std::min<std::uint64_t>(kMtu, f.bytes - s.sent));
  p.first = s.sent == 0;
  p.last = s.sent + p.length == f.bytes;
  p.psn = Psn(s.next_psn++);
  p.wire = kOverhead + p.length + extension_header_bytes(p.opcode, p.first, p.last);
  s.sent += p.length;
  const DcqcnOptions& dcqcn = fabric_.config().options.dcqcn;
  if (dcqcn.enabled) {
    s.rate.on_bytes(now_, {p.wire}, dcqcn);
    s.pace = now_ + sim::transmission_time({p.wire}, s.rate.rate());
  }
  return fabric_.send(events_, now_, {}, p);
}

void Traffic::answer(const Packet& packet, Opcode opcode) {
  Packet a;
  a.source = packet.destination;
  a.destination = packet.source;
  a.source_qp = a.destination_qp = packet.source_qp;
  a.opcode = opcode;
  a.psn = packet.psn;
  a.wire = kOverhead + extension_header_bytes(opcode, true, true);
  fabric_.send(events_, now_, {}, a);
}

void Traffic::arrived(const Packet& packet) {
  for (const std::uint64_t word : {static_cast<std::uint64_t>(now_.ps), std::uint64_t{packet.destination.index()},
                                   std::uint64_t{packet.source_qp}, std::uint64_t{packet.psn.value()}}) {
    hash_ = (hash_ ^ word) * 0x100000001b3U;
  }
  FlowState& s = states_[packet.source_qp];
  const DcqcnOptions& dcqcn = fabric_.config().options.dcqcn;
  if (packet.opcode == Opcode::ack) {
    s.acks = std::max(s.acks, packet.psn.value() + 1);
    s.last_ack = now_;
    return;
  }
  if (packet.opcode == Opcode::cnp) {
    ++s.cnps;
    s.rate.on_cnp(now_, dcqcn);
    return;
  }
  ++data_packets_;
  s.delivered += packet.length;
  s.last_delivery = now_;
  if (packet.psn.value() != s.expected_psn) ++s.out_of_order;
  s.expected_psn = std::max(s.expected_psn, packet.psn.value() + 1);
  if (packet.marked) {
    ++s.marked;
    if (dcqcn.enabled && s.pacer.due(now_, dcqcn.cnp_interval)) answer(packet, Opcode::cnp);
  }
  if (ack_every_ != 0 && (packet.last || (packet.psn.value() + 1) % ack_every_ == 0)) answer(packet, Opcode::ack);
}

sim::SimTime Traffic::end() const {
  sim::SimTime last;
  for (const FlowState& s : states_) last = std::max(last, s.last_delivery);
  return last;
}

bool Traffic::all_delivered() const {
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    if (states_[i].delivered != flows_[i].bytes) return false;
  }
  return true;
}

std::vector<Flow> incast(std::uint32_t hosts, std::uint32_t senders, std::uint64_t bytes) {
  std::vector<Flow> flows;
  for (NodeId i = 0; i < senders; ++i) flows.push_back({.source = hosts - 1 - i, .destination = 0, .bytes = bytes});
  return flows;
}

std::vector<Flow> permutation(std::uint32_t hosts, std::uint64_t seed, std::uint64_t bytes) {
  std::vector<Flow> flows;
  for (const topology::Flow& f : topology::permutation_pattern(hosts, seed)) {
    flows.push_back({.source = f.source, .destination = f.destination, .bytes = bytes});
  }
  return flows;
}

Config fast_network(const topology::Parameters& shape) {
  return {.topology = Topology::shaped,
          .nodes = static_cast<std::uint32_t>(topology::size_of(shape).hosts),
          .link_rate = 100_Gbps,
          .link_delay = 1_us,
          .switch_latency = 300_ns,
          .shape = shape};
}

}  // namespace loco::fabric
