// What the next events will touch, fetched into the simulating machine's cache before it is needed.
//
// In a machine of a thousand nodes nothing that an event touches is in a cache when its turn comes, and each thing is
// found through the one before. The pending events say where they are going: for a batch of them, all first things are
// fetched at the same time, then all second ones. Changes nothing. Private to nic_model/.
#pragma once

#include "nic_model/state.hpp"

namespace loco::nic {

/// For the events that are near. Worth while when there are too many pending for one heap (sim/event_queue.hpp).
void fetch_ahead(const State& state, ThreadRunner& runner);

}  // namespace loco::nic
