#include "model/level.hpp"

#include "model/flat_map.hpp"

namespace loco::model {
namespace {
constexpr SubeventId kNoMore = 0xffffffffU;
}

Level::Level(const TraceIndex& index, LibrarySet libraries) : index_(&index), libraries_(libraries) {
  const std::vector<Call>& calls = index.trace().calls;
  FlatMap<WordKey, bool> broadcast;  // (work id, thread): a wait is sv's when a broadcast has used its work id
  for (const Call& c : calls)
    if (c.method == Method::bcast) broadcast[WordKey{c.work_id, c.thread}] = true;
  event_.resize(calls.size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const CallId above = calls[i].parent == 0 ? 0 : event_[calls[i].parent - 1];
    bool in = (libraries & bit(calls[i].library)) != 0;
    if (calls[i].method == Method::sv_wait && broadcast.find(WordKey{calls[i].work_id, calls[i].thread}) == nullptr)
      in = false;
    event_[i] = above != 0 ? above : in ? static_cast<CallId>(i + 1) : 0;
  }
  library_.assign(index.trace().subevents.size(), kHidden);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (event_[i] == 0) continue;
    const Call& event = calls[event_[i] - 1];
    const std::uint32_t stamps = visible_stamps(event.library, event.method);
    if (stamps == 0) continue;
    for (const SubeventId id : index.subevents_of(static_cast<CallId>(i + 1)))
      if ((stamps >> static_cast<unsigned>(index.kind(id).stamp) & 1U) != 0)
        library_[id - 1] = static_cast<std::uint8_t>(event.library);
  }
}

SubeventId Level::next_write(SubeventId id, std::uint32_t word) {
  SubeventId next = id == 0 ? index_->first_write(word) : index_->next_write(id);
  if (next == 0 || visible(next)) return next;
  // A word with hidden writes: find the end of the run of hidden ones, and let each of them point there.
  if (skip_.empty()) skip_.assign(index_->trace().subevents.size(), 0);
  const auto step = [&](SubeventId s) {
    return skip_[s - 1] == kNoMore ? 0 : skip_[s - 1] != 0 ? skip_[s - 1] : index_->next_write(s);
  };
  SubeventId end = next;
  while (end != 0 && !visible(end)) end = step(end);
  while (next != 0 && next != end && !visible(next)) {
    const SubeventId after = step(next);
    skip_[next - 1] = end == 0 ? kNoMore : end;
    next = after;
  }
  return end;
}

}  // namespace loco::model
