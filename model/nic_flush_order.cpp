#include "model/nic_flush_order.hpp"

#include <algorithm>

namespace loco::model {

void NicFlushOrder::begin_thread(std::uint32_t thread) {
  const TraceIndex& index = context_->index;
  before_write_.clear();
  next_ = 0;
  for (const CallId call : index.calls_of(thread)) {
    const CallId event = context_->level.event_of(call);
    if (event == 0 || index.kind_of_call(event).library != Library::rdmawait) continue;
    for (const SubeventId id : index.subevents_of(call)) {
      index.poll();
      const Kind s = index.kind(id);
      if (s.stamp < Stamp::aNLR || s.stamp > Stamp::aNLW) continue;
      const bool remote = s.stamp == Stamp::aNRR || s.stamp == Stamp::aNRW;
      const std::uint32_t pair = 2 * std::uint32_t{s.peer} + (remote ? 1 : 0);
      Item item{index.finish_position(id), id, 0};
      if (!is_instant(s.stamp)) {
        before_write_.push_back({});
        item.write = static_cast<std::uint32_t>(before_write_.size());
      }
      if (pairs_[pair].empty()) touched_.push_back(pair);
      pairs_[pair].push_back(item);
    }
  }
  for (const std::uint32_t pair : touched_) {
    walk(pairs_[pair]);
    pairs_[pair].clear();
  }
  touched_.clear();
}

void NicFlushOrder::walk(std::vector<Item>& items) {
  // Of a read and a write that finish at the same instant the read comes first: it does not flush that write.
  const auto earlier = [](const Item& a, const Item& b) { return a.when != b.when ? a.when < b.when : a.id < b.id; };
  if (!std::is_sorted(items.begin(), items.end(), earlier)) std::sort(items.begin(), items.end(), earlier);
  Order& order = context_->order;
  Point reads, writes;
  for (const Item& item : items) {
    context_->index.poll();
    const Point at = order.finish(item.id);
    const Subevent& s = context_->index.subevent(item.id);
    if (item.write == 0) {
      order.edge(writes, at, Rule::nfo);
      if (!is_unbegun(s)) reads = order.join(reads, at);
    } else if (!is_given_up(s)) {
      // A thread may go on after a write that was given up; no read is ordered before such a write.
      before_write_[item.write - 1] = reads;
      if (!is_unbegun(s)) writes = order.join(writes, at);
    }
  }
}

}  // namespace loco::model
