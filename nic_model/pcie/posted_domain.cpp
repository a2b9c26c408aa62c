#include "nic_model/pcie/posted_domain.hpp"

#include "nic_model/engine/check.hpp"
#include "nic_model/engine/hash_parts.hpp"

namespace loco::nic {

PostedWrite* PostedDomain::forget_done() {
  while (!writes_.empty() && writes_.front().done) {
    writes_.pop_front();
    ++first_;
  }
  return waiting_head();
}

void PostedDomain::drop_cqes(QpId qp) {
  for (std::size_t i = 0; i < writes_.size(); ++i) {
    if (writes_[i].is_cqe && writes_[i].cqe.qp == qp) writes_[i].cq = kNone;
  }
}

bool PostedDomain::pop_free(HeldRead& read) {
  if (held_.empty() || held_.front().behind > first_) return false;
  read = held_.front();
  held_.pop_front();
  return true;
}

void PostedDomain::hash(Hasher& h, const Payloads& payloads) const {
  h.add_all(first_, writes_.size(), held_.size());
  for (std::size_t i = 0; i < writes_.size(); ++i) {
    const PostedWrite& w = writes_[i];
    h.add_all(w.is_cqe, w.has_event, w.done, w.ends_atomic, w.relaxed, w.length, w.committed, w.cq, w.address, w.value,
              w.message, w.behind);
    add_payload(h, payloads, w.done ? fabric::kNoBuffer : w.buffer, w.offset, w.length);
    add_cqe(h, w.cqe);
  }
  for (std::size_t i = 0; i < held_.size(); ++i) {
    h.add_all(held_[i].kind, held_[i].where, held_[i].number, held_[i].behind);
  }
}

void PostedDomain::check(std::uint32_t domain, sim::SimTime now) const {
  const Check check(now, "posted writes", "ordering domain", domain);
  for (std::size_t i = 0; i < writes_.size(); ++i) {
    const PostedWrite& w = writes_[i];
    check.holds(w.committed <= w.length, "no more is in memory than was posted");
    check.holds(!w.done || w.is_cqe || w.committed == w.length, "what is done is in memory");
    check.holds(!w.done || !w.has_event, "what is done has no event");
    check.holds(i != 0 || w.done || w.has_event || w.behind != 0, "the oldest write has an event");
    check.holds(!w.ends_atomic || !w.is_cqe, "what ends an atomic is its new value");
  }
  for (std::size_t i = 0; i < held_.size(); ++i) {
    check.holds(held_[i].behind > first_ && held_[i].behind <= issued(), "a read waits for writes that were posted");
    check.holds(i == 0 || held_[i].behind >= held_[i - 1].behind, "reads that wait are in the order of their issue");
  }
}

}  // namespace loco::nic
