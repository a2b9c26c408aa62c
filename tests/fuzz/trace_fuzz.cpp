// libFuzzer target: no bytes make the trace reader or the checkers crash, hang or allocate without bound.
//
// Two ways in: as a file (checksums count), and with checksums off, so that damage reaches the parser and what
// it accepts reaches the checkers.
#include <array>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string_view>

#include "model/check.hpp"
#include "trace/file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace loco::model;
  using namespace loco::trace;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const bool verify : {true, false}) {
    try {
      const Trace trace = decode_trace(bytes, {verify});
      std::ostringstream text;
      write_trace_text(text, trace);
      constexpr std::array kAll = {Library::rdmawait, Library::sv,   Library::bal,    Library::rbl,
                                   Library::msw,      Library::lock, Library::kvstore};
      CheckOptions options;
      options.tower = trace.subevents.size() < 200;  // the tower's clocks are large
      const Verdict verdict = check(trace, kAll, options);
      (void)verdict.to_text();
      (void)verdict.to_dot();
    } catch (const TraceError& e) {
      if (e.offset() > size) __builtin_trap();
    }
  }
  return 0;
}
