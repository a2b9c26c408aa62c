// Is the history of one key of a map linearisable (Herlihy and Wing)? A key is a number or absent, at first absent;
// insert, update and delete say whether they did anything, a lookup says what it found. Calls are intervals
// [begin, end], which contain both ends; one that did not return may take effect at any time after its begin, or never.
//
// Two ways to decide it:
//   intervals  no two calls wrote the same value, so every lookup names the write it read from. Near-linear.
//   search     Wing and Gong's search in the just-in-time form of Lowe. Any history; exponential in the calls open at
//              once, so it gives up at a bound.
#pragma once

#include <span>

#include "model/library_checker.hpp"
#include "model/trace_index.hpp"

namespace loco::model {

/// By intervals. False when the written values are not unique: then nothing was decided.
bool check_key_by_intervals(const TraceIndex& index, std::span<const CallId> calls, Reports& reports);

/// By search.
void check_key_by_search(const TraceIndex& index, std::span<const CallId> calls, Reports& reports);

}  // namespace loco::model
