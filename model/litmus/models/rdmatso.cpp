// rdmatso-consistency: LOCO paper, Appendix G.1 and Definition G.1. As rdmawait, with polls for waits.
#include "model/litmus/models/rdma.hpp"

namespace loco::model::litmus {
bool polls_from(const Skeleton& x, Relation& pf) {
  Set polled;
  const Set nic_writes = x.stamp(Stamp::aNLW) | x.stamp(Stamp::aNRW);
  bool all_found = true;
  x.stamp(Stamp::aWT).for_each([&](int poll) {
    if (x.instruction(x.sub(poll).event).op != Op::poll) return;
    int oldest = kNone;
    nic_writes.for_each([&](int w) {
      if (oldest == kNone && x.po.contains(w, poll) && x.sub(w).node == x.sub(poll).node && !polled.contains(w))
        oldest = w;
    });
    if (oldest == kNone) {
      all_found = false;
      return;
    }
    const Set writes = x.of_event(x.sub(oldest).event) & nic_writes;
    polled |= writes;
    writes.for_each([&](int w) { pf.add(w, poll); });
  });
  return all_found;
}

bool rdmatso(const Skeleton& x, const ModelOptions& options, Axioms& a) {
  Relation pf(x.n);
  if (!polls_from(x, pf)) return false;
  add_rdma(x, Set::first(x.n), pf, pf.from(x.stamp(Stamp::aNLW)), options, a);
  return true;
}

}  // namespace loco::model::litmus
