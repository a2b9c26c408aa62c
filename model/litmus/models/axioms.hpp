// A memory model, as data: what a model says about one skeleton, once, before any rf, mo or nfo is chosen.
//
// Both papers define consistency by relations built from fixed ones (ppo, iso, pfg, ...) and from the witness (rf,
// mo, nfo and rb = rf^-1;mo). A model therefore fills in, per execution,
//   - the fixed part of `so` and of `ib`,
//   - which pairs of rf, rb and mo enter `so` and which enter `ib`,
// and consistency is: ib irreflexive, ppo U so acyclic with [Inst];ib inside so (LOCO paper, Definitions 3.6 and
// G.2). `consistent` below evaluates exactly that on a complete witness; the search (search.hpp) finds witnesses.
//
// Libraries are added one by one: consistency for a set of libraries is each one's, on its own events, with the
// union of their so (Definition 3.6). A library never touches another's events.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/litmus/language/rule_set.hpp"
#include "model/litmus/skeletons/relation.hpp"
#include "model/litmus/skeletons/skeleton.hpp"

namespace loco::model::litmus {

/// Section 5.1 and 5.2 of the LOCO paper: so = rf U fb, or so = rf and hb^-1 & fb empty.
enum class RingRule : std::uint8_t { strong, weak };

struct ModelOptions {
  StampOrder order = kStampOrder;
  /// Every barrier fences every node (LOCO paper, Section 4.3), whatever the document says.
  bool transitive_barriers = false;
  RingRule ring_rule = RingRule::strong;
  /// rao orders the atomics of each word, not of each node: NICs with several atomic units.
  bool banked_atomics = false;
  /// A remote atomic reads and writes at once: the root complex executes it (PCIe AtomicOps).
  bool global_atomics = false;
  /// Of robustness (robust.hpp): the accesses of all other threads take effect one by one, as in `sc`. kNone: of none.
  int weak_thread = kNone;
  VerbsOrder verbs_order = kVerbsOrder;
};

struct Axioms {
  explicit Axioms(int n = 0)
      : so(n), ib(n), rf(n), rf_so(n), rf_ib(n), rb_so(n), rb_ib(n), rb_never(n), mo(n), nfo(n), never_hb(n) {}

  Relation so;  ///< fixed part
  Relation ib;  ///< fixed part (ib here is the union whose closure is the paper's ib)

  Relation rf;     ///< pairs (w, r) that rf may hold: same cell, same library
  Relation rf_so;  ///< pairs of rf that are in so
  Relation rf_ib;  ///< pairs of rf that are in ib
  Relation rb_so;
  Relation rb_ib;
  Relation rb_never;  ///< pairs that rb must not hold
  Relation mo;        ///< pairs of writes that mo orders, one way or the other; mo is in so
  Relation nfo;       ///< pairs (NIC read, NIC write) that nfo orders, either way; nfo is in so and ib
  Relation never_hb;  ///< pairs that hb must not hold

  /// Subevents that start before they finish: ib speaks of their start, so of their end. (The others with an ib
  /// are Inst.)
  Set started;
  /// Remote atomics that write: the aNAR, and the aNRW that it feeds.
  std::vector<std::pair<int, int>> atomics;
  /// Pairs of aNAR that rao orders, one way or the other. The later atomic also follows the earlier one's write; both
  /// are edges of so.
  std::vector<std::pair<int, int>> rao;

  /// The aNRW that an aNAR feeds, or kNone.
  [[nodiscard]] int atomic_write(int read) const {
    for (const auto& [r, w] : atomics)
      if (r == read) return w;
    return kNone;
  }

  /// Reads whose write the skeleton determines (w, r).
  std::vector<std::pair<int, int>> known_rf;
  /// coreRMA: does the value of a read depend on conflicts?
  bool conflicts = false;

  // coreRMA without some of its rules, or with more than the paper's.
  RuleSet rules;   ///< that made these axioms
  bool r1 = true;  ///< hb hides an atomic write from atomic reads (false: they may read what is overwritten)
  bool r2 = true;  ///< an atomic read comes after the write that it reads from
  /// R1 without WS: writes are in no order but hb's own, so rb holds where w1 hb w2 and not where mo says so.
  bool rb_from_hb = false;
  /// May values depend on themselves without a cycle? Then such candidates are left out: no value is made of nothing.
  bool values_may_cycle = false;
  /// First and last subevent of each event that is one step: a subevent ordered with one of its subevents is ordered
  /// with all.
  std::vector<std::pair<int, int>> steps;

  /// Does hb grow by itself? Calls `need(i, j, rule)` for each pair that `hb` lacks and the axioms ask for, given
  /// `source` (the write that a read reads, or less than 0); one pass, so go on until it calls no more.
  template <class Hb, class Source, class Need>
  void grow(const Skeleton& x, const Hb& hb, const Source& source, const Need& need) const;
};

template <class Hb, class Source, class Need>
void Axioms::grow(const Skeleton& x, const Hb& hb, const Source& source, const Need& need) const {
  if (rb_from_hb) {
    for (int r = 0; r < x.n; ++r) {
      const int w = x.sub(r).reads ? source(r) : kNone;
      if (w < 0 || !x.sub(w).atomic) continue;
      rb_so.row(r).for_each([&](int later) {
        if (later != r && later != w && hb(w, later)) need(r, later, Rule::r1);
      });
    }
  }
  for (const auto& [first, last] : steps) {
    for (int i = 0; i < x.n; ++i) {
      if (i >= first && i <= last) continue;
      for (int k = first; k <= last; ++k) {
        if (hb(i, k)) need(i, first, Rule::at);
        if (hb(k, i)) need(last, i, Rule::at);
      }
    }
  }
}

/// A complete candidate: all relations are on subevents, mo is total per cell, rao on the aNAR of a node.
struct Witness {
  explicit Witness(int n = 0) : rf(n), mo(n), nfo(n), rao(n) {}
  Relation rf, mo, nfo, rao;

  /// rb: r reads from a write that w overwrites, or reads the initial value; never (r, r).
  [[nodiscard]] Relation rb(const Skeleton& x, const Axioms& a) const;
};

/// hb of the witness, which is (ppo U so)+ where the rules of coreRMA do not make it grow.
[[nodiscard]] Relation happens_before(const Skeleton& x, const Axioms& a, const Witness& witness);
/// The definition, evaluated: is the witness consistent?
[[nodiscard]] bool consistent(const Skeleton& x, const Axioms& a, const Witness& witness);

// --- the models: model/litmus/models/ holds one short file each ---

/// Adds a library's axioms. False if no execution of the skeleton is well-formed (a poll with nothing to poll).
using LibraryAxioms = bool (*)(const Skeleton&, const ModelOptions&, Axioms&);

bool rdmawait(const Skeleton& x, const ModelOptions& options, Axioms& a);
bool rdmatso(const Skeleton& x, const ModelOptions& options, Axioms& a);
bool sc(const Skeleton& x, const ModelOptions& options, Axioms& a);
bool sv(const Skeleton& x, const ModelOptions& options, Axioms& a);
bool bal(const Skeleton& x, const ModelOptions& options, Axioms& a);
bool rbl(const Skeleton& x, const ModelOptions& options, Axioms& a);
bool msw(const Skeleton& x, const ModelOptions& options, Axioms& a);
void corerma(const Skeleton& x, RuleSet rules, Axioms& a);
/// Why subevent i is before j by the rules alone: every minimal set of rules that orders them, which is one rule, or
/// two that order them only together. Empty where the rules do not order them.
[[nodiscard]] std::vector<RuleSet> core_reasons(const Skeleton& x, RuleSet rules, int i, int j);

struct Model {
  std::string name;
  std::vector<LibraryAxioms> libraries;
  std::optional<RuleSet> rules = {};  ///< a model of the coreRMA family: in place of libraries
  bool one_step_atomics = false;      ///< a remote atomic reads and writes at once
  bool verbs = false;                 ///< model `verbs`: its skeletons come with their axioms (verbs/skeletons.hpp)
};

/// Nothing for an unknown name. A list of rules (rule_set.hpp) is a name, too.
[[nodiscard]] std::optional<Model> find_model(std::string_view name);

/// All libraries' axioms. False if no execution is well-formed.
[[nodiscard]] bool build_axioms(const Model& model, const Skeleton& x, const ModelOptions& options, Axioms& a);

}  // namespace loco::model::litmus
