// What a verbs program on simulated hosts includes: threads, the NIC model's set-up, hardware profiles by name; what a
// run of it means.
#pragma once

#include "loco_sim/scenario/hardware.hpp"
#include "loco_sim/verbs/machine.hpp"
#include "model/verbs/check.hpp"
#include "model/verbs/races.hpp"
