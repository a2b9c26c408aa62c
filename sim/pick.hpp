// Which pending event runs next, and how long things take: the two doors through which one model is timed, sampled
// and explored (docs/machine.md, law 1 and "Exploration").
//
// Copyable values; everything drawn comes from the stream that was handed in. None of this knows any model.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <variant>

#include "sim/event_queue.hpp"
#include "sim/rng.hpp"
#include "sim/time.hpp"

namespace loco::sim {

/// Takes one event out of a queue that is not empty.
template <typename P>
concept PickRule = std::copyable<P> && requires(P pick, EventQueue& queue) {
  { pick(queue) } -> std::same_as<Event>;
};

/// The earliest event: simulated time means something.
struct Timed {
  Event operator()(EventQueue& queue) const { return queue.pop_earliest(); }
};

/// Any pending event, each as likely: order without time.
struct Random {
  Stream stream;
  Event operator()(EventQueue& queue) { return queue.pop(stream.below(queue.size())); }
};

/// The event the caller has chosen: an exhaustive search sets `index` before each step.
struct Chosen {
  std::size_t index = 0;
  Event operator()(EventQueue& queue) const { return queue.pop(index); }
};

static_assert(PickRule<Timed> && PickRule<Random> && PickRule<Chosen>);

/// A rule settled at run time, as a value.
class Pick {
 public:
  Pick() = default;  ///< Timed
  Pick(Timed rule) : rule_(rule) {}
  Pick(const Random& rule) : rule_(rule) {}
  Pick(Chosen rule) : rule_(rule) {}

  Event operator()(EventQueue& queue) {
    if (std::holds_alternative<Timed>(rule_)) return queue.pop_earliest();
    return std::visit([&queue](auto& rule) { return rule(queue); }, rule_);
  }
  /// True when events run in the order of their times.
  [[nodiscard]] bool timed() const { return std::holds_alternative<Timed>(rule_); }

 private:
  std::variant<Timed, Random, Chosen> rule_;
};
static_assert(PickRule<Pick>);

/// Maps nominal delays to drawn ones: none, nominal or 100 times nominal, each as likely (docs/exploring.md,
/// "Sampling"). Made without a stream it leaves every delay as it is, so that a model holds one in either case.
class Adversarial {
 public:
  static constexpr std::int64_t kStretch = 100;

  Adversarial() = default;
  explicit Adversarial(const Stream& stream) : stream_(stream) {}

  [[nodiscard]] Duration operator()(Duration nominal) {
    if (!stream_) return nominal;
    constexpr std::int64_t kFactors[] = {0, 1, kStretch};
    return nominal * kFactors[stream_->below(3)];
  }
  [[nodiscard]] bool active() const { return stream_.has_value(); }

 private:
  std::optional<Stream> stream_;
};

}  // namespace loco::sim
