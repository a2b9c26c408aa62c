// Could any machine have recorded this? What happens has a cause that came before it: a write is fed by a read that was
// made, a read sees a write that had begun, a call contains what it does; and one operation does each thing once. A
// trace that says otherwise is no execution, and no question of order arises.
#include <algorithm>
#include <fmt/format.h>
#include <tuple>
#include <vector>

#include "model/copied_words.hpp"
#include "model/stamps.hpp"
#include "model/witness.hpp"
#include "model/words.hpp"

namespace loco::model {
namespace {

class Causality {
 public:
  Causality(const TraceIndex& index, Reports& reports)
      : index_(index), trace_(index.trace()), reports_(reports), copied_words_(index) {}

  void run() {
    for (CallId id = 1; id <= trace_.calls.size() && reports_.wanted(); ++id) call(id);
  }

 private:
  void report(SubeventId id, const std::string& problem) {
    reports_.add(Rule::structure, [&] { return subevent_text(trace_, id) + " " + problem; });
  }

  void call(CallId id) {
    const std::span<const SubeventId> parts = index_.subevents_of(id);
    index_.poll(1 + parts.size());
    if (parts.empty()) return;
    const Call& c = index_.call(id);
    for (const SubeventId part : parts) subevent(c, part);
    once(c, parts);
    if (c.method == Method::cas) return compares(parts);
    if (parts.size() < 2) return;
    const Stamp read = read_stamp(c.method, trace_.atomics_have_places);
    fed(parts, read, Stamp::aNLW);
    fed(parts, read, Stamp::aNRW);
  }

  void subevent(const Call& c, SubeventId id) {
    const Subevent& s = index_.subevent(id);
    if (is_unbegun(s)) return;
    if (s.start < c.begin) report(id, "happens before its call begins");
    if (!is_family(s.stamp) && c.returned && s.start > c.end) report(id, "happens after its call has returned");
    if (!is_read(s.stamp) || s.source == 0) return;
    const Subevent& w = index_.subevent(s.source);
    if (is_write(w.stamp) && w.start > s.finish)  // also when it never began
      report(id, "reads what had not been written: " + subevent_text(trace_, s.source));
  }

  /// Reports an operation that touches one word with the same stamp more than once.
  void once(const Call& c, std::span<const SubeventId> parts) {
    if (parts.size() < 2) return;
    seen_.clear();
    for (const SubeventId id : parts) {
      const Subevent& s = index_.subevent(id);
      if (is_access(s.stamp)) seen_.emplace_back(s.stamp, s.node, s.address, id);
      // One wait may be for several work ids, each with a subevent of its own.
      else if (c.method != Method::wait)
        seen_.emplace_back(s.stamp, 0, 0, id);
    }
    if (!std::is_sorted(seen_.begin(), seen_.end())) std::sort(seen_.begin(), seen_.end());
    const auto same = [](const auto& a, const auto& b) {
      return std::tie(std::get<0>(a), std::get<1>(a), std::get<2>(a)) ==
             std::tie(std::get<0>(b), std::get<1>(b), std::get<2>(b));
    };
    const auto twice = std::adjacent_find(seen_.begin(), seen_.end(), same);
    if (twice == seen_.end()) return;
    if (!is_remote_atomic(c.method)) return report(std::get<3>(*(twice + 1)), "is in its call twice");
    reports_.add(Rule::once, [&] {
      return subevent_text(trace_, std::get<3>(*(twice + 1))) + " is in its call twice: the atomic was executed again";
    });
  }

  /// A compare-and-swap succeeds, and is one subevent, or fails: then it is a fence and a read.
  void compares(std::span<const SubeventId> parts) {
    for (const SubeventId id : parts)
      if (index_.kind(id).stamp == Stamp::aCAS && parts.size() > 1)
        report(id, "has succeeded, and its call has more to it");
  }

  void fed(std::span<const SubeventId> parts, Stamp read, Stamp written) {
    for (const CopiedWords::Pair& pair : copied_words_.of(parts, read, written)) {
      if (pair.read == 0) return;  // copied value
      const Subevent& w = index_.subevent(pair.written);
      if (!is_unbegun(w) && index_.subevent(pair.read).start > w.start)  // also when it never began
        report(pair.written, "begins before the read that feeds it: " + access_text(trace_, pair.read));
    }
  }

  const TraceIndex& index_;
  const Trace& trace_;
  Reports& reports_;
  CopiedWords copied_words_;
  std::vector<std::tuple<Stamp, std::uint16_t, std::uint64_t, SubeventId>> seen_;  // of the call at hand
};

}  // namespace

void check_causality(const TraceIndex& index, Reports& reports) { Causality(index, reports).run(); }

}  // namespace loco::model
