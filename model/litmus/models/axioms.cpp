#include "model/litmus/models/axioms.hpp"

#include <algorithm>

namespace loco::model::litmus {

Relation Witness::rb(const Skeleton& x, const Axioms& a) const {
  Relation result = seq(rf.inverse(), mo);
  Set with_source;
  rf.for_each([&](int, int r) { with_source.insert(r); });
  const Relation readable = a.rf.inverse();
  (x.reads - with_source).for_each([&](int r) { result.row(r) |= readable.row(r); });
  for (int i = 0; i < x.n; ++i) result.row(i).erase(i);
  return result;
}

bool consistent(const Skeleton& x, const Axioms& a, const Witness& witness) {
  const Relation rb = witness.rb(x, a);
  if (!(rb & a.rb_never).empty()) return false;

  const Relation ib = (a.ib | (witness.rf & a.rf_ib) | witness.nfo | (rb & a.rb_ib)).closure();
  if (!ib.irreflexive()) return false;

  const Relation hb = happens_before(x, a, witness);
  return hb.irreflexive() && (hb & a.never_hb).empty();
}

Relation happens_before(const Skeleton& x, const Axioms& a, const Witness& witness) {
  const Relation rb = witness.rb(x, a);
  const Relation ib = (a.ib | (witness.rf & a.rf_ib) | witness.nfo | (rb & a.rb_ib)).closure();
  const Set inst = Set::first(x.n) - a.started;
  Relation so = a.so | (witness.rf & a.rf_so) | witness.nfo | (rb & a.rb_so) | (witness.mo & a.mo) | ib.from(inst);
  witness.rao.for_each([&](int first, int second) {
    so.add(first, second);
    if (const int write = a.atomic_write(first); write != kNone) so.add(write, second);
  });
  Relation hb = (x.ppo | so).closure();
  std::vector<int> source(static_cast<std::size_t>(x.n), kNone);
  witness.rf.for_each([&](int w, int r) { at(source, r) = w; });
  for (bool grown = true; grown && hb.irreflexive(); hb = hb.closure()) {
    grown = false;
    Relation more = hb;
    a.grow(
        x, [&](int i, int j) { return hb.contains(i, j); }, [&](int r) { return at(source, r); },
        [&](int i, int j, Rule) {
          grown = grown || !hb.contains(i, j);
          more.add(i, j);
        });
    hb = more;
  }
  return hb;
}

std::optional<Model> find_model(std::string_view name) {
  if (name == "rdmatso") return Model{"rdmatso", {rdmatso}};
  if (name == "rdmawait") return Model{"rdmawait", {rdmawait}};
  if (name == "verbs") return Model{.name = "verbs", .libraries = {}, .verbs = true};
  if (name == "loco") return Model{"loco", {rdmawait, sv, bal, rbl, msw}};
  if (name == "sc") return Model{.name = "sc", .libraries = {sc, bal, rbl}, .one_step_atomics = true};
  if (const std::optional<RuleSet> rules = find_rule_set(name)) return Model{std::string(name), {}, rules};
  return std::nullopt;
}

namespace {

/// A thread's own accesses take effect in program order, each at once.
void make_strong(const Skeleton& x, int but, Axioms& a) {
  for (int i = 0; i < x.n; ++i) {
    if (x.sub(i).thread == but) continue;
    a.started.erase(i);
    for (int j = i + 1; j < x.n && x.sub(j).thread == x.sub(i).thread; ++j) a.so.add(i, j);
  }
}

}  // namespace

bool build_axioms(const Model& model, const Skeleton& x, const ModelOptions& options, Axioms& a) {
  a = Axioms(x.n);
  if (model.rules) corerma(x, *model.rules, a);
  const bool well_formed = std::all_of(model.libraries.begin(), model.libraries.end(),
                                       [&](LibraryAxioms library) { return library(x, options, a); });
  if (well_formed && options.weak_thread != kNone) make_strong(x, options.weak_thread, a);
  return well_formed;
}

}  // namespace loco::model::litmus
