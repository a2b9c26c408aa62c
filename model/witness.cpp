#include "model/witness.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <tuple>
#include <vector>

#include "model/copied_words.hpp"
#include "model/stamps.hpp"
#include "model/words.hpp"

namespace loco::model {
namespace {

constexpr std::uint32_t of(Stamp s) { return 1U << static_cast<unsigned>(s); }

/// stmp_RL of Appendix G.2, and the extension for remote atomics (docs/atomics.md; `places`: as in read_stamp).
std::uint32_t allowed_stamps(Method m, bool places) {
  switch (m) {
    case Method::write:
      return of(Stamp::aCW);
    case Method::read:
      return of(Stamp::aCR);
    case Method::cas:
      return of(Stamp::aCAS) | of(Stamp::aMF) | of(Stamp::aCR);
    case Method::mfence:
      return of(Stamp::aMF);
    case Method::get:
      return of(Stamp::aNRR) | of(Stamp::aNLW);
    case Method::put:
      return of(Stamp::aNLR) | of(Stamp::aNRW);
    case Method::wait:
      return of(Stamp::aWT);
    case Method::rfence:
      return of(Stamp::aRF);
    case Method::remote_faa:
    case Method::remote_cas:
      return of(places ? Stamp::aNAR : Stamp::aNRR) | of(Stamp::aNRW) | of(Stamp::aNLW);
    default:
      return 0;
  }
}

/// The stamps (bit set) that a returned call must have and that are not in `present`. Only CPU stamps: a NIC may
/// execute its subevents after the call has returned.
std::uint32_t missing_stamps(Method m, std::uint32_t present) {
  constexpr std::uint32_t kCpu = of(Stamp::aCR) | of(Stamp::aCW) | of(Stamp::aMF) | of(Stamp::aWT);
  if (m == Method::cas && (present & of(Stamp::aCAS)) != 0) return 0;
  return allowed_stamps(m, true) & kCpu & ~present;
}

class Witness {
 public:
  Witness(const TraceIndex& index, Reports& reports)
      : index_(index), trace_(index.trace()), reports_(reports), copied_words_(index) {}

  void run() {
    if (index_.broken_mo() != 0) report(Rule::mo_total, index_.broken_mo(), "does not continue the order of its word");
    for (SubeventId id = 1; id <= trace_.subevents.size(); ++id) subevent(id);
    for (CallId id = 1; id <= trace_.calls.size(); ++id)
      if (trace_.calls[id - 1].library == Library::rdmawait) call(id);
    if (index_.broken_mo() == 0)
      for (std::uint32_t w = 0; w < index_.words(); ++w) atomics(w);
    rao_total();
  }

 private:
  void report(Rule rule, SubeventId id, const std::string& problem) {
    reports_.add(rule, [&] { return subevent_text(trace_, id) + " " + problem; });
  }

  void subevent(SubeventId id) {
    index_.poll();
    const Subevent& s = index_.subevent(id);
    const Call& c = index_.call(s.call);
    if ((allowed_stamps(c.method, trace_.atomics_have_places) & of(s.stamp)) == 0)
      report(Rule::stamps, id, fmt::format("is no part of a {}", name(c.method)));
    if (!is_access(s.stamp)) return;
    const bool remote = s.stamp == Stamp::aNRR || s.stamp == Stamp::aNRW || s.stamp == Stamp::aNAR;
    if (s.stamp == Stamp::aNAR && !is_unbegun(s)) places_.push_back({s.node, s.value_read, id});
    const std::uint32_t expected = remote ? s.peer : trace_.threads[c.thread].node;
    if (s.node != expected) report(Rule::respects_nodes, id, fmt::format("is not on node {}", expected));
    if (is_read(s.stamp) && !is_unbegun(s)) source(id, s);
  }

  /// The places of a unit's atomics are all different, so that they are in one order.
  void rao_total() {
    std::sort(places_.begin(), places_.end(), [](const Place& a, const Place& b) {
      return std::tie(a.node, a.place, a.id) < std::tie(b.node, b.place, b.id);
    });
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const Place& p = places_[i];
      if (rao_place(index_.subevent(p.id)) == 0)
        report(Rule::rao_total, p.id, "has no place among the atomics of its node");
      if (i > 0 && places_[i - 1].node == p.node && places_[i - 1].place == p.place)
        report(Rule::rao_total, p.id,
               "has the place of another atomic of its node: " + subevent_text(trace_, places_[i - 1].id));
    }
  }

  void source(SubeventId id, const Subevent& s) {
    if (s.source == 0) {
      if (value_read(s) != 0) report(Rule::initial_value, id, "reads no write, and not 0");
      return;
    }
    const Subevent& w = index_.subevent(s.source);
    if (!is_write(w.stamp) || s.source == id || index_.word(s.source) != index_.word(id) || w.value != value_read(s))
      report(Rule::rf_source, id, "names as its source " + subevent_text(trace_, s.source));
  }

  void call(CallId id) {
    const Call& c = index_.call(id);
    const auto parts = index_.subevents_of(id);
    index_.poll(1 + parts.size());
    if (c.returned) complete(id, parts);
    if (parts.empty()) return;
    if (c.method == Method::cas) return compare_and_swap(c, parts);
    if (parts.size() == 1) {
      const Subevent& s = index_.subevent(parts[0]);
      if (c.method == Method::read && c.returned && c.result != s.value)
        report(Rule::returned_value, parts[0], fmt::format("but the call returned {}", c.result));
      if (c.method == Method::write && c.argument != s.value)
        report(Rule::returned_value, parts[0], fmt::format("but the call was to write {}", c.argument));
    }
    const Stamp read = read_stamp(c.method, trace_.atomics_have_places);
    copied(c, parts, read, Stamp::aNLW);
    copied(c, parts, read, Stamp::aNRW);
  }

  void complete(CallId id, std::span<const SubeventId> parts) {
    std::uint32_t present = 0;
    for (const SubeventId part : parts) present |= of(index_.kind(part).stamp);
    const std::uint32_t missing = missing_stamps(index_.call(id).method, present);
    for (unsigned s = 0; s < kStamps; ++s)
      if ((missing >> s & 1U) != 0)
        reports_.add(Rule::stamps, [&] {
          return fmt::format("{}: {} returned without its {}", thread_text(trace_, index_.call(id).thread),
                             call_text(trace_, id), name(static_cast<Stamp>(s)));
        });
  }

  void compare_and_swap(const Call& c, std::span<const SubeventId> parts) {
    for (const SubeventId id : parts) {
      const Subevent& s = index_.subevent(id);
      if (s.stamp == Stamp::aCAS && s.value != c.argument)
        report(Rule::returned_value, id, fmt::format("but the call was to write {}", c.argument));
      if (is_read(s.stamp) && c.returned && c.result != value_read(s))
        report(Rule::returned_value, id, fmt::format("but the call returned {}", c.result));
    }
  }

  /// The value written must be the value read. A fetch-and-add writes the sum, a compare-and-swap its new value
  /// instead.
  void copied(const Call& c, std::span<const SubeventId> parts, Stamp read, Stamp written) {
    for (const CopiedWords::Pair& pair : copied_words_.of(parts, read, written)) {
      const SubeventId id = pair.written;
      const Subevent& w = index_.subevent(id);
      if (pair.read == 0) return report(Rule::copied_value, id, "writes what the call has not read");
      const Subevent& from = index_.subevent(pair.read);
      if (from.peer != w.peer) report(Rule::respects_nodes, id, "and its read are for different nodes");
      if (is_unbegun(w)) continue;
      std::uint64_t value = from.value;
      if (written == Stamp::aNRW && c.method == Method::remote_faa) value += c.argument;
      if (written == Stamp::aNRW && c.method == Method::remote_cas) value = c.argument;
      if (w.value != value)
        report(is_remote_atomic(c.method) && written == Stamp::aNRW ? Rule::atomicity : Rule::copied_value, id,
               fmt::format("should write {}", value));
    }
  }

  /// NIC atomics are atomic among each other: between the halves of one, in mo, there is no other.
  void atomics(std::uint32_t word) {
    SubeventId last = 0;  // the last atomic's write so far
    for (SubeventId id = index_.first_write(word); id != 0; id = index_.next_write(id)) {
      const CallId call = index_.subevent(id).call;
      if (!is_remote_atomic(index_.call(call).method) || index_.subevent(id).stamp != Stamp::aNRW) continue;
      for (const SubeventId part : index_.subevents_of(call)) {
        const Subevent& r = index_.subevent(part);
        if ((r.stamp != Stamp::aNRR && r.stamp != Stamp::aNAR) || is_unbegun(r) || index_.word(part) != word) continue;
        const std::uint32_t read = index_.mo_position(r.source);
        if (read < index_.mo_position(last) || read >= index_.mo_position(id))
          report(Rule::atomicity, id, "and its read have another atomic between them");
      }
      last = id;
    }
  }

  struct Place {
    std::uint32_t node;
    std::uint64_t place;
    SubeventId id;
  };

  const TraceIndex& index_;
  const Trace& trace_;
  Reports& reports_;
  CopiedWords copied_words_;
  std::vector<Place> places_;  // of atomics
};

}  // namespace

void check_mixed_access(const TraceIndex& index, Reports& reports) {
  const Trace& trace = index.trace();
  for (SubeventId id = 1; id <= trace.subevents.size(); ++id) {
    index.poll();
    const Subevent& r = index.subevent(id);
    if (r.stamp != Stamp::aNAR || is_unbegun(r)) continue;
    SubeventId write = 0;
    for (const SubeventId part : index.subevents_of(r.call))
      if (index.kind(part).stamp == Stamp::aNRW && has_finished(index.subevent(part))) write = part;
    if (write == 0 || index.word(write) != index.word(id)) continue;
    for (SubeventId w = r.source == 0 ? index.first_write(index.word(id)) : index.next_write(r.source);
         w != 0 && w != write; w = index.next_write(w)) {
      if (is_remote_atomic(index.kind_of_call(index.subevent(w).call).method)) continue;  // that is Rule::atomicity
      reports.add(Rule::mixed_access, [&] {
        return subevent_text(trace, w) + " is lost: " + subevent_text(trace, id) + " before, and " +
               subevent_text(trace, write) + " after it";
      });
    }
  }
}

void check_witness(const TraceIndex& index, Reports& reports) { Witness(index, reports).run(); }

}  // namespace loco::model
