// Runs verbs programs as compiled by others on simulated hosts (docs/exec.md).
//
// A run is a function of the options and the programs, save what Result::not_deterministic names. Throws RefusedProgram
// before anything starts, std::system_error where the system refuses something.
#pragma once

#include <stdexcept>

#include "exec/options.hpp"

namespace loco::exec {

/// A program that cannot be run so, and why.
class RefusedProgram : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline constexpr std::uint32_t kProgramsMax = 64;

[[nodiscard]] Result run(const Options& options);

/// Where the shim is, seen from this program; throws RefusedProgram, saying what is missing, when it was not built.
[[nodiscard]] std::string shim_folder();

}  // namespace loco::exec
