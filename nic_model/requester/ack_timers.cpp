#include "nic_model/requester/ack_timers.hpp"

#include <algorithm>

#include "nic_model/requester/requester.hpp"

namespace loco::nic {

void AckTimers::look_at(Engine& engine, std::uint32_t index, sim::SimTime at) {
  pending_ = true;
  engine.kernel.look_begins();
  next_ = at;
  event_ = engine.schedule(kEventAckTimers, index, 0, at);
}

void AckTimers::watch(Engine& engine, std::uint32_t index, QpId qp, sim::Duration shortest) {
  waiting_.push_back(qp);
  shortest_ = shortest_.ps == 0 ? shortest : std::min(shortest_, shortest);
  const sim::SimTime at = engine.now() + shortest_;
  if (pending_ && next_ <= at) return;
  if (pending_) {
    engine.cancel(event_);
    engine.kernel.look_ends();
  }
  look_at(engine, index, at);
}

void AckTimers::look_sooner(Engine& engine, std::uint32_t index, sim::Duration time) {
  if (!pending_) return;
  engine.cancel(event_);
  next_ = next_ - time;
  event_ = engine.schedule(kEventAckTimers, index, 0, next_);
}

void AckTimers::look(Engine& engine, std::uint32_t index) {
  const sim::SimTime until = next_ + shortest_;
  pending_ = false;
  engine.kernel.look_ends();
  if (engine.kernel.ranked()) engine.kernel.uncount_step();  // parts look at different times: not counted
  std::erase_if(waiting_, [&](QpId id) { return !engine.requesters[id].due_until(engine, id, until); });
  if (!waiting_.empty()) look_at(engine, index, until);
}

}  // namespace loco::nic
