// Trace files: a versioned compact binary, and a text form of one record a line (docs/trace-format.md).
//
// Decoding trusts nothing: every index is checked against the counts of the header, every block carries a
// checksum, and nothing is allocated that the input is not long enough to fill. A file that is cut short or
// damaged is refused with the byte offset at which that was seen.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <stdexcept>
#include <string>
#include <string_view>

#include "trace/trace.hpp"

namespace loco::trace {

/// What is written. There is no version 3, which is one bit away from both older ones.
inline constexpr std::uint32_t kTraceVersion = 4;
/// Of a verbs program, with what its queues did; two bits from all others.
inline constexpr std::uint32_t kTraceVersionQueues = 7;
inline constexpr std::uint32_t kTraceVersionOldest = 1;  ///< what can still be read; version 2: atomics read by aNRR

class TraceError : public std::runtime_error {
 public:
  TraceError(std::uint64_t offset, const std::string& what);
  /// Byte offset in the file.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }

 private:
  std::uint64_t offset_;
};

struct DecodeOptions {
  bool verify_checksums = true;  ///< off only for fuzzing: lets damaged blocks reach the parser
  /// Bytes that the trace may take in memory, and a block of it while it is read: what is more is a TraceError.
  std::uint64_t memory_max = ~std::uint64_t{0};
  std::function<void()> poll = {};  ///< called now and then; what it throws ends the work
};

/// The binary form. Encoding and decoding are inverses, and the bytes are a function of the trace alone.
[[nodiscard]] std::string encode_trace(const Trace& trace);
/// The same, part by part, in order. Long traces are encoded by several threads; the sink is called by this one.
using TraceSink = std::function<void(std::string_view)>;
void encode_trace(const Trace& trace, const TraceSink& sink);
[[nodiscard]] Trace decode_trace(std::string_view bytes, const DecodeOptions& options = {});
/// The same block by block: reads no further than what is wrong, and keeps one block at a time.
[[nodiscard]] Trace decode_trace(std::istream& in, const DecodeOptions& options = {});

/// Throws std::system_error when the file cannot be opened, read or written; TraceError when it is damaged.
/// What cannot be written whole is not there, and what was there before is (whole_file.hpp).
void write_trace_file(const std::string& path, const Trace& trace);
[[nodiscard]] Trace read_trace_file(const std::string& path, const DecodeOptions& options = {});

/// The text form: one record a line, for people and for diff.
void write_trace_text(std::ostream& out, const Trace& trace);

}  // namespace loco::trace
