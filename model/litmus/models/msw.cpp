// msw-consistency, mixed-size writes: LOCO paper, Definition H.11. The predicate of rdmawait on its own events;
// failing reads take no part in it.
#include "model/litmus/models/rdma.hpp"

namespace loco::model::litmus {

bool msw(const Skeleton& x, const ModelOptions&, Axioms& a) {
  const Set& events = x.library(Library::msw);
  if (events.empty()) return true;
  const Relation pfg = waited_for(x, events, Stamp::aNLW);
  const Relation pfp = waited_for(x, events, Stamp::aNRW);
  add_rdma(x, events, pfg | pfp, pfg, a);
  return true;
}

}  // namespace loco::model::litmus
