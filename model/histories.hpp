// Libraries whose specification speaks of calls and time, not of stamps: locks and the key-value store. Their
// calls are looked at as intervals [begin, end] of the trace's order stamps; at the levels of the other
// libraries they are transparent.
#pragma once

#include "model/library_checker.hpp"
#include "model/trace_index.hpp"

namespace loco::model {

/// Mutual exclusion: between the return of an acquire and the call of the release, no other thread holds the
/// lock. A lock is an object and the calls' argument. Returns the number of calls looked at.
std::uint64_t check_locks(const TraceIndex& index, Reports& reports);

/// Linearisability of each key's calls on each store (Herlihy and Wing; LOCO paper, Appendix I).
std::uint64_t check_kvstores(const TraceIndex& index, Reports& reports);

}  // namespace loco::model
