#include "nic_model/port/receive_buffer.hpp"

#include <algorithm>

#include "nic_model/connection/connection.hpp"
#include "nic_model/engine/check.hpp"
#include "nic_model/pcie/bursts.hpp"
#include "probe/probe.hpp"

namespace loco::nic {

namespace {

bool drops(const Engine& engine) {
  return engine.network.config().options.flow_control == fabric::FlowControl::drop_tail;
}

void set_full(Engine& engine, PortId port, bool full) {
  engine.receive_buffers[port].set_full(full);
  if (engine.kernel.bursts()) allow_write_bursts(engine, engine.kernel.nic_of_port(port), !full);
  if (full) {
    LOCO_PROBE(receive_buffer_pauses_link);
    engine.count(&Counters::tx_pauses);
  }
  engine.network.pause_host(engine.kernel.events(), engine.now(), port, full);
}

}  // namespace

// If the headroom is more than half of the buffer, because the link is long, the link is paused at half of it.
// Hardware would lose packets there.
ReceiveBuffer::ReceiveBuffer(std::uint64_t size, std::uint64_t headroom, std::uint64_t packet)
    : xoff_(size - std::min(headroom, size / 2)), xon_(xoff_ - std::min(xoff_, packet)) {}

bool ReceiveBuffer::hold(std::uint64_t bytes) {
  used_ += bytes;
  return used_ > xoff_ && !full_ && limited();
}

bool ReceiveBuffer::release(std::uint64_t bytes) {
  used_ -= bytes;
  return full_ && used_ <= xon_;
}

void ReceiveBuffer::wake_all(Engine& engine) {
  for (; !own_.empty(); own_.pop_front()) wake(engine, own_.front());
}

void ReceiveBuffer::check(PortId port, std::uint64_t size, sim::SimTime now) const {
  const Check check(now, "receive buffer", "port", port);
  check.holds(xon_ <= xoff_ && xoff_ <= size, "thresholds are in order, and within the buffer");
  check.holds(!full_ || limited(), "without a limit it is never full");
  check.holds(!full_ || used_ > xon_, "it is full until there is room again");
  check.holds(full_ || own_.empty(), "queue pairs wait for it while it is full");
}

sim::IdVector<PortId, ReceiveBuffer> make_receive_buffers(const Kernel& kernel, const fabric::Network& network) {
  sim::IdVector<PortId, ReceiveBuffer> buffers(kernel.ports());
  if (kernel.config().profile.link_ideal || network.whole_messages()) return buffers;
  const std::uint64_t packet = network.config().packet_max.count;
  for (const PortId port : kernel.all_ports()) {
    const std::uint64_t size = kernel.profile(port).nic_receive_buffer.count;
    if (size != 0) buffers[port] = {size, network.host_headroom(port), packet};
  }
  return buffers;
}

bool admit_received(Engine& engine, const fabric::Packet& packet) {
  const ReceiveBuffer& buffer = engine.receive_buffers[packet.destination];
  if (!buffer.limited() || packet.length == 0 || !drops(engine) || packet.source == packet.destination) return true;
  if (engine.kernel.bursting()) settle_write_bursts(engine, engine.kernel.nic_of_port(packet.destination));
  const std::uint64_t takes = packet.length + engine.profile(packet.destination).received_besides(packet.length);
  if (buffer.used() + takes <= engine.profile(packet.destination).nic_receive_buffer.count) return true;
  LOCO_PROBE(receive_buffer_discards);
  engine.count(&Counters::rx_discards);
  return false;
}

void hold_received(Engine& engine, PortId port, std::uint32_t bytes) {
  ReceiveBuffer& buffer = engine.receive_buffers[port];
  if (engine.kernel.bursting() && buffer.limited()) settle_write_bursts(engine, engine.kernel.nic_of_port(port));
  if (buffer.hold(bytes) && !drops(engine)) set_full(engine, port, true);
}

void release_received(Engine& engine, PortId port, std::uint32_t bytes) {
  if (!engine.receive_buffers[port].release(bytes)) return;
  set_full(engine, port, false);
  engine.receive_buffers[port].wake_all(engine);
}

bool wait_for_own_buffer(Engine& engine, QpId id, bool responder) {
  ReceiveBuffer& buffer = engine.receive_buffers[port_of(engine, engine.connections[id])];
  if (!buffer.full()) return false;
  LOCO_PROBE(waits_for_own_receive_buffer);
  buffer.wait({id, responder});
  return true;
}

}  // namespace loco::nic
