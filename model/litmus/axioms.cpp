#include "model/litmus/axioms.hpp"

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

  const Set inst = Set::first(x.n) - a.started;
  const Relation so =
      a.so | (witness.rf & a.rf_so) | witness.nfo | (rb & a.rb_so) | (witness.mo & a.mo) | ib.from(inst);
  Relation hb = (x.ppo | so).closure();
  std::vector<int> source(static_cast<std::size_t>(x.n), kNone);
  witness.rf.for_each([&](int w, int r) { at(source, r) = w; });
  for (bool grown = true; grown && hb.irreflexive(); hb = hb.closure()) {
    grown = false;
    Relation more = hb;
    a.grow(
        x, [&](int i, int j) { return hb.contains(i, j); }, [&](int r) { return at(source, r); },
        [&](int i, int j) {
          grown = grown || !hb.contains(i, j);
          more.add(i, j);
        });
    hb = more;
  }
  return hb.irreflexive() && (hb & a.never_hb).empty();
}

std::optional<Model> find_model(std::string_view name) {
  if (name == "rdmatso") return Model{"rdmatso", {rdmatso}};
  if (name == "rdmawait") return Model{"rdmawait", {rdmawait}};
  if (name == "loco") return Model{"loco", {rdmawait, sv, bal, rbl, msw}};
  if (const std::optional<RuleSet> rules = find_rule_set(name)) return Model{std::string(name), {}, rules};
  return std::nullopt;
}

bool build_axioms(const Model& model, const Skeleton& x, const ModelOptions& options, Axioms& a) {
  a = Axioms(x.n);
  if (model.rules) corerma(x, *model.rules, a);
  return std::all_of(model.libraries.begin(), model.libraries.end(),
                     [&](LibraryAxioms library) { return library(x, options, a); });
}

}  // namespace loco::model::litmus
