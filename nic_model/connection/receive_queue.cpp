#include "nic_model/connection/receive_queue.hpp"

#include <algorithm>
#include <utility>

#include "nic_model/engine/check.hpp"
#include "nic_model/engine/hash_parts.hpp"

namespace loco::nic {

void ReceiveQueue::reveal(std::uint32_t count) {
  // A RESET may have dropped some of them before this was known.
  visible_ = std::min(visible_ + count, static_cast<std::uint32_t>(entries_.size()));
}

RecvWqe ReceiveQueue::take() {
  const RecvWqe oldest = entries_.front();
  entries_.pop_front();
  --visible_;
  return oldest;
}

std::vector<RecvWqe> ReceiveQueue::posted() const {
  std::vector<RecvWqe> all;
  for (std::size_t i = 0; i < entries_.size(); ++i) all.push_back(entries_[i]);
  return all;
}

void ReceiveQueue::clear() {
  entries_.clear();
  visible_ = 0;
}

bool ReceiveQueue::reach_limit() {
  if (visible_ >= limit_) return false;
  limit_ = 0;
  limit_reached_ = true;
  return true;
}

bool ReceiveQueue::take_limit_event() { return std::exchange(limit_reached_, false); }

void ReceiveQueue::hash(Hasher& h) const {
  h.add_all(limit_, limit_reached_, visible_, entries_.size());
  for (std::size_t i = 0; i < entries_.size(); ++i) add_receive(h, entries_[i]);
}

void ReceiveQueue::check(std::uint32_t id, sim::SimTime now) const {
  const Check check(now, "receive queue", "receive queue", id);
  check.holds(entries_.size() <= depth_, "it holds no more than its depth");
  check.holds(visible_ <= entries_.size(), "what the NIC knows of was posted");
  check.holds(shared() || (limit_ == 0 && !limit_reached_), "only a shared queue has a limit");
}

}  // namespace loco::nic
