// Requester: leaving out the middle of a message that is being sent (System::shorten_message, leave_out; interface:
// requester.hpp).
#include <algorithm>
#include <cstring>

#include "nic_model/pcie/bursts.hpp"
#include "nic_model/pcie/link.hpp"
#include "nic_model/pcie/lone_reads.hpp"
#include "nic_model/pcie/paths.hpp"
#include "nic_model/pcie/pcie.hpp"
#include "nic_model/requester/requester.hpp"
#include "nic_model/requester/wqe.hpp"

namespace loco::nic {

namespace {

/// True if the NIC reads its payload over PCIe.
bool has_payload_to_read(const Wqe& wqe) { return sends_payload(wqe.opcode) && !wqe.inline_data && wqe.length != 0; }

Counters& operator+=(Counters& sum, const Counters& c) {
  for (const NamedCounter& counter : kCounters) sum.*counter.member += c.*counter.member;
  return sum;
}

}  // namespace

SpareBytes Requester::spare_bytes(const Engine& engine, QpId id, std::uint32_t number) const {
  // Where each packet is answered, both ends count those of the whole message.
  if (policy_of(engine, id).answers_each_packet() || number != transmit_next_ || number == started_) return {};
  const SendEntry& e = entry(number);
  if (!has_payload_to_read(e.wqe) || e.status != Status::success || repeats()) return {};
  SpareBytes spare{.unsent = e.wqe.length - e.sent,
                   .ahead = e.payload_read - std::min(e.payload_read, e.sent),
                   .read = {.number = payload_next_},
                   .from = e.wqe.local + e.sent,
                   .to = e.wqe.remote + e.sent};
  if (payload_burst_)
    spare.read.done = engine.links[engine.connections[id].node()].bursts().read().done;
  else if (payload_next_ != started_)
    spare.read.done = entry(payload_next_).payload_read;
  if (e.payload_read < e.wqe.length) {
    spare.bytes = e.wqe.length - std::max(e.payload_read, e.sent);
  } else if (e.ready <= engine.now()) {
    spare.bytes = e.wqe.length - e.sent;
  }
  return spare;
}

/// Takes bytes out of a message; what is left is its end. The work requests behind it get earlier PSNs.
void Requester::cut(const Engine& engine, QpId id, std::uint32_t number, std::uint32_t bytes) {
  SendEntry& e = edit(number);
  const auto packets = static_cast<std::uint32_t>(bytes / mtu_of(engine, engine.connections[id]));
  const std::uint32_t back = fabric::Psn::kMask + 1 - packets;
  e.wqe.length -= bytes;
  e.wqe.local += bytes;
  e.wqe.remote += bytes;
  e.left_out += bytes;
  e.packets -= packets;
  for (std::uint32_t later = number + 1; later != started_; ++later) edit(later).psn = edit(later).psn + back;
  next_psn_ = next_psn_ + back;
}

void Requester::shorten(Engine& engine, QpId id, std::uint32_t number, std::uint32_t bytes) {
  break_payload_burst(engine, id);  // it knows the message's length
  cut(engine, id, number, bytes);
  SendEntry& e = edit(number);
  e.payload_read = std::min(e.payload_read, e.wqe.length);
  if (e.payload_read > e.sent && !is_scattered(e.wqe.local)) {  // what was read ahead belongs to the part left out
    sample(engine, engine.connections[id].node(), e.wqe.local + e.sent,
           BufferPart{e.buffer, e.sent, e.payload_read - e.sent}, {});
  }
}

/// True if nothing but the NIC's own link has a part in reading its payload, and it may be read.
bool Requester::may_read_alone(const Engine& engine, const Connection& qp, const SendEntry& e) const {
  return has_payload_to_read(e.wqe) && e.status == Status::success && e.read_ready && !is_scattered(e.wqe.local) &&
         !engine.on_device(qp.node(), e.wqe.lkey) && !goes_over_links(engine, qp.node(), e.wqe.lkey);
}

std::optional<LoneReads> Requester::read_on(Engine& engine, QpId id, sim::Duration time) {
  const Connection& qp = engine.connections[id];
  settle_payload(engine, id);
  if (started_ != rung_ || fetching_ || payload_event_ != payload_burst_) return std::nullopt;
  LoneReads reads(engine, qp.node(), time);
  if (!payload_burst_) return reads;  // all is read
  reads.carry_on(engine, bursts_of(engine, qp.node()).read());
  for (std::uint32_t number = payload_next_ + 1; number != started_; ++number) {
    const SendEntry& e = entry(number);
    if (e.wqe.inline_data || bytes_to_read(e.wqe) == 0) continue;
    if (!may_read_alone(engine, qp, e)) return std::nullopt;
    if (!reads.at_end()) continue;
    reads.begin(engine,
                {.qp = id,
                 .number = number,
                 .address = e.wqe.local,
                 .buffer = e.buffer,
                 .key = e.wqe.lkey,
                 .length = e.wqe.length},
                e.ready, e.reach);
  }
  return reads;
}

std::span<const std::byte> Requester::bytes_read(const Engine& engine, std::uint32_t number, std::uint32_t most) const {
  const SendEntry& e = entry(number);
  if (e.payload_read <= e.sent) return {};
  return {engine.payloads.data_at(e.buffer, e.sent), std::min(most, e.payload_read - e.sent)};
}

/// Takes over how far a read has been carried on. Of the message that is sent, `left_out` bytes are left out: what was
/// read behind them moves to where they were.
void Requester::take_over(Engine& engine, const Connection& qp, const ReadBurst& read, std::uint32_t left_out) {
  SendEntry& e = edit(static_cast<std::uint32_t>(read.number));
  if (e.buffer == fabric::kNoBuffer) e.buffer = engine.payloads.acquire(bytes_to_read(e.wqe));
  const std::uint32_t kept = left_out == 0 ? 0 : e.sent + left_out;  // what comes behind it is kept
  if (left_out != 0 && e.payload_read > kept) {
    const std::uint32_t bytes = e.payload_read - kept;
    std::byte* const to = engine.payloads.edit(e.buffer, e.sent, bytes);
    std::memmove(to, engine.payloads.data_at(e.buffer, kept), bytes);
  }
  const std::uint32_t from = std::max(e.payload_read, kept);
  if (read.done > from)
    sample(engine, qp.node(), e.wqe.local + from, BufferPart{e.buffer, from - left_out, read.done - from}, {});
  if (read.done != e.payload_read) e.ready = read.there;
  e.payload_read = read.done - left_out;
}

void Requester::leave_out(Engine& engine, QpId id, std::uint32_t number, std::uint32_t bytes, const LoneReads& reads) {
  const Connection& qp = engine.connections[id];
  if (payload_burst_) drop_read_burst(engine, qp.node());
  payload_burst_ = payload_event_ = false;
  const bool reads_it = payload_next_ == number && !reads.reads().empty();
  if (!reads_it) take_over(engine, qp, {.number = number, .done = entry(number).wqe.length}, bytes);
  for (const ReadBurst& read : reads.reads()) take_over(engine, qp, read, read.number == number ? bytes : 0);
  cut(engine, id, number, bytes);
  for (std::uint32_t n = number; n != started_; ++n) edit(n).ready = edit(n).ready - reads.time();
  reads.commit(engine);
  payload_next_ = reads.at_end() ? started_ : static_cast<std::uint32_t>(reads.reads().back().number);
  if (payload_next_ == started_) return;
  payload_event_ = true;
  schedule_read(engine, id, payload_next_, entry(payload_next_), reads.reads().back().next - reads.time());
}

std::optional<Counters> Requester::counted_by_reading(const Engine& engine, QpId id, const ReadSoFar& from,
                                                      const ReadSoFar& to) const {
  Counters all;
  for (std::uint32_t number = from.number; number != started_; ++number) {
    const SendEntry& e = entry(number);
    const bool last = number == to.number;
    if (is_scattered(e.wqe.local) || is_atomic(e.wqe.opcode)) return std::nullopt;
    if (has_payload_to_read(e.wqe))
      all += nic::counted_by_read(engine.profile(engine.connections[id].node()), e.wqe.local, e.wqe.length,
                                  number == from.number ? from.done : 0, last ? to.done : e.wqe.length);
    if (last) break;
  }
  return all;
}

}  // namespace loco::nic
