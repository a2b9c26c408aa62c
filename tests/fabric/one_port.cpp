#include "one_port.hpp"

#include <algorithm>
#include <utility>

namespace loco::test {

using fabric::Congestion;

OnePort::OnePort(const Set& set, std::uint32_t flows) : set_(set), flows_(flows) {
  const fabric::CongestionPath path{.line = set.rate,
                                    .base_rtt = set.base,
                                    .switches = 0,
                                    .packet = {wire()},
                                    .segment = {set.payload},
                                    .trims = set.trims};
  for (Flow& flow : flows_) flow.control = Congestion(set.settings, path);
  const std::int64_t apart = set.at_once ? 0 : set.base.ps / flows;
  for (std::uint32_t i = 0; i < flows; ++i) push(sim::SimTime{i * apart}, What::may_send, i);
}

void OnePort::push(sim::SimTime at, What what, std::uint32_t flow, std::uint32_t psn) {
  events_.push({at, numbers_++, what, flow, psn});
}

double OnePort::utilisation() const {
  const double seconds = static_cast<double>((end_ - from_).ps) / 1e12;
  return static_cast<double>(sent_counted_) * 8 / seconds / static_cast<double>(set_.rate.value);
}

double OnePort::fairness_of_windows() const {
  double sum = 0, squares = 0;
  for (const Flow& flow : flows_) {
    const auto w = static_cast<double>(flow.control.window());
    sum += w;
    squares += w * w;
  }
  return sum * sum / (static_cast<double>(flows_.size()) * squares);
}

/// The queue is what waits behind the packet that is being sent.
void OnePort::measure() {
  const std::size_t waits = queue_.size() - (busy_ ? 1U : 0U);
  const sim::SimTime since = std::max(measured_, from_);
  if (now_ > since) queue_area_ += static_cast<double>((now_ - since).ps) * static_cast<double>(waits * wire());
  measured_ = now_;
  longest_ = std::max(longest_, std::uint64_t{waits} * wire());
}

void OnePort::try_to_send(std::uint32_t id) {
  Flow& flow = flows_[id];
  while (flow.control.may_send(flow.in_flight, wire())) {
    const sim::BitsPerSecond rate = flow.control.rate();
    sim::SimTime turn = flow.next;
    if (rate.value != 0 && flow.psn != 0) turn = std::max(turn, flow.paced + sim::transmission_time({wire()}, rate));
    if (turn > now_) {
      if (!std::exchange(flow.waiting, true)) push(turn, What::may_send, id);
      return;
    }
    flow.in_flight += wire();
    flow.control.on_sent(now_, {wire()}, set_.settings);
    const sim::Duration own = sim::transmission_time({wire()}, set_.rate);  // its own port's
    flow.next = now_ + own;
    flow.paced = now_;
    const std::uint64_t waits = (queue_.size() - (busy_ ? 1U : 0U)) * std::uint64_t{wire()};
    Packet packet{.flow = id, .psn = flow.psn++, .sent = now_};
    if (waits >= set_.mark_all) {
      packet.marked = true;
    } else if (waits > set_.mark_from) {
      packet.marked = stream_.chance(waits - set_.mark_from, set_.mark_all - set_.mark_from);
    }
    measure();
    queue_.push(packet);
    if (!busy_) start_next();
    measure();
  }
}

void OnePort::start_next() {
  busy_ = true;
  Packet packet = queue_.front();
  packet.telemetry.hops = 1;
  sent_ += wire();
  if (counts()) sent_counted_ += wire();
  packet.telemetry.hop[0] = {
      .at = now_, .sent = sent_, .queued = (queue_.size() - 1) * std::uint64_t{wire()}, .rate = set_.rate};
  flows_[packet.flow].on_its_way.push(packet);
  push(now_ + sim::transmission_time({wire()}, set_.rate), What::starts, 0);
  push(now_ + set_.base, What::answer, packet.flow);
}

void OnePort::answered(std::uint32_t id) {
  Flow& flow = flows_[id];
  const Packet packet = flow.on_its_way.front();
  flow.on_its_way.pop();
  flow.in_flight -= wire();
  if (counts()) {
    flow.bytes += wire();
    rtt_sum_ += static_cast<double>((now_ - packet.sent).ps) / 1e6;
    ++answers_;
  }
  flow.control.on_ack(now_,
                      {.rtt = now_ - packet.sent,
                       .acknowledged = {wire()},
                       .in_flight = {flow.in_flight},
                       .packets = 1,
                       .psn = fabric::Psn(packet.psn),
                       .next = fabric::Psn(flow.psn),
                       .marked = packet.marked,
                       .telemetry = &packet.telemetry},
                      set_.settings);
  try_to_send(id);
}

void OnePort::run(sim::SimTime from, sim::SimTime end) {
  from_ = from;
  end_ = end;
  while (!events_.empty() && events_.top().at <= end) {
    const Event event = events_.top();
    events_.pop();
    now_ = event.at;
    if (event.what == What::answer) {
      answered(event.flow);
    } else if (event.what == What::may_send) {
      flows_[event.flow].waiting = false;
      try_to_send(event.flow);
    } else {
      measure();
      queue_.pop();
      busy_ = false;
      if (!queue_.empty()) start_next();
      measure();
    }
  }
}

}  // namespace loco::test
