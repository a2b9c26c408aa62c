// System: leaving out what only repeats (docs/fast-forward.md).
#include <algorithm>
#include <stdexcept>

#include "nic_model/pcie/pcie.hpp"
#include "nic_model/state.hpp"
#include "nic_model/system.hpp"

namespace loco::nic {

SpareBytes System::spare_bytes(QpId qp, std::uint32_t work_request) const {
  return state_->requesters.at(qp).spare_bytes(*engine_, qp, work_request);
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

Counters System::counted_by_read(NodeId node, Address address, std::uint32_t from, std::uint32_t to) const {
  return nic::counted_by_read(profile(node), address, from, to);
}

}  // namespace loco::nic
