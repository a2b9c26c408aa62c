// The definitions again, as naively as possible: an oracle for the declarative engine.
//
// Values first: every read returns any value of a small domain, which gives concrete events; then the plain product
// of rf, mo, rao and nfo; then the consistency predicates of the LOCO paper (Appendix G, Sections 3.4, 4, 5) or of the
// coreRMA paper (Fig. 4), each pair of each relation written out. Shares the parser and nothing else with the engine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/litmus/language/program.hpp"

namespace loco::model::litmus::test {

struct ReferenceResult {
  bool gave_up = false;           ///< more candidates than the limit: no verdict
  std::vector<Outcome> outcomes;  ///< sorted, each once
  std::uint64_t witnesses = 0;    ///< consistent (rf, mo, nfo, rao)
  bool robust = true;             ///< is po, rf, mo and rb of each of them without a cycle?
};

/// Models rdmatso, rdmawait, loco (without msw), corerma*; straight-line programs.
[[nodiscard]] ReferenceResult reference(const Program& program, const std::string& model, std::uint64_t candidates_max);

/// The unit that executes remote atomics in the operational machine.
struct AtomicUnits {
  bool banked = false;  ///< one for each word, not for each node
  bool global = false;  ///< they read and write memory at once
};

/// Outcomes where accesses take effect one by one (docs/robustness.md): every interleaving. Words, without barriers.
[[nodiscard]] ReferenceResult strong(const Program& program, std::uint64_t states_max);

/// Outcomes of the operational machine for rdmatso or rdmawait: store buffers, queue pairs, write buffers, atomic
/// units.
[[nodiscard]] ReferenceResult machine(const Program& program, std::uint64_t states_max, AtomicUnits units = {});
/// The same for model verbs: named queue pairs of all transports, receive and completion queues.
[[nodiscard]] ReferenceResult verbs_machine(const Program& program, std::uint64_t states_max);

}  // namespace loco::model::litmus::test
