// Everything that a verbs program on simulated hosts needs: threads, the NIC model's set-up, hardware profiles by name,
// and the checker for its runs.
#pragma once

#include "loco_sim/scenario/hardware.hpp"
#include "loco_sim/verbs/machine.hpp"
#include "model/verbs/check.hpp"
#include "model/verbs/races.hpp"
