// Litmus tests on a device, as an engine like those of the simulated hardware.
#pragma once

#include "loco_sim/libibverbs/device.hpp"
#include "model/litmus/answers/command.hpp"

namespace loco::conformance {

/// An engine that runs a program EngineOptions::runs times on the device, which must outlive it. It reports programs
/// that the device cannot run.
[[nodiscard]] model::litmus::Engine device_engine(const libibverbs::Device& device);

}  // namespace loco::conformance
