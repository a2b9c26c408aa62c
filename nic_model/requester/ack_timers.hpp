// Transport timers on a lossless network (SystemConfig::timers). Nearly all requests are answered long before their
// timeout, so instead of an event per request there is a list of the queue pairs that wait for an answer, which is
// looked at periodically.
//
// A deadline is at least the shortest timeout after it was set. One look per that time (kEventAckTimers) is therefore
// enough: a deadline before the next look gets an event of its own, which goes to the queue pair's requester as on any
// network (Requester::timed_out). A machine is idle if the next look is its only pending event and no queue pair waits.
// In parts of a machine each NIC looks by itself, at its own times. Private to nic_model/.
#pragma once

#include <optional>
#include <vector>

#include "nic_model/engine/engine.hpp"
#include "sim/event_queue.hpp"

namespace loco::nic {

class AckTimers {
 public:
  /// A queue pair begins to wait for an answer, for at least `shortest`. It stays in the list until a look finds it not
  /// waiting. `index` identifies these timers.
  void watch(Engine& engine, std::uint32_t index, QpId qp, sim::Duration shortest);
  /// kEventAckTimers: schedules events for deadlines before the next look.
  void look(Engine& engine, std::uint32_t index);
  /// When the next look is, if there is one.
  [[nodiscard]] std::optional<sim::SimTime> next_look() const { return pending_ ? std::optional(next_) : std::nullopt; }
  /// The next look comes so much sooner. Precondition: it is not before now then.
  void look_sooner(Engine& engine, std::uint32_t index, sim::Duration time);
  bool operator==(const AckTimers&) const = default;

 private:
  void look_at(Engine& engine, std::uint32_t index, sim::SimTime at);

  std::vector<QpId> waiting_{};
  sim::Duration shortest_{};  // the shortest timeout so far
  sim::SimTime next_{};       // time of the pending look
  sim::EventHandle event_{};
  bool pending_ = false;
};

}  // namespace loco::nic
