// bal-consistency, barriers: LOCO paper, Definition 4.1; the transitive barrier of Section 4.3 differs by its stamps
// only (paths.cpp).
#include <algorithm>

#include "model/litmus/models/axioms.hpp"

namespace loco::model::litmus {

bool bal(const Skeleton& x, const ModelOptions&, Axioms& a) {
  const Program& p = *x.program;
  for (int z = 0; z < len(p.barriers); ++z) {
    // calls[t][o]: the call on z by thread t with o(e) = o, counting from 0.
    std::vector<std::vector<int>> calls(p.threads.size());
    for (int e = 0; e < len(x.events); ++e)
      if (x.instruction(e).op == Op::barrier && x.instruction(e).object == z)
        at(calls, at(x.events, e).thread).push_back(e);

    // Each participating thread makes exactly c_z calls.
    const std::vector<int>& participants = at(p.barriers, z).participants;
    if (participants.empty()) continue;
    const auto c_z = at(calls, participants.front()).size();
    for (const int t : participants)
      if (at(calls, t).size() != c_z) return false;

    // so = (aGF_n of e1, aCR of e2) for all calls with the same o.
    for (std::size_t o = 0; o < c_z; ++o)
      for (const int t1 : participants)
        for (const int t2 : participants) {
          const Set enter = x.of_event(at(calls, t1)[o]) & x.stamp(Stamp::aGF);
          const Set leave = x.of_event(at(calls, t2)[o]) & x.stamp(Stamp::aCR);
          a.so |= cross(enter, leave, x.n);
        }
  }
  return true;
}

}  // namespace loco::model::litmus
