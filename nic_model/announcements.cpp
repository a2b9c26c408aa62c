// Passes each unit's announcements to the unit concerned.
#include "nic_model/connection/completion_queue.hpp"
#include "nic_model/connection/failure.hpp"
#include "nic_model/host/process.hpp"
#include "nic_model/host/watch_set.hpp"
#include "nic_model/pcie/flow_control.hpp"
#include "nic_model/pcie/messages.hpp"
#include "nic_model/port/receive_buffer.hpp"
#include "nic_model/requester/requester.hpp"
#include "nic_model/responder/atomics.hpp"
#include "nic_model/responder/responder.hpp"
#include "nic_model/verbs/queue_pair.hpp"

namespace loco::nic {

void announce(Engine& engine, const ReadMayExecute& message) {
  const HeldRead& read = message.read;
  switch (read.kind) {
    case ReadKind::wqe_fetch:
      return Requester::wqe_fetch_may_execute(engine, read);
    case ReadKind::payload:
      return engine.requesters[read.where].payload_read_may_execute(engine, read);
    case ReadKind::remote_read:
      return engine.responders[read.where].remote_read_may_execute(engine, read);
    case ReadKind::atomic:
      engine.schedule(kEventAtomic, read.where, read.number,
                      take_request(engine, NicId(read.where), read.key, read.bytes, read.due, read.reach));
      return;
    case ReadKind::probe:
      return;  // handled by PCIe itself
  }
}

void announce(Engine& engine, const CqeLanded& message) {
  CompletionQueue& cq = engine.cqs[message.cq];
  if (!cq.write(message.cqe)) {
    if (Observer* o = engine.observer()) o->on_cq_overrun(cq.node().index(), message.cq, message.cqe, engine.now());
    return to_error(engine, message.cqe.qp);  // further completions for it are lost as well
  }
  engine.count(&Counters::completions);
  if (Observer* o = engine.observer()) o->on_cqe(cq.node().index(), message.cq, message.cqe, engine.now());
  touched(engine, cq.node(), watch_key(WatchKind::cq, message.cq));
}

void announce(Engine& engine, const ReceivedWaits& message) { hold_received(engine, message.port, message.bytes); }

void announce(Engine& engine, const ReceivedLanded& message) { release_received(engine, message.port, message.bytes); }

void announce(Engine& engine, const AtomicLanded& message) {
  atomic_done(engine, message.node, atomic_bank(engine.profile(message.node), message.address));
}

void announce(Engine& engine, const ConnectionFailed& message) { to_error(engine, message.qp); }

void announce(Engine& engine, const SendFailed& message) { send_failed(engine, message.qp); }

}  // namespace loco::nic
