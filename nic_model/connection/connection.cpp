#include "nic_model/connection/connection.hpp"

#include <algorithm>

#include "nic_model/engine/check.hpp"

namespace loco::nic {

std::uint32_t number_of(std::vector<QpSettings>& all, const QpSettings& settings) {
  const auto number = static_cast<std::size_t>(std::find(all.begin(), all.end(), settings) - all.begin());
  if (number == all.size()) all.push_back(settings);
  return static_cast<std::uint32_t>(number);
}

void Connection::check(QpId id, const QpSettings& settings, sim::SimTime now) const {
  const Check check(now, "connection", "queue pair", id);
  const bool before_rtr = state_ == QpState::reset || state_ == QpState::init;
  check.holds(type_ == QpType::ud || before_rtr || state_ == QpState::error || peer_ != kNone, "it has a peer");
  check.holds((peer_ == kNone) == (peer_node_ == NicId::none()), "a peer has a node");
  check.holds(peer_ != id, "it is not its own peer");
  check.holds(type_ != QpType::rc || state_ != QpState::sqe, "SQE is a state of unreliable queue pairs");
  check.holds(settings.retry_count <= 7 && settings.rnr_retry <= 7, "retry counts have three bits");
}

}  // namespace loco::nic
