// Local soundness (LOCO paper, Definition 3.13) over all executions of a client: an implementation keeps each promise
// that its library makes, also those that this client cannot see.
//
// Of every consistent execution of the implemented client, with hb = (ppo U so)+ of it: there is an execution of the
// client by the specification with the same results, and a concretisation g from its subevents to those of their own
// calls' implementations, so that
//   - what the stamp order asks before (after) a subevent s is asked before (after) some subevent of the same call that
//     is hb-before (hb-after) g(s), or is g(s);
//   - g(so) is in hb;
//   - the specification's execution is consistent, where hb hides nothing that it must not.
#pragma once

#include <string>

#include "model/litmus/language/program.hpp"
#include "model/litmus/models/axioms.hpp"

namespace loco::model::litmus {

struct PromiseResult {
  std::string broken;  ///< the first promise that is not kept, in words; empty: all are
  std::uint64_t executions = 0;
  bool complete = true;  ///< false: executions were left out at `executions_max`
};

/// `client` is over sv, bal, rbl or msw, straight-line; `implemented` is implement(client).
[[nodiscard]] PromiseResult check_promises(const Program& client, const Program& implemented,
                                           const ModelOptions& options, int loop_bound, std::uint64_t executions_max);

}  // namespace loco::model::litmus
