// System: leaving out what only repeats (docs/fast-forward.md).
#include <algorithm>
#include <span>
#include <stdexcept>

#include "nic_model/leaving_out.hpp"
#include "nic_model/pcie/lone_reads.hpp"
#include "nic_model/pcie/pcie.hpp"
#include "nic_model/state.hpp"
#include "nic_model/system.hpp"

namespace loco::nic {

bool times_tell_state(const fabric::Options& network, const HardwareProfile& profile,
                      std::span<const fabric::CongestionSettings> congestion,
                      std::span<const TransportOptions> transports) {
  const bool fixed_paths =
      network.routing == fabric::Routing::deterministic || network.routing == fabric::Routing::ecmp;
  const bool forgets = network.algorithm() == fabric::CongestionAlgorithm::none && congestion.empty() && !network.ecn;
  return fixed_paths && forgets && network.loss == 0 && transports.empty() && profile.nic_word_order != WordOrder::any;
}

SpareBytes System::spare_bytes(QpId qp, std::uint32_t work_request) const {
  const Requester& requester = state_->requesters.at(qp);
  SpareBytes spare = requester.spare_bytes(*engine_, qp, work_request);
  if (spare.unsent == 0) return spare;
  const SendEntry& e = requester.entry(work_request);
  const QpId peer = state_->connections[qp].peer();
  if (e.wqe.opcode != Opcode::send || peer == kNone) return spare;
  const Address to = state_->responders[peer].goes_to(*engine_, peer, e.left_out + e.wqe.length);
  spare.to = to == 0 ? 0 : to + e.left_out + e.sent;
  return spare;
}

void System::shorten_message(QpId qp, std::uint32_t work_request, std::uint32_t bytes) {
  if (bytes >= spare_bytes(qp, work_request).bytes) throw std::invalid_argument("a message is shortened by too much");
  state_->requesters[qp].shorten(*engine_, qp, work_request, bytes);
}

void System::poll_for_longer(sim::Duration time) {
  for (Thread& thread : state_->threads) thread.poll_for_longer(state_->kernel.now(), time);
}

void System::use_translations(NodeId node, std::uint32_t key, Address base, std::uint64_t size) {
  const NicId nic = first_nic(checked_host(*state_, node));
  Engine engine(state_->units(), nullptr);
  nic::use_translations(engine, nic, key, base, size);
}

std::uint64_t System::translated(NodeId node, std::uint32_t key, Address base, std::uint64_t size) const {
  return nic::translated(*engine_, first_nic(checked_host(*state_, node)), key, base, size);
}

bool System::watches(NodeId node, Address address, std::uint64_t size) const {
  const std::uint64_t low = watch_key(WatchKind::word, word_of(address));
  const std::uint64_t high = watch_key(WatchKind::word, word_of(address + size - 1));
  return std::ranges::any_of(state_->processes.at(checked_host(*state_, node)).threads(),
                             [&](ThreadId id) { return state_->threads[id].watched().touched_by_words(low, high); });
}

namespace {

/// True if the event is of a message that the queue pair sends, or of a timer that is set but does not run.
bool is_of_message(const State& s, const sim::Event& event, QpId qp) {
  switch (event.what) {
    case fabric::kEventLane:
    case fabric::kEventDepart:
    case kEventAckTimers:
      return true;
    case kEventTransmit:
    case kEventReadPayload:
      return event.where == qp;
    case kEventCommit:
      return s.domains[event.where].node() == s.connections[qp].peer_node();
    default:
      return false;
  }
}

}  // namespace

bool System::only_sends(QpId qp) const {
  const State& s = *state_;
  for (std::size_t i = 0; i < pending_events(); ++i)
    if (!is_of_message(s, pending_event(i), qp)) return false;
  for (QpId other = 0; other < s.requesters.size(); ++other) {
    if (s.requesters[other].waits_for_answer() || s.responders[other].has_answers_to_send()) return false;
    if (other != qp && s.requesters[other].has_packets_to_send()) return false;
  }
  return true;
}

std::optional<sim::SimTime> System::next_look() const {
  std::optional<sim::SimTime> next;
  for (const AckTimers& timers : state_->ack_timers)
    if (const auto look = timers.next_look(); look && (!next || *look < *next)) next = look;
  return next;
}

void System::look_sooner(sim::Duration time) {
  for (std::uint32_t i = 0; i < state_->ack_timers.size(); ++i) state_->ack_timers[i].look_sooner(*engine_, i, time);
}

std::optional<Counters> System::counted_by_reading(QpId qp, const ReadSoFar& from, const ReadSoFar& to) const {
  return state_->requesters.at(qp).counted_by_reading(*engine_, qp, from, to);
}

std::optional<std::uint32_t> System::leave_out(const LeftOut& part) {
  Requester& requester = state_->requesters.at(part.qp);
  const SpareBytes spare = spare_bytes(part.qp, part.work_request);
  if (part.bytes >= spare.unsent) return std::nullopt;
  const std::optional<LoneReads> reads = requester.read_on(*engine_, part.qp, part.time);
  if (!reads) return std::nullopt;
  for (const ReadBurst& read : reads->reads())
    if (read.number == part.work_request && read.done != read.length &&
        read.done < read.length - spare.unsent + part.bytes + part.ahead)
      return std::nullopt;
  const std::span<const std::byte> held = requester.bytes_read(*engine_, part.work_request, part.bytes);
  state_->memories[state_->kernel.host_of(state_->connections[part.qp].peer_node())].write(spare.to, held);
  requester.leave_out(*engine_, part.qp, part.work_request, part.bytes, *reads);
  return static_cast<std::uint32_t>(held.size());
}

}  // namespace loco::nic
