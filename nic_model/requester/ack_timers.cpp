#include "nic_model/requester/ack_timers.hpp"

#include <algorithm>

#include "nic_model/requester/requester.hpp"

namespace loco::nic {

void AckTimers::look_at(Engine& engine, sim::SimTime at) {
  pending_ = true;
  next_ = at;
  event_ = engine.schedule(kEventAckTimers, 0, 0, at);
}

void AckTimers::watch(Engine& engine, QpId qp, sim::Duration shortest) {
  waiting_.push_back(qp);
  shortest_ = shortest_.ps == 0 ? shortest : std::min(shortest_, shortest);
  const sim::SimTime at = engine.now() + shortest_;
  if (pending_ && next_ <= at) return;
  if (pending_) engine.cancel(event_);
  look_at(engine, at);
}

void AckTimers::look(Engine& engine) {
  const sim::SimTime until = next_ + shortest_;
  pending_ = false;
  std::erase_if(waiting_, [&](QpId id) { return !engine.requesters[id].due_until(engine, id, until); });
  if (!waiting_.empty()) look_at(engine, until);
}

}  // namespace loco::nic
