#include "fabric/dcqcn.hpp"

#include <algorithm>

namespace loco::fabric {

void Dcqcn::on_cnp(sim::SimTime now, const DcqcnOptions& options) {
  on_timer(now, options);
  target_ = rate_;
  __extension__ using Wide = unsigned __int128;
  const auto cut = static_cast<std::uint64_t>((static_cast<Wide>(rate_.value) * alpha_) >> 31U);  // rate * alpha / 2
  rate_ = {std::max(rate_.value - cut, std::min(options.rate_least.value, line_.value))};
  alpha_ += (kOne - alpha_) / options.g_inverse;
  timed_ = counted_ = 0;
  bytes_ = 0;
  alpha_due_ = now + options.alpha_timer;
  rate_due_ = now + options.rate_timer;
}

void Dcqcn::on_timer(sim::SimTime now, const DcqcnOptions& options) {
  while (limited() && std::min(alpha_due_, rate_due_) <= now) {
    if (alpha_due_ <= rate_due_) {
      alpha_ -= alpha_ / options.g_inverse;
      alpha_due_ += options.alpha_timer;
    } else {
      ++timed_;
      rate_due_ += options.rate_timer;
      increase(options);
    }
  }
  // At the line rate only alpha moves, until it is too small to.
  while (!limited() && alpha_due_ <= now && alpha_ >= options.g_inverse && target_ == line_ && alpha_due_.ps != 0) {
    alpha_ -= alpha_ / options.g_inverse;
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
