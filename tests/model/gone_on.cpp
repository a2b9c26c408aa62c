// A run that ended early, gone on in a given order: the meaning of the definitions' "comes after everything that was
// seen".
#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "model/trace_index.hpp"
#include "tests/model/reference.hpp"

namespace loco::model::test {

Trace gone_on(Trace trace, const std::vector<SubeventId>& order) {
  using Word = std::pair<std::uint16_t, std::uint64_t>;
  const auto word = [](const Subevent& s) { return Word{s.node, s.address}; };
  std::map<Word, SubeventId> last;
  std::set<SubeventId> overwritten;
  std::vector<std::pair<Seq, SubeventId>> begun;
  Seq now = 0;
  for (SubeventId id = 1; id <= trace.subevents.size(); ++id) {
    const Subevent& s = trace.subevents[id - 1];
    if (s.start == kNever) continue;
    now = std::max(now, s.finish == kNever ? s.start : s.finish);
    if (!is_write(s.stamp)) continue;
    if (s.finish == kNever)
      begun.emplace_back(s.start, id);
    else
      overwritten.insert(s.overwrote);
  }
  for (SubeventId id = 1; id <= trace.subevents.size(); ++id) {
    const Subevent& s = trace.subevents[id - 1];
    if (s.start != kNever && s.finish != kNever && is_write(s.stamp) && !overwritten.contains(id)) last[word(s)] = id;
  }
  const auto write = [&](SubeventId id) {
    Subevent& s = trace.subevents[id - 1];
    s.overwrote = last[word(s)];
    s.finish = ++now;
    last[word(s)] = id;
  };
  std::sort(begun.begin(), begun.end());
  for (const auto& [start, id] : begun) write(id);
  for (const SubeventId id : order) {
    Subevent& s = trace.subevents[id - 1];
    s.start = ++now;
    if (is_write(s.stamp)) {
      write(id);
    } else {
      s.finish = s.start;
      s.source = is_read(s.stamp) ? last[word(s)] : 0;
    }
  }
  return trace;
}

}  // namespace loco::model::test
