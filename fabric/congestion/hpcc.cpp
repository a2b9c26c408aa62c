#include "fabric/congestion/hpcc.hpp"

#include <algorithm>

#include "fabric/congestion/fraction.hpp"
#include "probe/probe.hpp"

namespace loco::fabric {

std::uint64_t Hpcc::bytes_at_line() const { return bytes_in(line_, base_); }

namespace {
/// How much of a hop is used: what waits for a round trip of it, and what it sends. Between two packets that began to
/// leave it.
std::uint64_t used(const PortReport& now, const PortReport& before, sim::Duration base) {
  const sim::Duration between = now.at - before.at;
  if (between.ps <= 0 || now.rate.value == 0) return 0;
  const Wide queue = Wide{std::min(now.queued, before.queued)} * (8 * kPerSecond) * kUnit;
  const Wide holds = Wide{now.rate.value} * static_cast<std::uint64_t>(base.ps);
  const Wide sent = Wide{now.sent - before.sent} * (8 * kPerSecond) * kUnit;
  const Wide room = Wide{now.rate.value} * static_cast<std::uint64_t>(between.ps);
  return static_cast<std::uint64_t>(queue / holds + sent / room);
}
}  // namespace

void Hpcc::measure(const Telemetry& seen) {
  std::uint64_t most = 0;
  sim::Duration between{};
  for (std::uint32_t i = 0; i < seen.hops; ++i) {
    const std::uint64_t u = used(seen.hop[i], last_.hop[i], base_);
    if (u <= most) continue;
    most = u;
    between = seen.hop[i].at - last_.hop[i].at;
  }
  if (most == 0) return;
  const auto tau = static_cast<std::uint64_t>(std::min(between, base_).ps);
  const auto whole = static_cast<std::uint64_t>(base_.ps);
  utilisation_ = static_cast<std::uint64_t>((Wide{utilisation_} * (whole - tau) + Wide{most} * tau) / whole);
}

void Hpcc::adjust(const HpccOptions& options, bool update) {
  const std::uint64_t eta = fraction_of_thousandths(options.eta);
  std::uint64_t window = reference_ + options.additive.count;
  std::uint32_t stage = stage_ + 1;
  if (utilisation_ >= eta || stage_ >= options.max_stage) {
    if (utilisation_ >= eta) LOCO_PROBE(hpcc_network_is_full);
    window = scaled(reference_, eta, std::max<std::uint64_t>(utilisation_, 1)) + options.additive.count;
    stage = 0;
  }
  const std::uint64_t most = bytes_at_line();
  const std::uint64_t least = std::min(most, bytes_in(options.rate_least, base_));
  window_ = std::clamp(window, least, most);
  if (!update) return;
  reference_ = window_;
  stage_ = stage;
}

void Hpcc::on_ack(sim::SimTime /*now*/, const Feedback& feedback, const HpccOptions& options) {
  if (feedback.telemetry == nullptr) return;
  const Telemetry& seen = *feedback.telemetry;
  if (!seen_any_ || seen.hops != last_.hops) {  // the first answer, or one by another way
    if (seen_any_) LOCO_PROBE(hpcc_answer_by_another_way);
    if (!seen_any_) updated_ = feedback.next;
    seen_any_ = true;
    last_ = seen;
    return;
  }
  measure(seen);
  const bool update = feedback.psn.distance(updated_) >= 0;
  adjust(options, update);
  if (update) updated_ = feedback.next;
  last_ = seen;
}

sim::BitsPerSecond Hpcc::rate() const {
  return {std::min(line_.value, std::max<std::uint64_t>(rate_of(window_, base_), 1))};
}

}  // namespace loco::fabric
