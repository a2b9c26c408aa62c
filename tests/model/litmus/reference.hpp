// The definitions again, as naively as possible: an oracle for the declarative engine.
//
// Values first: every read returns any value of a small domain, which gives concrete events; then the plain product
// of rf, mo and nfo; then the consistency predicates of the LOCO paper (Appendix G, Sections 3.4, 4, 5) or of the
// coreRMA paper (Fig. 4), each pair of each relation written out. Shares the parser and nothing else with the engine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/litmus/program.hpp"

namespace loco::model::litmus::test {

struct ReferenceResult {
  bool gave_up = false;           ///< more candidates than the limit: no verdict
  std::vector<Outcome> outcomes;  ///< sorted, each once
  std::uint64_t witnesses = 0;    ///< consistent (rf, mo, nfo)
};

/// Models rdmatso, rdmawait, loco (without msw), corerma*; straight-line programs.
[[nodiscard]] ReferenceResult reference(const Program& program, const std::string& model, std::uint64_t candidates_max);

/// Outcomes of the operational machine for rdmatso: store buffers, queue pairs, write buffers.
[[nodiscard]] ReferenceResult machine(const Program& program, std::uint64_t states_max);

}  // namespace loco::model::litmus::test
