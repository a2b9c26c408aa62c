// What a network shows of a coreRMA program: all outcomes by exploration or, if that takes too long, the outcomes that
// exploration and sampling find.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "model/litmus/language/program.hpp"
#include "nic_model/profile.hpp"

namespace loco::networks {

struct ObserveLimits {
  std::uint64_t states = 100'000;   ///< states to explore, after which the program is also sampled
  std::uint64_t runs = 4'000;       ///< runs to sample
  std::function<void()> poll = {};  ///< called now and then; an exception from it ends the work
};

struct Observed {
  std::vector<model::litmus::Outcome> outcomes;  ///< sorted, without duplicates
  bool exact = true;                             ///< false: there may be more
};

/// Throws text::InputError for a program that the hardware cannot run, because it has no remote atomics.
[[nodiscard]] Observed observe(const model::litmus::Program& program, const nic::HardwareProfile& profile,
                               const ObserveLimits& limits = {});

}  // namespace loco::networks
