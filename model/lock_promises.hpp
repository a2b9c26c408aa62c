// What locks promise of the data that they guard (docs/atomics.md, "In traces"): what was written before a release is
// in memory before the next acquire of the lock ends, by the class that the release names in the trace. Strong:
// everything; to a node: what CPUs stored and what was put to that node; weak: what CPUs stored. The same of the value
// that an update or insert of a key-value store writes under its lock.
//
// Nothing is asked where one thread of a node may have handed a lock to another one, which reads no word for it; nor of
// what was written to nodes that did not answer a fence.
//
// A lock of a weaker class is good for a program that needs no more. One that does is told (Rule::lock_class): the next
// holder read, or wrote, before what its predecessor had put, and a release that fenced that node would have kept it
// from that.
#pragma once

#include "model/library_checker.hpp"
#include "model/tower.hpp"

namespace loco::model {

/// Consumes the level's edges. `stores` receives violations under the locks of key-value stores, `locks` all others;
/// both may be the same object.
void check_lock_promises(Storey& level, Reports& locks, Reports& stores);

}  // namespace loco::model
