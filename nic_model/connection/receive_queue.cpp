#include "nic_model/connection/receive_queue.hpp"

#include <algorithm>
#include <utility>

#include "nic_model/engine/check.hpp"
#include "nic_model/engine/hash_parts.hpp"

namespace loco::nic {

void ReceiveQueue::reveal(ThreadId poster, std::uint32_t count) {
  for (; count > 0; --count) {
    std::size_t next = visible_;
    while (next < entries_.size() && entries_[next].poster != poster) ++next;
    if (next == entries_.size()) return;  // a RESET has dropped it before its doorbell was seen
    for (; next > visible_; --next) std::swap(entries_[next], entries_[next - 1]);
    ++visible_;
  }
}

RecvWqe ReceiveQueue::take() {
  const RecvWqe oldest = entries_.front().wqe;
  entries_.pop_front();
  --visible_;
  return oldest;
}

std::vector<RecvWqe> ReceiveQueue::posted() const {
  std::vector<RecvWqe> all;
  for (std::size_t i = 0; i < entries_.size(); ++i) all.push_back(entries_[i].wqe);
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
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    add_receive(h, entries_[i].wqe);
    if (i >= visible_) h.add(entries_[i].poster);
  }
}

void ReceiveQueue::check(std::uint32_t id, sim::SimTime now) const {
  const Check check(now, "receive queue", "receive queue", id);
  check.holds(entries_.size() <= depth_, "it holds no more than its depth");
  check.holds(visible_ <= entries_.size(), "what the NIC knows of was posted");
  check.holds(shared() || (limit_ == 0 && !limit_reached_), "only a shared queue has a limit");
}

}  // namespace loco::nic
