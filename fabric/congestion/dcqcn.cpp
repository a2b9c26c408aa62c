#include "fabric/congestion/dcqcn.hpp"

#include <algorithm>

namespace loco::fabric {

DcqcnOptions mlx5_dcqcn() {
  DcqcnOptions o;
  o.profile = DcqcnProfile::mlx5;
  o.g = 5;  // dce_tcp_g: 1019 = 1024 (1 - g)
  o.g_inverse = 1'024;
  o.alpha_first = 1'023;                         // initial_alpha_value
  o.alpha_timer = sim::Duration{1'000'000};      // dce_tcp_rtt
  o.rate_timer = sim::Duration{300'000'000};     // rpg_time_reset
  o.byte_counter = sim::Bytes{32'767ULL * 64};   // rpg_byte_reset
  o.fast_recovery = 1;                           // rpg_threshold
  o.additive = sim::BitsPerSecond{5'000'000};    // rpg_ai_rate
  o.hyper = sim::BitsPerSecond{50'000'000};      // rpg_hai_rate
  o.rate_least = sim::BitsPerSecond{1'000'000};  // rpg_min_rate
  o.cut_shift = 11;                              // rpg_gd
  o.cut_keeps = 50;                              // rpg_min_dec_fac
  o.cut_interval = sim::Duration{4'000'000};     // rate_reduce_monitor_period
  o.clamp_target = false;                        // clamp_tgt_rate, clamp_tgt_rate_after_time_inc
  o.cnp_interval = sim::Duration{4'000'000};     // min_time_between_cnps
  return o;
}

Dcqcn::Dcqcn(sim::BitsPerSecond line, const DcqcnOptions& options)
    : line_(options.rate_most.value == 0 ? line : std::min(line, options.rate_most)),
      target_(line_),
      rate_(line_),
      alpha_(kOne / 1'024 * options.alpha_first) {}

void Dcqcn::cut(const DcqcnOptions& options) {
  if (options.clamp_target || timed_ != 0) target_ = rate_;
  __extension__ using Wide = unsigned __int128;
  const auto part = static_cast<std::uint64_t>((Wide{rate_.value} * alpha_) >> (20 + options.cut_shift));
  const std::uint64_t most = rate_.value - rate_.value / 100 * options.cut_keeps;
  rate_ = {std::max(rate_.value - std::min(part, most), std::min(options.rate_least.value, line_.value))};
  if (!has_cut_ && options.rate_first.value != 0) rate_ = std::min(line_, options.rate_first);
}

void Dcqcn::on_cnp(sim::SimTime now, const DcqcnOptions& options) {
  on_timer(now, options);
  const bool again = has_cut_ && now < cut_at_ + options.cut_interval;
  if (!again) cut(options);
  alpha_ += gained(kOne - alpha_, options);
  alpha_due_ = now + options.alpha_timer;
  if (again) return;
  has_cut_ = true;
  cut_at_ = now;
  timed_ = counted_ = 0;
  bytes_ = 0;
  rate_due_ = now + options.rate_timer;
}

void Dcqcn::on_timer(sim::SimTime now, const DcqcnOptions& options) {
  while (limited() && std::min(alpha_due_, rate_due_) <= now) {
    if (alpha_due_ <= rate_due_) {
      alpha_ -= gained(alpha_, options);
      alpha_due_ += options.alpha_timer;
    } else {
      ++timed_;
      rate_due_ += options.rate_timer;
      increase(options);
    }
  }
  // At the line rate only alpha moves, until it is too small to.
  while (!limited() && alpha_due_ <= now && gained(alpha_, options) != 0 && target_ == line_ && alpha_due_.ps != 0) {
    alpha_ -= gained(alpha_, options);
    alpha_due_ += options.alpha_timer;
  }
}

void Dcqcn::on_bytes(sim::SimTime now, sim::Bytes sent, const DcqcnOptions& options) {
  on_timer(now, options);
  if (!limited()) return;
  bytes_ += sent.count;
  while (limited() && bytes_ >= options.byte_counter.count) {
    bytes_ -= options.byte_counter.count;
    ++counted_;
    increase(options);
  }
}

void Dcqcn::increase(const DcqcnOptions& options) {
  if (std::min(timed_, counted_) > options.fast_recovery) {
    target_.value += options.hyper.value;
  } else if (std::max(timed_, counted_) >= options.fast_recovery) {
    target_.value += options.additive.value;
  }
  target_ = std::min(target_, line_);
  // Rounded up, so that the rate does reach its target.
  rate_ = {(target_.value + rate_.value + 1) / 2};
}

}  // namespace loco::fabric
