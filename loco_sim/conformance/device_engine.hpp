// Litmus tests on a device: an engine beside those of the simulated hardware.
#pragma once

#include "loco_sim/libibverbs/device.hpp"
#include "model/litmus/command.hpp"

namespace loco::conformance {

/// Runs a program EngineOptions::runs times on the device, which has to outlive it. What it cannot run it says so.
[[nodiscard]] model::litmus::Engine device_engine(const libibverbs::Device& device);

}  // namespace loco::conformance
