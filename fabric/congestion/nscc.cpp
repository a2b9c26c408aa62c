#include "fabric/congestion/nscc.hpp"

#include <algorithm>

#include "fabric/congestion/fraction.hpp"
#include "probe/probe.hpp"

namespace loco::fabric {

namespace {
constexpr std::uint64_t kReferenceBdp = 150'000;  // 100 Gb/s * 12 us
constexpr sim::Duration kReferenceRtt{12'000'000};
constexpr sim::Duration kHardlyADelay{1'000'000};
constexpr std::uint64_t kPacketsOfFulfilment = 8;
constexpr std::int64_t kSmoothing = 80;

/// Q.
sim::Duration target_of(const CongestionPath& path, const NsccOptions& options) {
  if (options.target.ps != 0) return options.target;
  return path.trims ? sim::Duration{path.base_rtt.ps * 3 / 4} : path.base_rtt;
}
}  // namespace

Nscc::Nscc(const CongestionPath& path, const NsccOptions& options)
    : line_(path.line),
      configured_(path.base_rtt),
      base_(path.base_rtt),
      target_(target_of(path, options)),
      bdp_(bytes_in(path.line, path.base_rtt)),
      largest_(std::max(path.packet.count, bdp_ * 3 / 2)),
      packet_(path.packet.count),
      segment_(options.segment.count != 0 ? options.segment.count : path.segment.count),
      window_(largest_) {}

std::uint64_t Nscc::proportional_increase() const {
  return scaled(scaled(4 * segment_, bdp_, kReferenceBdp), static_cast<std::uint64_t>(target_.ps),
                static_cast<std::uint64_t>(kReferenceRtt.ps));
}
std::uint64_t Nscc::fair_increase() const { return scaled(5 * segment_, bdp_, kReferenceBdp); }
std::uint64_t Nscc::eta_increase() const { return scaled(segment_ * 15, bdp_, kReferenceBdp * 100); }

void Nscc::bound() { window_ = std::clamp(window_, packet_, largest_); }

void Nscc::learn(sim::Duration rtt) {
  if (rtt.ps == 0 || rtt >= base_) return;
  LOCO_PROBE(nscc_learns_a_shorter_way);
  base_ = rtt;
  largest_ = std::max(packet_, bytes_in(line_, base_) * 3 / 2);
}

void Nscc::average(sim::Duration delay, bool marked) {
  const std::int64_t sample = !marked && delay > target_ ? base_.ps / 4 : delay.ps;
  average_ = {(sample + (kSmoothing - 1) * average_.ps) / kSmoothing};
}

bool Nscc::increases_fast(std::uint64_t bytes, sim::Duration delay) {
  if (delay >= kHardlyADelay) {
    fast_ = 0;
    return false;
  }
  fast_ += bytes;
  if (fast_ <= window_) return false;
  window_ += scaled(bytes, bdp_, 4 * kReferenceBdp);
  return true;
}

void Nscc::increase(std::uint64_t bytes, sim::Duration delay) {
  if (delay >= target_) {
    to_add_ += fair_increase() * bytes;
  } else if (!increases_fast(bytes, delay)) {
    const auto below = static_cast<std::uint64_t>((target_ - delay).ps);
    to_add_ += scaled(proportional_increase() * bytes, below, static_cast<std::uint64_t>(target_.ps));
  }
}

void Nscc::decrease(sim::SimTime now) {
  fast_ = 0;
  if (average_ <= target_ || (has_decreased_ && now - decreased_ <= base_)) return;
  LOCO_PROBE(nscc_decrease);
  has_decreased_ = true;
  decreased_ = now;
  const auto above = static_cast<std::uint64_t>((average_ - target_).ps);
  const std::uint64_t cut = scaled(kUnit * 4 / 5, above, static_cast<std::uint64_t>(average_.ps));
  window_ -= scaled(window_, std::min(cut, kUnit / 2), kUnit);
}

void Nscc::fulfil(sim::SimTime now, std::uint64_t bytes) {
  answered_ += bytes;
  const bool round_trip = now - fulfilled_ >= configured_;
  if (!round_trip && answered_ <= kPacketsOfFulfilment * packet_) return;
  window_ += to_add_ / std::max<std::uint64_t>(window_, 1);
  to_add_ = answered_ = 0;
  if (!round_trip) return;
  window_ += eta_increase();
  fulfilled_ = now;
}

bool Nscc::adapt(sim::SimTime now, const End& end) {
  bool says_nothing = false;
  if (ignored_ != 0 && end.bad) {
    LOCO_PROBE(nscc_ignores_answers);
    says_nothing = true;
  } else if (now > period_end_) {
    const bool first = period_end_ == sim::SimTime{};
    if (!first && (lost_ || end.delay > target_ * 4) && achieved_ < largest_ / 8) {
      LOCO_PROBE(nscc_quick_adapt);
      window_ = achieved_;
      bound();
      ignored_ = end.in_flight;
      lost_ = false;
      says_nothing = true;
    }
    achieved_ = 0;
    period_end_ = now + base_ + target_;
  }
  if (says_nothing) to_add_ = answered_ = 0;
  return says_nothing;
}

void Nscc::on_ack(sim::SimTime now, const Feedback& feedback, const NsccOptions& options) {
  const std::uint64_t bytes = feedback.acknowledged.count;
  achieved_ += bytes;
  ignored_ -= std::min(ignored_, bytes);
  learn(feedback.rtt);
  sim::Duration delay = average_;
  if (feedback.rtt.ps != 0) {
    delay = feedback.rtt - base_;
    average(delay, feedback.marked);
  }
  const End end{.bad = feedback.marked, .delay = delay, .in_flight = feedback.in_flight.count};
  if (options.quick_adapt && adapt(now, end)) return;
  if (!feedback.marked) {
    increase(bytes, delay);
  } else if (delay >= target_) {
    decrease(now);
  }
  bound();
  fulfil(now, bytes);
  bound();
}

void Nscc::on_loss(sim::SimTime now, const Loss& loss, const NsccOptions& options) {
  ignored_ -= std::min(ignored_, loss.bytes.count);
  lost_ = true;
  learn(loss.rtt);
  average(configured_, true);
  const End end{.bad = true, .delay = {}, .in_flight = loss.in_flight.count + loss.bytes.count};
  if (options.quick_adapt && adapt(now, end)) return;
  window_ -= std::min(window_, loss.bytes.count);
  bound();
}

}  // namespace loco::fabric
