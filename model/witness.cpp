#include "model/witness.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

#include "model/copied_words.hpp"
#include "model/stamps.hpp"
#include "model/words.hpp"

namespace loco::model {
namespace {

constexpr std::uint32_t of(Stamp s) { return 1U << static_cast<unsigned>(s); }

/// stmp_RL of Appendix G.2, and the extension for remote atomics.
std::uint32_t allowed_stamps(Method m) {
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
      return of(Stamp::aNRR) | of(Stamp::aNRW) | of(Stamp::aNLW);
    default:
      return 0;
  }
}

/// What a returned call lacks of its stamps, those that it has being `present`. NICs may do their part later: none of
/// theirs is asked for.
std::uint32_t missing_stamps(Method m, std::uint32_t present) {
  constexpr std::uint32_t kCpu = of(Stamp::aCR) | of(Stamp::aCW) | of(Stamp::aMF) | of(Stamp::aWT);
  if (m == Method::cas && (present & of(Stamp::aCAS)) != 0) return 0;
  return allowed_stamps(m) & kCpu & ~present;
}

bool is_remote_atomic(Method m) { return m == Method::remote_faa || m == Method::remote_cas; }

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
  }

 private:
  void report(Rule rule, SubeventId id, const std::string& problem) {
    reports_.add(rule, [&] { return subevent_text(trace_, id) + " " + problem; });
  }

  void subevent(SubeventId id) {
    index_.poll();
    const Subevent& s = index_.subevent(id);
    const Call& c = index_.call(s.call);
    if ((allowed_stamps(c.method) & of(s.stamp)) == 0)
      report(Rule::stamps, id, fmt::format("is no part of a {}", name(c.method)));
    if (!is_access(s.stamp)) return;
    const bool remote = s.stamp == Stamp::aNRR || s.stamp == Stamp::aNRW;
    const std::uint32_t expected = remote ? s.peer : trace_.threads[c.thread].node;
    if (s.node != expected) report(Rule::respects_nodes, id, fmt::format("is not on node {}", expected));
    if (is_read(s.stamp) && !is_unbegun(s)) source(id, s);
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
    const Stamp read = c.method == Method::put ? Stamp::aNLR : Stamp::aNRR;
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

  /// What is read is written; but a fetch-and-add writes the sum, a compare-and-swap its own value.
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
      if (w.value != value) report(Rule::copied_value, id, fmt::format("should write {}", value));
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
        if (r.stamp != Stamp::aNRR || is_unbegun(r) || index_.word(part) != word) continue;
        const std::uint32_t read = index_.mo_position(r.source);
        if (read < index_.mo_position(last) || read >= index_.mo_position(id))
          report(Rule::atomicity, id, "and its read have another atomic between them");
      }
      last = id;
    }
  }

  const TraceIndex& index_;
  const Trace& trace_;
  Reports& reports_;
  CopiedWords copied_words_;
};

}  // namespace

void check_witness(const TraceIndex& index, Reports& reports) { Witness(index, reports).run(); }

}  // namespace loco::model
