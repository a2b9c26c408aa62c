// A trace as a timeline in the Trace Event Format of Chrome (JSON), which https://ui.perfetto.dev and chrome://tracing
// show: nodes as processes; threads, NIC engines, PCIe and links as tracks.
//
// - thread tracks: every call as a slice, nested as the calls are; the CPU's accesses and fences as instants
// - NIC tracks, by kind of access (payload reads, remote writes, remote reads, response writes): a slice for what one
// call
//   does there, from the first word's start to the last one's finish. What overlaps gets a further track, so that
//   the slices of a track never do
// - an asynchronous track for each remote operation, from its call until its last access
// - an arrow from the call along its accesses by NICs, in the order of time
// - with activities in the trace (trace.level: packets): PCIe tracks with an instant for each TLP and CQE, and link
// tracks
//   with a slice for each packet, from the sender's port until the receiver has it; lost ones are instants
//
// Times are microseconds with six decimals, hence exact; `args` has the same in picoseconds. Slices shorter than 1 ns
// are drawn that long. The text is a function of the trace.
#pragma once

#include <functional>
#include <iosfwd>

#include "loco_sim/trace/places.hpp"
#include "trace/trace.hpp"

namespace loco {

/// Throws ExportError for a trace without the times of calls (written by an older version), and as require_places()
/// does. Calls `poll` now and then; an exception from it ends the work.
void write_timeline(std::ostream& out, const trace::Trace& trace, const std::function<void()>& poll = {});

}  // namespace loco
