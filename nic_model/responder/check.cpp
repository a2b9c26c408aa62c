// Responder: its invariants between two steps, and its fingerprint.
#include "nic_model/engine/check.hpp"

#include "nic_model/engine/hash_parts.hpp"
#include "nic_model/responder/responder.hpp"

namespace loco::nic {

void Responder::check_responses(const Check& check) const {
  for (std::size_t i = 0; i < responses_.size(); ++i) {
    const Response& r = responses_[i];
    check.holds(r.read <= r.length && r.sent <= r.length, "no more is read or sent than was asked for");
    check.holds(r.opcode != fabric::Opcode::read_response || r.sent <= r.read, "what is sent has been read");
    check.holds(i == 0 || r.sent == 0, "answers leave in the order in which they were pushed");
    check.holds(r.ready || r.sent == 0, "an answer without data is not sent");
  }
  check.holds(static_cast<std::int32_t>(further_->long_reads - further_->long_reads_done) >= 0,
              "a long READ is asked for, then read");
}

void Responder::check_disorder(const Check& check) const {
  const Disorder& d = disorder();
  check.holds(blocked_ || d.waiting.empty(), "a request waits for an atomic only");
  check.holds(blocked_ || d.reorder.empty() || !d.reorder.front().present, "what is next is executed");
  check.holds(d.reorder.size() <= static_cast<std::size_t>(kReorderWindow), "the reorder buffer is bounded");
  check.holds(d.came.empty() || !d.came.front(), "what is expected has not come");
  check.holds(d.in_line.size() <= d.strays.in_use(), "what is in line is on its way");
  for (std::size_t i = 0; i < d.read_stream.size(); ++i) {
    check.holds(holds(d.read_stream[i]), "a READ that has not taken effect is not answered");
  }
}

void Responder::check(const Connection& qp, QpId id, sim::SimTime now) const {
  const Check check(now, "responder", "queue pair", id);
  const bool before_rtr = qp.state() == QpState::reset || qp.state() == QpState::init;
  check.holds(qp.type() == QpType::rc || responses_.empty(), "unreliable queue pairs answer nothing");
  check.holds(!before_rtr || (responses_.empty() && !receiving_), "a RESET leaves nothing to answer or to receive");
  check.holds(done_psn_.distance(expected_psn_) <= 0, "what is executed has been taken");
  check.holds(!receiving_ || queue_ != kNone, "a receive comes from a queue");
  check_responses(check);
  check_disorder(check);
}

namespace {
void add_response(Hasher& h, const Payloads& payloads, const Response& p) {
  h.add_all(p.opcode, p.nak, p.ready, p.psn.value(), p.wqe, p.length, p.read, p.sent, p.address, p.value, p.compare_add,
            p.swap, p.request, p.held, p.again);
  add_part_read(h, payloads, p.buffer, p.read);
}

void add_disorder(Hasher& h, const Payloads& payloads, const Disorder& d) {
  h.add_all(d.waiting.size(), d.replays.size(), d.strays.in_use(), d.refused, d.reorder.size(), d.read_stream.size());
  for (std::size_t i = 0; i < d.replays.size(); ++i) h.add_all(d.replays[i].psn.value(), d.replays[i].value);
  for (std::size_t i = 0; i < d.reorder.size(); ++i) {
    const ReorderSlot& slot = d.reorder[i];
    h.add_all(slot.present, slot.executed);
    if (slot.present) add_packet(h, payloads, slot.packet);
  }
  for (std::size_t i = 0; i < d.waiting.size(); ++i) {
    h.add(static_cast<std::uint64_t>(d.waiting[i].fate));
    add_packet(h, payloads, d.waiting[i].packet);
  }
  for (std::size_t i = 0; i < d.came.size(); ++i) h.add(d.came[i] ? 1U : 0U);
  for (const fabric::Psn psn : d.come_once) h.add(psn.value());
  for (const WholeMessage& message : d.messages) {
    h.add_all(message.first.value(), message.come, message.immediate, message.imm);
    add_receive(h, message.receive);
  }
  for (std::size_t i = 1; i < d.in_line.size(); ++i) add_packet(h, payloads, d.strays[d.in_line[i]]);
  for (std::size_t i = 0; i < d.read_stream.size(); ++i) h.add(d.read_stream[i]);
}
}  // namespace

void Responder::hash(Hasher& h, const Payloads& payloads) const {
  h.add_all(blocked_, respond_event_, write_valid_, nak_sent_, receiving_, in_message_, received_,
            expected_psn_.value(), done_psn_.value(), first_, responses_.size());
  if (receiving_) add_receive(h, further_->receive);
  for (std::size_t i = 0; i < responses_.size(); ++i) add_response(h, payloads, responses_[i]);
  add_disorder(h, payloads, disorder());
}

}  // namespace loco::nic
