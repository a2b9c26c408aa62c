#include "nic_model/connection/completion_queue.hpp"

#include "nic_model/engine/check.hpp"
#include "nic_model/engine/hash_parts.hpp"
#include "probe/probe.hpp"

namespace loco::nic {

bool CompletionQueue::write(const Cqe& cqe) {
  overrun_ = overrun_ || cqes_.size() == entries_;
  if (overrun_) {
    LOCO_PROBE(completion_queue_overruns);
    return false;
  }
  cqes_.push_back(cqe);
  failed_ = failed_ || cqe.status != Status::success;
  return true;
}

Cqe CompletionQueue::poll() {
  const Cqe oldest = cqes_.front();
  cqes_.pop_front();
  return oldest;
}

void CompletionQueue::forget(QpId qp) {
  for (std::size_t left = cqes_.size(); left > 0; --left) {
    const Cqe cqe = poll();
    if (cqe.qp != qp) cqes_.push_back(cqe);
  }
}

bool CompletionQueue::holds(QpId qp) const {
  for (std::size_t i = 0; i < cqes_.size(); ++i)
    if (cqes_[i].qp == qp) return true;
  return false;
}

std::vector<Cqe> CompletionQueue::failed_cqes() const {
  std::vector<Cqe> failed;
  for (std::size_t i = 0; i < cqes_.size(); ++i)
    if (cqes_[i].status != Status::success) failed.push_back(cqes_[i]);
  return failed;
}

void CompletionQueue::hash(Hasher& h) const {
  h.add_all(overrun_, failed_, cqes_.size());
  for (std::size_t i = 0; i < cqes_.size(); ++i) add_cqe(h, cqes_[i]);
}

void CompletionQueue::check(CqId id, sim::SimTime now) const {
  const Check check(now, "completion queue", "completion queue", id);
  check.holds(entries_ > 0, "it has room for an entry");
  check.holds(cqes_.size() <= entries_, "it holds no more than its entries");
  check.holds(failed_ || failed_cqes().empty(), "an error that it holds has been noted");
}

}  // namespace loco::nic
