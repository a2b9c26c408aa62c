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
    : base_(path.base_rtt),
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

void Nscc::decrease(sim::SimTime now, sim::Duration rtt) {
  if (has_decreased_ && now - decreased_ < rtt) return;
  if (average_ <= target_) return;
  LOCO_PROBE(nscc_decrease);
  has_decreased_ = true;
  decreased_ = now;
  const auto above = static_cast<std::uint64_t>((average_ - target_).ps);
  const std::uint64_t cut = scaled(kUnit * 4 / 5, above, static_cast<std::uint64_t>(average_.ps));
  window_ -= scaled(window_, std::min(cut, kUnit / 2), kUnit);
}

void Nscc::fulfil(sim::SimTime now, std::uint64_t bytes) {
  answered_ += bytes;
  const bool round_trip = now - fulfilled_ >= base_;
  if (!round_trip && answered_ < kPacketsOfFulfilment * packet_) return;
  window_ += to_add_ / std::max<std::uint64_t>(window_, 1);
  to_add_ = answered_ = 0;
  if (!round_trip) return;
  window_ += eta_increase();
  fulfilled_ = now;
}

bool Nscc::ignores(std::uint64_t bytes) {
  if (ignored_ == 0) return false;
  LOCO_PROBE(nscc_ignores_answers);
  ignored_ -= std::min(ignored_, bytes);
  return true;
}

bool Nscc::adapt(sim::SimTime now, bool lost, sim::Duration delay, std::uint64_t in_flight) {
  lost_ = lost_ || lost;
  if (now < period_end_) return false;
  const bool first = period_end_ == sim::SimTime{};
  const bool crowded = lost_ || delay > target_ * 4;
  const bool adapts = !first && crowded && achieved_ < largest_ / 8;
  if (adapts) {
    LOCO_PROBE(nscc_quick_adapt);
    window_ = achieved_;
    ignored_ = in_flight;
    to_add_ = answered_ = 0;
    bound();
  }
  period_end_ = now + base_ + target_;
  achieved_ = 0;
  lost_ = false;
  return adapts;
}

void Nscc::on_ack(sim::SimTime now, const Feedback& feedback, const NsccOptions& options) {
  const std::uint64_t bytes = feedback.acknowledged.count;
  achieved_ += bytes;
  const sim::Duration delay{feedback.rtt.ps == 0 ? average_.ps : std::max<std::int64_t>(0, (feedback.rtt - base_).ps)};
  average_ = {(delay.ps + (kSmoothing - 1) * average_.ps) / kSmoothing};
  if (ignores(bytes)) return;
  if (options.quick_adapt && adapt(now, false, delay, feedback.in_flight.count)) return;
  if (!feedback.marked) {
    increase(bytes, delay);
  } else if (delay >= target_) {
    decrease(now, feedback.rtt.ps == 0 ? base_ : feedback.rtt);
  }
  fulfil(now, bytes);
  bound();
}

void Nscc::on_loss(sim::SimTime now, sim::Bytes lost, sim::Bytes in_flight, const NsccOptions& options) {
  if (ignores(lost.count)) {
    lost_ = true;
    return;
  }
  if (options.quick_adapt && adapt(now, true, {}, in_flight.count)) return;
  window_ -= std::min(window_, lost.count);
  bound();
}

}  // namespace loco::fabric
