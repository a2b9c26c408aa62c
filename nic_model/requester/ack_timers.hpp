// Transport timers on a network that loses nothing (SystemConfig::timers), where nearly all requests are answered long
// before their time: no event for each, but a list of the queue pairs that have waited since the last look at them.
//
// A deadline is at least the shortest time-out after the instant at which it was set. So it is enough to look once in
// that time (kEventAckTimers): a deadline before the next look gets an event of its own, which goes to the queue pair's
// requester as on any network (Requester::timed_out). A machine whose only pending event is the next look, and in which
// no queue pair waits, is idle. In parts of a machine each NIC looks for itself, at times of its own. Private to
// nic_model/.
#pragma once

#include <vector>

#include "nic_model/engine/engine.hpp"
#include "sim/event_queue.hpp"

namespace loco::nic {

class AckTimers {
 public:
  /// A queue pair waits for an answer, `shortest` at least. It stays in the list until it is seen not to wait. `index`:
  /// of these timers.
  void watch(Engine& engine, std::uint32_t index, QpId qp, sim::Duration shortest);
  /// kEventAckTimers: deadlines before the next look get their events.
  void look(Engine& engine, std::uint32_t index);
  bool operator==(const AckTimers&) const = default;

 private:
  void look_at(Engine& engine, std::uint32_t index, sim::SimTime at);

  std::vector<QpId> waiting_{};
  sim::Duration shortest_{};  // of all time-outs so far
  sim::SimTime next_{};       // when the next look is due, if it is pending
  sim::EventHandle event_{};
  bool pending_ = false;
};

}  // namespace loco::nic
