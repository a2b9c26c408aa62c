#include "model/litmus/axioms.hpp"

#include <algorithm>
#include <array>

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
  const Relation hb = (x.ppo | so).closure();
  return hb.irreflexive() && (hb & a.never_hb).empty();
}

const Model* find_model(std::string_view name) {
  static const std::array<Model, 6> kModels = {{{"rdmatso", {rdmatso}},
                                                {"rdmawait", {rdmawait}},
                                                {"loco", {rdmawait, sv, bal, rbl, msw}},
                                                {"corerma", {corerma}},
                                                {"corerma-verbs", {corerma_verbs}},
                                                {"corerma-unordered", {corerma_unordered}}}};
  const auto it = std::find_if(kModels.begin(), kModels.end(), [&](const Model& m) { return m.name == name; });
  return it == kModels.end() ? nullptr : &*it;
}

bool build_axioms(const Model& model, const Skeleton& x, const ModelOptions& options, Axioms& a) {
  a = Axioms(x.n);
  return std::all_of(model.libraries.begin(), model.libraries.end(),
                     [&](LibraryAxioms library) { return library(x, options, a); });
}

}  // namespace loco::model::litmus
