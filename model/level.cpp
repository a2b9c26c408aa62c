#include "model/level.hpp"

namespace loco::model {
namespace {
constexpr SubeventId kNoMore = 0xffffffffU;
}

Level::Level(const TraceIndex& index, LibrarySet libraries) : index_(&index), libraries_(libraries) {
  const std::size_t calls = index.trace().calls.size();
  event_.resize(calls);
  for (std::size_t i = 0; i < calls; ++i) {
    index.poll();
    const CallKind c = index.kind_of_call(static_cast<CallId>(i + 1));
    const CallId above = c.parent == 0 ? 0 : event_[c.parent - 1];
    const bool in = (libraries & bit(c.library)) != 0 && (c.method != Method::sv_wait || c.own_wait);
    event_[i] = above != 0 ? above : in ? static_cast<CallId>(i + 1) : 0;
  }
  library_.assign(index.trace().subevents.size(), kHidden);
  for (std::size_t i = 0; i < calls; ++i) {
    index.poll(1 + index.subevents_of(static_cast<CallId>(i + 1)).size());
    if (event_[i] == 0) continue;
    const CallKind event = index.kind_of_call(event_[i]);
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
