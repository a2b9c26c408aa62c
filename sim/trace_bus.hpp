// Typed trace events with subscribers: models emit and print nothing; trace, metrics and checkers listen.
//
// One Bus<Event> an event type. With nobody listening, emit() costs one branch, and emit_with() does not even build
// the event. A bus belongs to the run, not to the simulated machine: it is not copied with a system, and models are
// handed a reference or pointer to it for the time of a step. Determinism: subscribers are called in the order in
// which they subscribed; they may not change what the models do.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace loco::sim {

template <typename Event>
class Bus {
 public:
  using Subscriber = std::function<void(const Event&)>;
  using Id = std::uint64_t;

  Bus() = default;
  Bus(const Bus&) = delete;
  Bus& operator=(const Bus&) = delete;

  /// Adds a listener; not from inside a listener of this bus.
  Id subscribe(Subscriber subscriber) {
    subscribers_.emplace_back(next_id_, std::move(subscriber));
    return next_id_++;
  }
  /// Removes a listener; false when there is none of that id. Not from inside a listener of this bus.
  bool unsubscribe(Id id) {
    return std::erase_if(subscribers_, [id](const auto& entry) { return entry.first == id; }) != 0;
  }

  [[nodiscard]] bool listened() const { return !subscribers_.empty(); }

  void emit(const Event& event) const {
    if (listened()) [[unlikely]] {
      deliver(event);
    }
  }
  /// Emits what `make()` returns, and calls it only when somebody listens.
  template <typename Make>
  void emit_with(Make&& make) const {
    if (listened()) [[unlikely]] {
      deliver(std::forward<Make>(make)());
    }
  }

 private:
  void deliver(const Event& event) const {
    for (const auto& [id, subscriber] : subscribers_) subscriber(event);
  }

  std::vector<std::pair<Id, Subscriber>> subscribers_;
  Id next_id_ = 0;
};

}  // namespace loco::sim
