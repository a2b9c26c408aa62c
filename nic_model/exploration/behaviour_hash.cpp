// System::behaviour_hash: what the future depends on, without when the state was reached.
#include "nic_model/engine/hash_parts.hpp"
#include "nic_model/state.hpp"
#include "nic_model/system.hpp"

namespace loco::nic {

namespace {

void add_host(Hasher& h, const Host& host) {
  h.add_all(host.doorbells.size(), host.atomics.size(), host.port_waiters.size());
  for (std::size_t i = 0; i < host.port_waiters.size(); ++i) {
    h.add_all(host.port_waiters[i].qp, host.port_waiters[i].responder);
  }
  for (std::size_t i = 0; i < host.doorbells.size(); ++i) {
    h.add_all(host.doorbells[i].qp, host.doorbells[i].posted, host.doorbells[i].blueflame);
  }
  h.add_all(host.unit_waiters.size(), host.probes.in_use(), host.words_read[0], host.words_read[1]);
  for (std::size_t i = 0; i < host.unit_waiters.size(); ++i) h.add(host.unit_waiters[i]);
  for (std::size_t i = 0; i < host.atomics.size(); ++i) h.add_all(host.atomics[i].qp, host.atomics[i].response);
}

void add_domain(Hasher& h, const Payloads& payloads, const PostedDomain& d) {
  h.add_all(d.first, d.writes.size(), d.held.size());
  for (std::size_t i = 0; i < d.writes.size(); ++i) {
    const PostedWrite& w = d.writes[i];
    h.add_all(w.is_cqe, w.has_event, w.done, w.ends_atomic, w.relaxed, w.length, w.committed, w.cq, w.address, w.value);
    add_payload(h, payloads, w.done ? fabric::kNoBuffer : w.buffer, w.offset, w.length);
    add_cqe(h, w.cqe);
  }
  for (std::size_t i = 0; i < d.held.size(); ++i) {
    h.add_all(d.held[i].kind, d.held[i].where, d.held[i].number, d.held[i].behind);
  }
}

void add_response(Hasher& h, const Payloads& payloads, const Response& p) {
  h.add_all(p.opcode, p.nak, p.ready, p.psn.value(), p.wqe, p.length, p.read, p.sent, p.address, p.value, p.compare_add,
            p.swap, p.request, p.held, p.again);
  add_payload(h, payloads, p.buffer, 0, p.read);
}

void add_early(Hasher& h, const Payloads& payloads, const Responder& r) {
  h.add(r.disorder->early.size());
  for (std::size_t i = 0; i < r.disorder->early.size(); ++i) {
    const Early& e = r.disorder->early[i];
    h.add_all(e.present, e.executed);
    if (e.present) add_packet(h, payloads, e.packet);
  }
}

void add_responder(Hasher& h, const Payloads& payloads, const Responder& r) {
  h.add_all(r.blocked, r.respond_event, r.write_valid, r.nak_sent, r.receiving, r.in_message, r.received,
            r.expected_psn.value(), r.done_psn.value(), r.first, r.responses.size(), r.disorder->waiting.size(),
            r.disorder->replays.size(), r.disorder->strays.in_use(), r.disorder->refused);
  if (r.receiving) add_receive(h, *r.receive);
  for (std::size_t i = 0; i < r.disorder->replays.size(); ++i)
    h.add_all(r.disorder->replays[i].psn.value(), r.disorder->replays[i].value);
  for (std::size_t i = 0; i < r.responses.size(); ++i) add_response(h, payloads, r.responses[i]);
  add_early(h, payloads, r);
  for (std::size_t i = 0; i < r.disorder->waiting.size(); ++i) {
    h.add(static_cast<std::uint64_t>(r.disorder->waiting[i].fate));
    add_packet(h, payloads, r.disorder->waiting[i].packet);
  }
  for (std::size_t i = 1; i < r.disorder->in_line.size(); ++i)
    add_packet(h, payloads, r.disorder->strays[r.disorder->in_line[i]]);
  h.add(r.disorder->read_stream.size());
  for (std::size_t i = 0; i < r.disorder->read_stream.size(); ++i) h.add(r.disorder->read_stream[i]);
}

/// A pending event stands for what it names; the stray request's slot for the packet in it.
std::uint64_t event_hash(const State& s, const sim::Event& e) {
  Hasher h;
  h.add_all(e.what, e.where);
  if (e.what == kEventStrayRequest) {
    add_packet(h, s.payloads, s.responders[e.where].disorder->strays[static_cast<std::uint32_t>(e.a)]);
  } else {
    h.add_all(e.a, e.b);
  }
  return h.value();
}

}  // namespace

std::uint64_t System::behaviour_hash() const {
  const State& s = *state_;
  Hasher all;
  // A hash a part, then one of these: the processor computes those of several parts at a time.
  const auto add = [&all](const auto& part) {
    Hasher h;
    part(h);
    all.add(h.value());
  };
  for (NodeId node = 0; node < s.hosts.size(); ++node) {
    add([&](Hasher& h) {
      h.add(s.memories[node].hash());
      s.processes[node].hash(h);
      add_host(h, s.hosts[node]);
    });
  }
  for (const Thread& thread : s.threads) add([&](Hasher& h) { thread.hash(h); });
  for (const PostedDomain& domain : s.domains) add([&](Hasher& h) { add_domain(h, s.payloads, domain); });
  for (const CompletionQueue& cq : s.cqs) add([&](Hasher& h) { cq.hash(h); });
  for (const ReceiveQueue& queue : s.receive_queues) add([&](Hasher& h) { queue.hash(h); });
  for (QpId qp = 0; qp < s.connections.size(); ++qp) {
    add([&](Hasher& h) { s.requesters[qp].hash(h, s.payloads); });
    add([&](Hasher& h) {
      h.add_all(s.connections[qp].state(), s.contexts[qp].waits_for_unit);
      add_responder(h, s.payloads, s.responders[qp]);
      for (std::uint32_t i = s.contexts[qp].stalled_first; i != kNone; i = s.stalled[i].next) {
        add_packet(h, s.payloads, s.stalled[i].packet);
      }
    });
  }
  for (std::size_t lane = 0; lane < s.network->lanes(); ++lane) {
    add([&](Hasher& h) {
      h.add(s.network->lane_size(lane));
      for (std::size_t i = 0; i < s.network->lane_size(lane); ++i) add_packet(h, s.payloads, s.network->lane_packet(lane, i));
    });
  }
  std::uint64_t pending = 0;  // a multiset: the order in the queue's storage is history
  const sim::EventQueue& events = s.kernel.events();
  for (std::size_t i = 0; i < events.size(); ++i) pending += event_hash(s, events.pending(i));
  all.add(pending);
  return all.value();
}

}  // namespace loco::nic
