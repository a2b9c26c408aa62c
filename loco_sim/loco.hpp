// Everything that a LOCO program on a simulated cluster needs: all channels, the cluster, hardware profiles by name,
// and the checkers.
#pragma once

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/locks/mutex.hpp"
#include "loco_sim/loco/membership/channel.hpp"
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/memory/local_span.hpp"
#include "loco_sim/loco/objects/atomic_var.hpp"
#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/loco/objects/mixed_size.hpp"
#include "loco_sim/loco/objects/ring_buffer.hpp"
#include "loco_sim/loco/objects/shared_queue.hpp"
#include "loco_sim/loco/objects/shared_region.hpp"
#include "loco_sim/loco/objects/var.hpp"
#include "loco_sim/loco/objects/var_array.hpp"
#include "loco_sim/loco/operations/fence.hpp"
#include "loco_sim/loco/operations/mem_ref.hpp"
#include "loco_sim/loco/store/kvstore.hpp"
#include "loco_sim/scenario/hardware.hpp"
#include "loco_sim/transport/cluster.hpp"
#include "model/check.hpp"
