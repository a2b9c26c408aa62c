#include "nic_model/port/flight.hpp"

#include <utility>

namespace loco::nic {

using fabric::Psn;

bool Flight::knows(Psn psn) const {
  const std::int32_t index = psn.distance(base_);
  return index >= 0 && static_cast<std::size_t>(index) < packets_.size();
}

void Flight::sent(Psn psn, std::uint32_t wire, sim::SimTime at) {
  if (packets_.empty()) base_ = psn;
  const std::int32_t index = psn.distance(base_);
  if (index < 0) return;  // acknowledged meanwhile
  // PSNs that are skipped belong to requests for data or atomics, which are not counted.
  while (packets_.size() <= static_cast<std::size_t>(index)) packets_.push_back({});
  Sent& packet = this->at(psn);
  const bool again = packet.wire != 0;
  if (again && packet.done) return;
  if (!packet.under_way) bytes_ += wire;
  packet = {.at = at, .wire = wire, .under_way = true, .done = false, .again = again};
}

void Flight::settle(Sent& packet, Answered& answered) {
  if (packet.done) return;
  packet.done = true;
  answered.bytes += packet.wire;
  ++answered.packets;
  if (std::exchange(packet.under_way, false)) bytes_ -= packet.wire;
}

Flight::Answered Flight::answered_up_to(Psn psn, sim::SimTime now) {
  Answered answered;
  if (knows(psn) && !at(psn).done && !at(psn).again) answered.rtt = now - at(psn).at;
  for (; !packets_.empty() && psn.distance(base_) >= 0; packets_.pop_front(), base_ = base_ + 1) {
    settle(packets_.front(), answered);
  }
  return answered;
}

Flight::Answered Flight::answered(Psn psn, sim::SimTime now) {
  Answered answered;
  if (!knows(psn)) return answered;
  Sent& packet = at(psn);
  if (!packet.done && !packet.again) answered.rtt = now - packet.at;
  settle(packet, answered);
  for (; !packets_.empty() && packets_.front().done; packets_.pop_front()) base_ = base_ + 1;
  return answered;
}

Flight::Lost Flight::lose(Psn psn, sim::SimTime now) {
  if (!knows(psn) || !at(psn).under_way) return {};
  Sent& packet = at(psn);
  packet.under_way = false;
  bytes_ -= packet.wire;
  return {.bytes = packet.wire, .rtt = packet.again ? sim::Duration{} : now - packet.at};
}

std::uint64_t Flight::lose_all() {
  for (std::size_t i = 0; i < packets_.size(); ++i) packets_[i].under_way = false;
  return std::exchange(bytes_, 0);
}

void Flight::clear() {
  packets_.clear();
  base_ = {};
  bytes_ = 0;
}

}  // namespace loco::nic
