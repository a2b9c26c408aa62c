#include "nic_model/port/receive_buffer.hpp"

#include <algorithm>

#include "nic_model/connection/connection.hpp"
#include "nic_model/port/port.hpp"
#include "nic_model/records.hpp"

namespace loco::nic {

namespace {

bool drops(const Engine& engine) {
  return engine.network.config().options.flow_control == fabric::FlowControl::drop_tail;
}

void set_full(Engine& engine, NodeId node, bool full) {
  engine.hosts[node].received.full = full;
  if (full) engine.count(&Counters::tx_pauses);
  engine.network.pause_host(engine.kernel.events(), engine.now(), node, full);
}

}  // namespace

void set_up_receive_buffers(std::vector<Host>& hosts, const fabric::Network& network, const HardwareProfile& profile) {
  const std::uint64_t size = profile.nic_receive_buffer.count;
  if (size == 0 || profile.link_ideal || network.whole_messages()) return;
  const std::uint64_t packet = network.config().packet_max.count;
  for (NodeId node = 0; node < hosts.size(); ++node) {
    ReceiveBuffer& buffer = hosts[node].received;
    // A link that is so long that what is on it does not fit is paused at half: hardware loses packets there.
    const std::uint64_t headroom = std::min(network.host_headroom(node), size / 2);
    buffer.xoff = size - headroom;
    buffer.xon = buffer.xoff - std::min(buffer.xoff, packet);
  }
}

bool admit_received(Engine& engine, const fabric::Packet& packet) {
  const ReceiveBuffer& buffer = engine.hosts[packet.destination].received;
  if (buffer.xoff == 0 || packet.length == 0 || !drops(engine) || packet.source == packet.destination) return true;
  if (buffer.used + packet.length <= engine.profile().nic_receive_buffer.count) return true;
  engine.count(&Counters::rx_discards);
  return false;
}

void hold_received(Engine& engine, NodeId node, std::uint32_t bytes) {
  ReceiveBuffer& buffer = engine.hosts[node].received;
  buffer.used += bytes;
  if (buffer.used <= buffer.xoff || buffer.full || buffer.xoff == 0 || drops(engine)) return;
  set_full(engine, node, true);
}

void release_received(Engine& engine, NodeId node, std::uint32_t bytes) {
  ReceiveBuffer& buffer = engine.hosts[node].received;
  buffer.used -= bytes;
  if (!buffer.full || buffer.used > buffer.xon) return;
  set_full(engine, node, false);
  send_waiting(engine, buffer.own);
}

bool wait_for_own_buffer(Engine& engine, QpId id, bool responder) {
  ReceiveBuffer& buffer = engine.hosts[engine.connections[id].node()].received;
  if (!buffer.full) return false;
  buffer.own.push_back({id, responder});
  return true;
}

}  // namespace loco::nic
