#include "model/shared_memory.hpp"

#include "model/words.hpp"

namespace loco::model {

bool SharedMemory::appears(SubeventId source, SubeventId reader) {
  if (context_->level.visible(source)) return true;
  const Trace& trace = context_->index.trace();
  context_->reports.add(Rule::disjoint, [&] {
    return subevent_text(trace, reader) + " reads " + subevent_text(trace, source) + ", which is inside another call";
  });
  return false;
}

void SharedMemory::read(const Node& node, const Subevent& s, std::uint32_t word) {
  const TraceIndex& index = context_->index;
  Order& order = context_->order;
  if (s.source != 0) {
    if (!appears(s.source, node.subevent)) return;
    bool internal = false;
    if (s.stamp == Stamp::aCR && index.kind(s.source).stamp == Stamp::aCW) {
      const CallId source = index.subevent(s.source).call;
      internal = source < s.call && index.call(source).thread == index.call(s.call).thread;
    }
    if (!internal) order.edge(order.finish(s.source), node.finish, Rule::rf);
  }
  SubeventId overwriter = context_->level.next_write(s.source, word);
  if (overwriter == node.subevent) overwriter = 0;  // a CAS: later writes follow it by mo
  if (overwriter != 0) {
    order.edge(node.finish, order.finish(overwriter), Rule::rb);
  } else if (index.has_unbegun() && !index.unbegun_writes(word).empty()) {
    Point& reads = last_read_[word];
    reads = order.join(reads, node.finish);
  }
}

void SharedMemory::write(const Node& node, std::uint32_t word) {
  const SubeventId next = context_->level.next_write(node.subevent, word);
  if (next != 0) context_->order.edge(node.finish, context_->order.finish(next), Rule::mo);
}

SubeventId SharedMemory::last_write(std::uint32_t word) {
  SubeventId last = 0;
  for (SubeventId id = context_->level.next_write(0, word); id != 0; id = context_->level.next_write(id, word)) {
    context_->index.poll();
    last = id;
  }
  return last;
}

void SharedMemory::finish() {
  const TraceIndex& index = context_->index;
  Order& order = context_->order;
  std::map<std::uint32_t, SubeventId> last;  // by word
  for (const Node& node : unbegun_) {
    const std::uint32_t word = index.word(node.subevent);
    const auto [found, fresh] = last.try_emplace(word, 0);
    if (fresh) found->second = last_write(word);
    if (found->second == 0) continue;
    order.edge(order.finish(found->second), node.finish, is_write(node.stamp) ? Rule::mo : Rule::rf);
  }
  for (const auto& [word, reads] : last_read_)
    for (const TraceIndex::UnbegunWrite& w : index.unbegun_writes(word))
      if (context_->level.visible(w.write)) order.edge(reads, order.finish(w.write), Rule::rb);
}

SubeventId SharedMemory::access(const Node& node) {
  const TraceIndex& index = context_->index;
  if (index.kind(node.subevent).unbegun) {
    unbegun_.push_back(node);
    return 0;
  }
  const Subevent& s = index.subevent(node.subevent);
  const std::uint32_t word = index.word(node.subevent);
  if (is_read(s.stamp)) read(node, s, word);
  if (is_write(s.stamp)) write(node, word);
  OwnWrite& own = last_[word];
  if (s.stamp == Stamp::aCW) own = {epoch_, node.subevent};
  if (s.stamp != Stamp::aCR || own.epoch != epoch_) return 0;
  return index.mo_position(own.write) > index.mo_position(s.source) ? own.write : 0;
}

}  // namespace loco::model
