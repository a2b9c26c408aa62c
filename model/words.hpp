// Threads, calls, subevents and edges in words, for reports and for the text form of traces.
#pragma once

#include <string>

#include "model/rules.hpp"
#include "model/trace.hpp"

namespace loco::model {

/// The thread and its node: "worker0@1", or "thread 3@1" when it has no name.
[[nodiscard]] std::string thread_text(const Trace& trace, std::uint32_t thread);
/// "put(2:0x1040 <- 1:0x80) as 7", "bcast(bar/sst, {1, 2}) as 3", "barrier(bar)".
[[nodiscard]] std::string call_text(const Trace& trace, CallId call);
/// "aNRW_2 writes 2:0x1040 = 5", with the thread: for one-line messages.
[[nodiscard]] std::string subevent_text(const Trace& trace, SubeventId subevent);
/// "aNRW_2 writes 2:0x1040 = 5"
[[nodiscard]] std::string access_text(const Trace& trace, SubeventId subevent);
/// "aNRW_2", "aCR"
[[nodiscard]] std::string stamp_text(Stamp stamp, std::uint32_t peer);

}  // namespace loco::model
