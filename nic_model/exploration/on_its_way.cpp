// System::timer_is_early: for schedules without a clock, where a timer says something of what is lost only.
#include "nic_model/state.hpp"
#include "nic_model/system.hpp"

namespace loco::nic {

namespace {

bool between(const fabric::Packet& packet, QpId a, QpId b) {
  return (packet.source_qp == a && packet.destination_qp == b) || (packet.source_qp == b && packet.destination_qp == a);
}

bool in_network(const fabric::Network& network, QpId a, QpId b) {
  for (std::size_t lane = 0; lane < network.lanes(); ++lane) {
    for (std::size_t i = 0; i < network.lane_size(lane); ++i) {
      if (between(network.lane_packet(lane, i), a, b)) return true;
    }
  }
  return false;
}

}  // namespace

bool System::timer_is_early(std::size_t i) const {
  const State& s = *state_;
  const sim::Event& event = s.kernel.events().pending(i);
  if (event.what != kEventTimeout) return false;
  const QpId qp = event.where;
  const QpId peer = s.connections.at(qp).peer();
  if (peer == kNone) return false;
  return s.requesters[qp].has_packets_to_send() || s.responders[peer].has_answers_to_send() ||
         s.contexts[qp].stalled_first() != kNone || s.contexts[peer].stalled_first() != kNone ||
         in_network(*s.network, qp, peer);
}

}  // namespace loco::nic
