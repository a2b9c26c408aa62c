#include "fabric/congestion/timely.hpp"

#include <algorithm>

#include "fabric/congestion/fraction.hpp"
#include "probe/probe.hpp"

namespace loco::fabric {

namespace {
constexpr auto kOne = static_cast<std::int64_t>(kUnit);
constexpr std::uint32_t kHyperFrom = 5;  // increases in a row
constexpr std::int64_t kHyper = 5;       // times delta

/// a b / c, for a fraction b / c.
std::int64_t part(std::int64_t a, std::int64_t b, std::int64_t c) {
  return static_cast<std::int64_t>(SignedWide{a} * b / c);
}
}  // namespace

/// `gradient`: in units of 2^-30.
std::int64_t Timely::patched(sim::Duration rtt, std::int64_t gradient, const TimelyOptions& options) const {
  const std::int64_t w = std::clamp<std::int64_t>(2 * gradient + kOne / 2, 0, kOne);
  const auto rate = static_cast<std::int64_t>(rate_.value);
  const std::int64_t error = part(kOne, rtt.ps - options.low.ps, std::max<std::int64_t>(options.low.ps, 1));
  const std::int64_t cut = part(part(w, error, kOne), options.patched_beta, 1000);
  return part(static_cast<std::int64_t>(options.additive.value), kOne - w, kOne) + rate - part(rate, cut, kOne);
}

std::int64_t Timely::next_rate(sim::Duration rtt, const TimelyOptions& options) {
  const auto rate = static_cast<std::int64_t>(rate_.value);
  const auto delta = static_cast<std::int64_t>(options.additive.value);
  const std::int64_t gradient = part(kOne, difference_, std::max<std::int64_t>(options.least_rtt.ps, 1));
  const std::uint32_t in_a_row = increases_ + 1;
  increases_ = 0;
  if (rtt < options.low) return rate + delta;
  if (rtt > options.high) {
    LOCO_PROBE(timely_above_high);
    const std::int64_t above = kOne - part(kOne, options.high.ps, rtt.ps);
    return rate - part(rate, part(above, options.beta, 1000), kOne);
  }
  if (options.patched) return patched(rtt, gradient, options);
  if (gradient > 0) {
    LOCO_PROBE(timely_gradient_rises);
    return rate - part(rate, part(gradient, options.beta, 1000), kOne);
  }
  increases_ = in_a_row;
  return rate + (in_a_row >= kHyperFrom ? kHyper * delta : delta);
}

void Timely::completed(sim::Duration rtt, const TimelyOptions& options) {
  if (last_.ps == 0) {
    last_ = rtt;
    return;
  }
  const std::int64_t now = part(rtt.ps - last_.ps, options.gain, 1000);
  difference_ = part(difference_, 1000 - std::int64_t{options.gain}, 1000) + now;
  last_ = rtt;
  const auto most = static_cast<std::int64_t>(line_.value);
  const auto least = std::min(most, static_cast<std::int64_t>(options.rate_least.value));
  rate_ = {static_cast<std::uint64_t>(std::clamp(next_rate(rtt, options), least, most))};
}

void Timely::on_ack(sim::SimTime /*now*/, const Feedback& feedback, const TimelyOptions& options) {
  acknowledged_ += feedback.acknowledged.count;
  if (acknowledged_ < options.segment.count || feedback.rtt.ps == 0) return;
  acknowledged_ = 0;
  completed(feedback.rtt, options);
}

}  // namespace loco::fabric
