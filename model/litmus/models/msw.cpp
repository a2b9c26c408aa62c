// msw-consistency, mixed-size writes: LOCO paper, Definition H.11. The predicate of rdmawait on its own events;
// failing reads take no part in it.
#include "model/litmus/models/rdma.hpp"

namespace loco::model::litmus {

bool msw(const Skeleton& x, const ModelOptions& options, Axioms& a) {
  add_rdmawait(x, Library::msw, options, a);
  return true;
}

}  // namespace loco::model::litmus
