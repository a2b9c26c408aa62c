// What a NIC needs before it can work for a queue pair: a processing unit, and the queue pair's context, the memory
// translation and the state of outstanding reads in its caches (docs/machine.md, "NIC, requester side").
//
// Units are a pool: a work request takes one that is free, and keeps it busy for nic.unit_time and while its contexts
// are read. A queue pair has one unit at most; it asks for the next one when that is free, and while all are busy waits
// behind those that have asked before (round robin). Only who waits is told by an event.
//
// A cache miss costs a PCIe read, of which a bounded number is under way at once; a packet whose context is missing
// waits, and later packets of its queue pair behind it. Private to nic_model/.
#pragma once

#include "nic_model/engine/engine.hpp"

namespace loco::nic {

/// Asks for a processing unit for the next work request of a queue pair, and for what the caches must hold. False: it
/// has to wait; start() is called when a unit is there. True: `stall` is what the missing contexts cost.
bool take_unit(Engine& engine, QpId qp, const Wqe& wqe, std::uint32_t number, sim::Duration& stall);
/// kEventUnitFree: the unit that this queue pair waits for.
void unit_free(Engine& engine, QpId qp);

/// True: the packet waits for contexts, or behind packets of its queue pair that do.
bool hold_arrival(Engine& engine, const fabric::Packet& packet);
/// kEventArrival: the oldest waiting packet of the queue pair.
fabric::Packet next_arrival(Engine& engine, QpId qp);

}  // namespace loco::nic
