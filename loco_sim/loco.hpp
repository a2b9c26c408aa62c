// What a LOCO program on a simulated cluster includes: all channels, the cluster, hardware profiles by name, the
// checkers.
#pragma once

#include "loco_sim/loco/atomic_var.hpp"
#include "loco_sim/loco/barrier.hpp"
#include "loco_sim/loco/channel.hpp"
#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/fence.hpp"
#include "loco_sim/loco/kvstore.hpp"
#include "loco_sim/loco/local_span.hpp"
#include "loco_sim/loco/manager.hpp"
#include "loco_sim/loco/mem_ref.hpp"
#include "loco_sim/loco/mixed_size.hpp"
#include "loco_sim/loco/mutex.hpp"
#include "loco_sim/loco/ring_buffer.hpp"
#include "loco_sim/loco/shared_queue.hpp"
#include "loco_sim/loco/shared_region.hpp"
#include "loco_sim/loco/var.hpp"
#include "loco_sim/loco/var_array.hpp"
#include "loco_sim/scenario/hardware.hpp"
#include "loco_sim/transport/cluster.hpp"
#include "model/check.hpp"
