// sc, the strong model (docs/robustness.md): the accesses of a program take effect one by one, each thread's in order.
// A compare-and-swap or fetch-and-add is one of them, puts and gets read, then write; fences, waits and polls do
// nothing.
#include "model/litmus/models/rdma.hpp"

namespace loco::model::litmus {

bool sc(const Skeleton& x, const ModelOptions&, Axioms& a) {
  Relation polls(x.n);
  if (!polls_from(x, polls)) return false;  // a poll without an operation has no execution
  for (int i = 0; i < x.n; ++i)
    for (int j = i + 1; j < x.n && x.sub(j).thread == x.sub(i).thread; ++j) a.so.add(i, j);
  a.rf |= x.same_cell.from(x.writes).to(x.reads);
  a.rf_so |= a.rf;
  a.rb_so |= x.same_cell.from(x.reads).to(x.writes);
  a.mo |= x.same_cell.from(x.writes).to(x.writes);
  return true;
}

}  // namespace loco::model::litmus
