// The block of a trace file that verbs programs' traces have (trace/verbs.hpp). Internal to the trace files.
#pragma once

#include "trace/codec.hpp"
#include "trace/trace.hpp"

namespace loco::trace::codec {

void put_queues(Writer& to, const Verbs& verbs);
/// Every index is checked against what it leads to; the trace has its nodes, threads and calls already.
[[nodiscard]] Verbs get_queues(Reader& from, const Trace& trace);

}  // namespace loco::trace::codec
