#include "nic_model/event_dispatch.hpp"

#include <fmt/format.h>
#include <optional>
#include <stdexcept>

#include "nic_model/host/process.hpp"
#include "nic_model/host/thread.hpp"
#include "nic_model/pcie/link.hpp"
#include "nic_model/pcie/pcie.hpp"
#include "nic_model/port/congestion.hpp"
#include "nic_model/port/context.hpp"
#include "nic_model/port/port.hpp"
#include "nic_model/port/receive_buffer.hpp"
#include "nic_model/requester/ack_timers.hpp"
#include "nic_model/requester/requester.hpp"
#include "nic_model/responder/atomics.hpp"
#include "nic_model/responder/responder.hpp"
#include "nic_model/verbs/cpu.hpp"
#include "nic_model/verbs/store_buffer.hpp"

namespace loco::nic {

namespace {

void run_thread(Engine& engine, ThreadId id) {
  engine.threads[id].begin_step();
  Cpu cpu(engine, id);
  engine.context->runner.run(cpu);
  if (engine.threads[id].state() == ThreadState::running) {
    throw std::logic_error("a thread's step must end with a word on when it goes on");
  }
}

void take_packet(Engine& engine, const fabric::Packet& packet) {
  if (fabric::is_response(packet.opcode)) {
    engine.requesters[packet.destination_qp].take_response(engine, packet);
  } else {
    engine.responders[packet.destination_qp].request_arrived(engine, packet);
  }
}

void deliver(Engine& engine, const sim::Event& event) {
  const std::optional<fabric::Packet> packet = engine.network.handle(engine.kernel.events(), engine.now(), event);
  if (engine.kernel.loses_packets()) release_lost(engine);
  if (engine.kernel.ranked() && engine.network.take_no_step()) engine.kernel.uncount_step();
  if (!packet) return;
  if (engine.context->lose) return engine.release(packet->buffer);
  if (engine.kernel.controls()) take_feedback(engine, *packet);
  if (packet->trimmed) {
    engine.release(packet->buffer);
    return engine.responders[packet->destination_qp].take_trimmed(engine, *packet);
  }
  if (!admit_received(engine, *packet)) return engine.release(packet->buffer);
  engine.tell(PacketStep::received, *packet);
  if (MessageObserver* m = engine.messages(); m != nullptr && packet->call != 0)
    m->on_request_packet(PacketStep::received, *packet);
  if (packet->marked && fabric::ecn_capable(packet->opcode)) answer_mark(engine, *packet);
  if (packet->opcode == fabric::Opcode::cnp) {
    slow_down(engine, packet->destination_qp);
  } else if (!hold_arrival(engine, *packet)) {
    take_packet(engine, *packet);
  }
}

/// The oldest doorbell reaches the NIC.
void ring(Engine& engine, NicId node) {
  const Doorbell doorbell = take_doorbell(engine, node);
  engine.requesters[doorbell.qp].ring(engine, doorbell.qp, doorbell.posted, doorbell.blueflame);
}

/// Somebody outside of the machine does.
void change_flag(Engine& engine, HostId host, std::uint32_t flag, std::uint64_t value) {
  engine.processes[host].set_flag(flag, value);
  touched(engine, host, watch_key(WatchKind::flag, flag));
}

/// The queue pair's wait for a processing unit ends.
void unit_free(Engine& engine, QpId id) {
  const bool in_turn = begin_turn(engine, id);
  engine.requesters[id].start(engine, id, {});
  if (in_turn) end_turn(engine, id);
}

}  // namespace

void handle(Engine& engine, const sim::Event& e) {
  const auto number = static_cast<std::uint32_t>(e.a);
  switch (e.what) {
    case fabric::kEventLane:
    case fabric::kEventDepart:
    case fabric::kEventPause:
    case fabric::kEventLink:
    case fabric::kEventReroute:
    case fabric::kEventHeaders:
    case fabric::kEventWatch:
    case fabric::kEventStorm:
      return deliver(engine, e);
    case fabric::kEventResumed:
      return port_resumed(engine, PortId(e.where));
    case kEventThreadStep:
      return run_thread(engine, e.where);
    case kEventDrain:
      return drain(engine, e.where);
    case kEventDoorbell:
      return ring(engine, NicId(e.where));
    case kEventFetchWqe:
      return engine.requesters[e.where].wqes_fetched(engine, e.where, number);
    case kEventReadPayload:
      return engine.requesters[e.where].read_payload(engine, e.where, number, static_cast<std::uint32_t>(e.b));
    case kEventTransmit:
      return engine.requesters[e.where].transmit(engine, e.where);
    case kEventReadRemote:
      return engine.responders[e.where].read_remote(engine, e.where, e.a, static_cast<std::uint32_t>(e.b));
    case kEventAtomic:
      return execute_atomic(engine, NicId(e.where), number);
    case kEventAtomicDone:
      return atomic_done(engine, NicId(e.where), number);
    case kEventRespond:
      return engine.responders[e.where].respond(engine, e.where);
    case kEventCommit:
      return commit(engine, e.where, e.a, static_cast<std::uint32_t>(e.b));
    case kEventStrayRequest:
      return engine.responders[e.where].stray_request(engine, e.where, number);
    case kEventTimeout:
      return engine.requesters[e.where].timed_out(engine, e.where);
    case kEventAckTimers:
      return engine.ack_timers[e.where].look(engine, e.where);
    case kEventNoAnswer:
      return engine.requesters[e.where].take_no_answer(engine, e.where, no_answer_of(e));
    case kEventSetFlag:
      return change_flag(engine, HostId(e.where), number, e.b);
    case kEventRnrTimer:
      return engine.requesters[e.where].rnr_timer_expired(engine, e.where);
    case kEventUnitFree:
      return unit_free(engine, e.where);
    case kEventArrival:
      return take_packet(engine, next_arrival(engine, e.where));
    case kEventProbe:
      return probe_step(engine, NicId(e.where), number);
    case kEventProbeDone:
      return engine.links[NicId(e.where)].probe_done();
    default:
      throw std::logic_error(fmt::format("an event of unknown kind {}", e.what));
  }
}

}  // namespace loco::nic
