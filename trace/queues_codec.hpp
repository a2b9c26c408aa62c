// The block of a trace file for traces of verbs programs (trace/verbs.hpp). Internal to the trace files.
#pragma once

#include "trace/codec.hpp"
#include "trace/trace.hpp"

namespace loco::trace::codec {

void put_queues(Writer& to, const Verbs& verbs);
/// Checks every index against what it refers to. The trace must already have its nodes, threads and calls.
[[nodiscard]] Verbs get_queues(Reader& from, const Trace& trace);

}  // namespace loco::trace::codec
