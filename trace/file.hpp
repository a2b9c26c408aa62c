// Trace files: a versioned compact binary form, and a text form with one record per line (docs/trace-format.md).
//
// Decoding trusts nothing: every index is checked against the counts of the header, every block has a checksum, and
// nothing is allocated that the input is too short to fill. A truncated or damaged file is refused with the byte offset
// where that was noticed.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <stdexcept>
#include <string>
#include <string_view>

#include "trace/trace.hpp"

namespace loco::trace {

/// The version that is written. There is no version 3, which would be one bit away from both older ones.
inline constexpr std::uint32_t kTraceVersion = 4;
/// For a verbs program, with what its queues did; two bits away from all others.
inline constexpr std::uint32_t kTraceVersionQueues = 7;
inline constexpr std::uint32_t kTraceVersionOldest = 1;  ///< the oldest readable one; version 2: atomics read by aNRR

class TraceError : public std::runtime_error {
 public:
  TraceError(std::uint64_t offset, const std::string& what);
  /// Byte offset in the file.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }

 private:
  std::uint64_t offset_;
};

struct DecodeOptions {
  bool verify_checksums = true;  ///< switched off only for fuzzing, so that damaged blocks reach the parser
  /// Limit on the memory for the trace plus one block being read, in bytes; exceeding it is a TraceError.
  std::uint64_t memory_max = ~std::uint64_t{0};
  std::function<void()> poll = {};  ///< called now and then; an exception from it ends the work
};

/// The binary form. Encoding and decoding are inverses, and the bytes depend only on the trace.
[[nodiscard]] std::string encode_trace(const Trace& trace);
/// The same, part by part, in order. Long traces are encoded by several threads; this one calls the sink.
using TraceSink = std::function<void(std::string_view)>;
void encode_trace(const Trace& trace, const TraceSink& sink);
[[nodiscard]] Trace decode_trace(std::string_view bytes, const DecodeOptions& options = {});
/// The same block by block: reads no further than the first error, and keeps one block at a time.
[[nodiscard]] Trace decode_trace(std::istream& in, const DecodeOptions& options = {});

/// Throws std::system_error if the file cannot be opened, read or written, and TraceError if it is damaged. A file is
/// written completely or not at all; in the latter case an existing file is kept (whole_file.hpp).
void write_trace_file(const std::string& path, const Trace& trace);
[[nodiscard]] Trace read_trace_file(const std::string& path, const DecodeOptions& options = {});

/// The text form: one record per line, for reading and for diff.
void write_trace_text(std::ostream& out, const Trace& trace);

}  // namespace loco::trace
