#include "fabric/congestion/swift.hpp"

#include <algorithm>

#include "fabric/congestion/fraction.hpp"
#include "probe/probe.hpp"

namespace loco::fabric {

namespace {
constexpr std::uint64_t kPacket = std::uint64_t{1} << 20U;
constexpr std::uint32_t kTimeouts = 5;

std::uint64_t packets_of(std::uint32_t thousandths) { return std::uint64_t{thousandths} * kPacket / 1000; }

/// 1 / sqrt of a window, in units of 2^-20.
std::uint64_t inverse_root(std::uint64_t window) {
  return kPacket * kPacket / std::max<std::uint64_t>(square_root(window * kPacket), 1);
}
}  // namespace

Swift::Swift(const CongestionPath& path, const SwiftOptions& options)
    : switches_(path.switches), packet_(path.packet), window_(packets_of(options.first)), rtt_(path.base_rtt) {
  bound(options);
}

void Swift::bound(const SwiftOptions& options) {
  window_ =
      std::clamp(window_, packets_of(options.least), std::max(packets_of(options.least), packets_of(options.most)));
}

sim::Duration Swift::target(const SwiftOptions& options) const {
  const std::uint64_t high = inverse_root(packets_of(options.least));
  const std::uint64_t low = inverse_root(packets_of(options.most));
  const std::uint64_t here = inverse_root(window_);
  std::int64_t more = 0;
  if (here > low && high > low) {
    const std::uint64_t most = scaled(static_cast<std::uint64_t>(options.range.ps), here - low, high - low);
    more = std::min(options.range.ps, static_cast<std::int64_t>(most));
  }
  return {options.target.ps + options.hop.ps * std::int64_t{switches_} + more};
}

bool Swift::may_cut(sim::SimTime now) {
  if (has_cut_ && now < cut_ + rtt_) return false;
  has_cut_ = true;
  cut_ = now;
  return true;
}

void Swift::on_ack(sim::SimTime now, const Feedback& feedback, const SwiftOptions& options) {
  timeouts_ = 0;
  if (feedback.rtt.ps == 0) return;
  rtt_ = feedback.rtt;
  const sim::Duration goal = target(options);
  if (feedback.rtt < goal) {
    const std::uint64_t more = packets_of(options.additive) * feedback.packets;
    window_ += window_ >= kPacket ? scaled(more, kPacket, window_) : more;
  } else if (may_cut(now)) {
    const auto above = static_cast<std::uint64_t>((feedback.rtt - goal).ps);
    const std::uint64_t cut =
        scaled(fraction_of_thousandths(options.beta), above, static_cast<std::uint64_t>(feedback.rtt.ps));
    window_ -= scaled(window_, std::min(cut, fraction_of_thousandths(options.cut_most)), kUnit);
  }
  bound(options);
}

void Swift::on_loss(sim::SimTime now, const SwiftOptions& options) {
  if (!may_cut(now)) return;
  LOCO_PROBE(swift_cut_by_loss);
  window_ -= scaled(window_, options.cut_most, 1000);
  bound(options);
}

void Swift::on_timeout(sim::SimTime now, const SwiftOptions& options) {
  if (++timeouts_ < kTimeouts) return on_loss(now, options);
  LOCO_PROBE(swift_gives_up_its_window);
  window_ = packets_of(options.least);
}

sim::BitsPerSecond Swift::rate() const {
  if (window_ >= kPacket || rtt_.ps == 0) return {};
  LOCO_PROBE(swift_window_below_a_packet);
  return {std::max<std::uint64_t>(scaled(rate_of(packet_.count, rtt_), window_, kPacket), 1)};
}

std::uint64_t Swift::window() const {
  return std::max(packet_.count, static_cast<std::uint64_t>(Wide{packet_.count} * window_ / kPacket));
}

}  // namespace loco::fabric
