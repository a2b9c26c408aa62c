// What a network shows of a coreRMA program: every outcome by exploration, or, where that is too much, as many as
// exploration and sampling find.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "model/litmus/program.hpp"
#include "nic_model/profile.hpp"

namespace loco::networks {

struct ObserveLimits {
  std::uint64_t states = 100'000;   ///< explored; beyond, the program is sampled as well
  std::uint64_t runs = 4'000;       ///< sampled
  std::function<void()> poll = {};  ///< called now and then; what it throws ends the work
};

struct Observed {
  std::vector<model::litmus::Outcome> outcomes;  ///< sorted, each once
  bool exact = true;                             ///< false: there may be more
};

/// Throws text::InputError for a program that the hardware cannot run (remote atomics that it has not).
[[nodiscard]] Observed observe(const model::litmus::Program& program, const nic::HardwareProfile& profile,
                               const ObserveLimits& limits = {});

}  // namespace loco::networks
