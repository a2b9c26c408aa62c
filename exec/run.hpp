// Runs verbs programs compiled by others on simulated hosts (docs/exec.md).
//
// A run is a function of the options and the programs, except for what Result::not_deterministic lists. Throws
// RefusedProgram before anything starts, and std::system_error if the system refuses something.
#pragma once

#include <stdexcept>

#include "exec/options.hpp"

namespace loco::exec {

/// A program that cannot be run this way, with the reason.
class RefusedProgram : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline constexpr std::uint32_t kProgramsMax = 64;

[[nodiscard]] Result run(const Options& options);

/// The folder of the shim, found from this program. Throws RefusedProgram, naming what is missing, if the shim was not
/// built.
[[nodiscard]] std::string shim_folder();

}  // namespace loco::exec
