// System::behaviour_hash: what the future depends on, without when the state was reached.
#include "nic_model/engine/hash.hpp"
#include "nic_model/state.hpp"

namespace loco::nic {

namespace {

void add_payload(Hasher& h, const State& s, std::uint32_t buffer, std::uint32_t from, std::uint32_t length) {
  if (buffer == fabric::kNoBuffer) return;
  const std::byte* bytes = s.buffers[buffer].data() + from;
  for (std::uint32_t i = 0; i < length; i += 8) {
    std::uint64_t word = 0;
    for (std::uint32_t k = 0; k < 8 && i + k < length; ++k) {
      word |= static_cast<std::uint64_t>(bytes[i + k]) << (8 * k);
    }
    h.add(word);
  }
}

void add_packet(Hasher& h, const State& s, const fabric::Packet& p) {
  h.add_all(p.source_qp, p.opcode, p.first, p.last, p.nak, p.immediate, p.ack_request, p.psn.value(), p.wqe, p.rkey,
            p.offset, p.length, p.total, p.address, p.a, p.b);
  add_payload(h, s, p.buffer, p.offset, p.length);
}

void add_wqe(Hasher& h, const Wqe& w) {
  h.add_all(w.wr_id, w.opcode, w.signaled, w.fence, w.inline_data, w.length, w.lkey, w.rkey, w.local, w.remote,
            w.compare_add, w.swap, w.with_imm, w.imm, w.remote_qp, w.remote_qkey, w.gather);
}

void add_cqe(Hasher& h, const Cqe& c) {
  h.add_all(c.wr_id, c.qp, c.opcode, c.status, c.length, c.with_imm, c.imm, c.source_qp, c.wqe);
}

void add_receive(Hasher& h, const RecvWqe& w) { h.add_all(w.wr_id, w.address, w.length, w.lkey); }

void add_receive_queue(Hasher& h, const ReceiveQueue& q) {
  h.add_all(q.limit, q.limit_reached, q.visible, q.entries.size());
  for (std::size_t i = 0; i < q.entries.size(); ++i) add_receive(h, q.entries[i]);
}

void add_thread(Hasher& h, const Thread& t) {
  h.add_all(t.state, t.changed, t.watched.everything(), t.buffer.size(), t.watched.keys().size());
  for (std::size_t i = 0; i < t.buffer.size(); ++i) {
    const StoreEntry& e = t.buffer[i];
    h.add_all(e.doorbell, e.blueflame, e.receive, e.address, e.value, e.qp, e.posted);
  }
  std::uint64_t watched = 0;  // a set
  for (const std::uint64_t key : t.watched.keys()) watched += mix(key);
  h.add(watched);
}

void add_host(Hasher& h, const Host& host) {
  h.add(host.memory.hash());
  for (const std::uint64_t flag : host.flags) h.add(flag);
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

void add_domain(Hasher& h, const State& s, const PostedDomain& d) {
  h.add_all(d.first, d.writes.size(), d.held.size());
  for (std::size_t i = 0; i < d.writes.size(); ++i) {
    const PostedWrite& w = d.writes[i];
    h.add_all(w.is_cqe, w.has_event, w.done, w.ends_atomic, w.relaxed, w.length, w.committed, w.cq, w.address, w.value);
    add_payload(h, s, w.done ? fabric::kNoBuffer : w.buffer, w.offset, w.length);
    add_cqe(h, w.cqe);
  }
  for (std::size_t i = 0; i < d.held.size(); ++i) {
    h.add_all(d.held[i].kind, d.held[i].where, d.held[i].number, d.held[i].behind);
  }
}

void add_requester(Hasher& h, const State& s, const Requester& r) {
  h.add_all(r.reaped, r.first, r.queue.size(), r.rung, r.fetched, r.started, r.payload_next, r.transmit_next,
            r.completed, r.outstanding, r.fetching, r.payload_event, r.transmit_event, r.halted, r.next_psn.value(),
            r.fetch_cancelled, r.rnr_wait, r.recovering, r.timer_pending, r.unanswered, r.retries, r.rnr_retries,
            r.unsent_psn.value(), r.una.value());
  for (std::size_t i = 0; i < r.queue.size(); ++i) {
    const SendEntry& e = r.queue[i];
    add_wqe(h, e.wqe);
    h.add_all(e.status, e.done, e.read_ready, e.psn.value(), e.payload_read, e.sent, e.received);
    add_payload(h, s, e.buffer, 0, e.payload_read);
  }
}

void add_response(Hasher& h, const State& s, const Response& p) {
  h.add_all(p.opcode, p.nak, p.ready, p.psn.value(), p.wqe, p.length, p.read, p.sent, p.address, p.value, p.compare_add,
            p.swap, p.request, p.held, p.again);
  add_payload(h, s, p.buffer, 0, p.read);
}

void add_early(Hasher& h, const State& s, const Responder& r) {
  h.add(r.disorder->early.size());
  for (std::size_t i = 0; i < r.disorder->early.size(); ++i) {
    const Early& e = r.disorder->early[i];
    h.add_all(e.present, e.executed);
    if (e.present) add_packet(h, s, e.packet);
  }
}

void add_responder(Hasher& h, const State& s, const Responder& r) {
  h.add_all(r.blocked, r.respond_event, r.write_valid, r.nak_sent, r.receiving, r.in_message, r.received,
            r.expected_psn.value(), r.done_psn.value(), r.first, r.responses.size(), r.disorder->waiting.size(),
            r.disorder->replays.size(), r.disorder->strays.in_use(), r.disorder->refused);
  if (r.receiving) add_receive(h, *r.receive);
  for (std::size_t i = 0; i < r.disorder->replays.size(); ++i)
    h.add_all(r.disorder->replays[i].psn.value(), r.disorder->replays[i].value);
  for (std::size_t i = 0; i < r.responses.size(); ++i) add_response(h, s, r.responses[i]);
  add_early(h, s, r);
  for (std::size_t i = 0; i < r.disorder->waiting.size(); ++i) {
    h.add(static_cast<std::uint64_t>(r.disorder->waiting[i].fate));
    add_packet(h, s, r.disorder->waiting[i].packet);
  }
  for (std::size_t i = 1; i < r.disorder->in_line.size(); ++i)
    add_packet(h, s, r.disorder->strays[r.disorder->in_line[i]]);
  h.add(r.disorder->read_stream.size());
  for (std::size_t i = 0; i < r.disorder->read_stream.size(); ++i) h.add(r.disorder->read_stream[i]);
}

/// A pending event stands for what it names; the stray request's slot for the packet in it.
std::uint64_t event_hash(const State& s, const sim::Event& e) {
  Hasher h;
  h.add_all(e.what, e.where);
  if (e.what == kEventStrayRequest) {
    add_packet(h, s, s.qps[e.where].responder.disorder->strays[static_cast<std::uint32_t>(e.a)]);
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
  for (const Host& host : s.hosts) add([&](Hasher& h) { add_host(h, host); });
  for (const Thread& thread : s.threads) add([&](Hasher& h) { add_thread(h, thread); });
  for (const PostedDomain& domain : s.domains) add([&](Hasher& h) { add_domain(h, s, domain); });
  for (const CompletionQueue& cq : s.cqs) {
    add([&](Hasher& h) {
      h.add_all(cq.overrun, cq.failed, cq.cqes.size());
      for (std::size_t i = 0; i < cq.cqes.size(); ++i) add_cqe(h, cq.cqes[i]);
    });
  }
  for (const ReceiveQueue& queue : s.receive_queues) add([&](Hasher& h) { add_receive_queue(h, queue); });
  for (const QueuePair& qp : s.qps) {
    add([&](Hasher& h) { add_requester(h, s, qp.requester); });
    add([&](Hasher& h) {
      h.add_all(qp.state, qp.waits_for_unit);
      add_responder(h, s, qp.responder);
      for (std::uint32_t i = qp.stalled_first; i != kNone; i = s.stalled[i].next) add_packet(h, s, s.stalled[i].packet);
    });
  }
  for (std::size_t lane = 0; lane < s.fabric.lanes(); ++lane) {
    add([&](Hasher& h) {
      h.add(s.fabric.lane_size(lane));
      for (std::size_t i = 0; i < s.fabric.lane_size(lane); ++i) add_packet(h, s, s.fabric.lane_packet(lane, i));
    });
  }
  std::uint64_t pending = 0;  // a multiset: the order in the queue's storage is history
  for (std::size_t i = 0; i < s.events.size(); ++i) pending += event_hash(s, s.events.pending(i));
  all.add(pending);
  return all.value();
}

}  // namespace loco::nic
