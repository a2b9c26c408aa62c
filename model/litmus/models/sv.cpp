// sv-consistency, shared variables: LOCO paper, Section 3.4 and Definition 3.8.
#include "model/litmus/models/axioms.hpp"

namespace loco::model::litmus {

bool sv(const Skeleton& x, const ModelOptions&, Axioms& a) {
  const Set& events = x.library(Library::sv);
  if (events.empty()) return true;
  const auto stamp = [&](Stamp s) { return x.stamp(s) & events; };
  const Set aCR = stamp(Stamp::aCR), aCW = stamp(Stamp::aCW), aWT = stamp(Stamp::aWT);
  const Set aNLR = stamp(Stamp::aNLR), aNRW = stamp(Stamp::aNRW);
  const Relation po = x.po.from(events).to(events);

  // iso: for each node, a broadcast reads before it writes.
  Relation iso(x.n);
  aNLR.for_each([&](int r) {
    (x.of_event(x.sub(r).event) & aNRW).for_each([&](int w) {
      if (x.sub(r).node == x.sub(w).node) iso.add(r, w);
    });
  });
  // pf: a wait synchronises with the local reads of earlier broadcasts of its work identifier.
  Relation pf(x.n);
  po.from(aNLR).to(aWT).for_each([&](int r, int t) {
    if (x.instruction(x.sub(r).event).work_id == x.instruction(x.sub(t).event).work_id) pf.add(r, t);
  });

  // rf, mo and rb are per location and node: a cell is a location's copy on one node.
  const Relation locations = x.same_cell.from(events).to(events);
  const Relation rf = locations.from(x.writes).to(x.reads);
  const Relation rb = locations.from(x.reads).to(x.writes);
  const Relation rfi = (po & rf).from(aCW).to(aCR);

  // [aCR];(po^-1 & rb);[aCW] is empty: a thread sees its own writes.
  a.rb_never |= (po.inverse() & rb).from(aCR).to(aCW);
  // so = iso U rf_e U pf U rb U mo
  a.so |= iso | pf;
  a.rf_so |= rf - rfi;
  a.rb_so |= rb;
  a.mo |= locations.from(x.writes).to(x.writes);
  a.rf |= rf;
  return true;
}

}  // namespace loco::model::litmus
