// Every program of a size, each once up to renaming of processes, hosts and variables, in the order of `before`
// (program.hpp). Orderly: statements are appended in ascending order, variables and the hosts without a process are
// numbered as they appear, processes have ever fewer actions; only what exchanges processes of equal length is left to
// test in the end.
//
// Branches are left when no completion can be a test for any pivot (coreRMA paper, Section 6.1): each writer needs a
// local read of its own variable, which only the variable's process has.
#pragma once

#include <array>
#include <functional>

#include "model/corerma/program.hpp"

namespace loco::model::corerma {

struct ProgramSpace {
  int processes = 1;
  int hosts = 1;  ///< at least as many
  std::array<bool, kKinds> statements = {true, true, true, true, true, true, true};
  /// Only programs with a statement of one of these kinds, if any is set: other programs cannot show the pivot.
  std::array<bool, kKinds> needed{};

  [[nodiscard]] bool has(Kind kind) const { return statements[static_cast<std::size_t>(kind)]; }
};

/// Called with each program; false ends the enumeration.
using ProgramVisit = std::function<bool(const Program&)>;

/// The programs of `size` that come after `after`, if given. False if the visitor ended it.
bool enumerate(const ProgramSpace& space, int size, const Program* after, const ProgramVisit& visit);

}  // namespace loco::model::corerma
