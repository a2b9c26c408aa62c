// Bytes of the trace file: little-endian base-128 integers, zigzag differences, checksummed blocks.
// Internal to trace_io; the layout is docs/trace-format.md.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace loco::trace::codec {

inline constexpr std::string_view kMagic = "LOCOTRC\n";

enum class Tag : std::uint8_t {
  header = 1,
  threads,
  objects,
  node_sets,
  calls,
  subevents,
  activities,
  queues,
  end = 0x7f
};
[[nodiscard]] std::string_view name(Tag tag);

/// Records in one block of calls or subevents. Limits what damage can spoil and what a reader must hold.
inline constexpr std::uint64_t kBlockRecords = 4096;

[[nodiscard]] constexpr std::uint64_t zigzag(std::uint64_t difference) {
  return (difference << 1) ^ (0 - (difference >> 63));
}
[[nodiscard]] constexpr std::uint64_t unzigzag(std::uint64_t code) { return (code >> 1) ^ (0 - (code & 1)); }

/// CRC-32 (IEEE 802.3) of a block's payload.
[[nodiscard]] std::uint32_t checksum(std::string_view bytes);

/// Writes to memory that has enough room.
class Cursor {
 public:
  static constexpr std::size_t kLongest = 10;  ///< bytes of a number

  explicit Cursor(char* to) : to_(to) {}
  void byte(std::uint8_t value) { *to_++ = static_cast<char>(value); }
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) *to_++ = static_cast<char>(value | 0x80);
    *to_++ = static_cast<char>(value);
  }
  /// The difference to a prediction, small when the prediction is close; wraps, so any pair of values works.
  void difference(std::uint64_t value, std::uint64_t prediction) { number(zigzag(value - prediction)); }
  [[nodiscard]] const char* end() const { return to_; }

 private:
  char* to_;
};

class Writer {
 public:
  void byte(std::uint8_t value) {
    fields(1, [value](Cursor& to) { to.byte(value); });
  }
  void number(std::uint64_t value) {
    fields(1, [value](Cursor& to) { to.number(value); });
  }
  /// Makes room at once for everything that put(cursor) writes, at most `most` bytes and numbers.
  template <typename Put>
  void fields(std::size_t most, Put put) {
    char* const begin = room(most * Cursor::kLongest);
    Cursor to(begin);
    put(to);
    size_ += static_cast<std::size_t>(to.end() - begin);
  }
  void fixed32(std::uint32_t value) {
    for (int i = 0; i < 4; ++i) byte(static_cast<std::uint8_t>(value >> (8 * i)));
  }
  void text(std::string_view value) {
    number(value.size());
    raw(value);
  }
  void raw(std::string_view value) {
    std::copy(value.begin(), value.end(), room(value.size()));
    size_ += value.size();
  }
  void block(Tag tag, std::string_view payload) {
    byte(static_cast<std::uint8_t>(tag));
    number(payload.size());
    raw(payload);
    fixed32(checksum(payload));
  }
  [[nodiscard]] std::string_view bytes() const { return {bytes_.data(), size_}; }
  /// Discards what was written, but keeps the storage.
  void clear() { size_ = 0; }

 private:
  /// Where the next bytes go; has room for at least this many.
  char* room(std::size_t bytes) {
    if (bytes_.size() - size_ < bytes) bytes_.resize(2 * bytes_.size() + bytes);
    return bytes_.data() + size_;
  }

  std::string bytes_;
  std::size_t size_ = 0;
};

/// Reads a part of a file that begins at `offset`. Every failure is a TraceError with the offset in the file.
class Reader {
 public:
  Reader(std::string_view bytes, std::uint64_t offset) : bytes_(bytes), base_(offset), end_(bytes.size()) {}

  [[nodiscard]] std::uint64_t offset() const { return base_ + at_; }
  [[nodiscard]] std::uint64_t left() const { return end_ - at_; }
  [[nodiscard]] bool done() const { return at_ == end_; }

  std::uint8_t byte(const char* what) {
    if (at_ == end_) fail_short(what);
    return static_cast<std::uint8_t>(bytes_[at_++]);
  }
  std::uint64_t number(const char* what) {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const std::uint8_t b = byte(what);
      if (shift == 63 && b > 1) fail(offset() - 1, what, "is longer than 64 bits");
      value |= static_cast<std::uint64_t>(b & 0x7f) << shift;
      if (b < 0x80) return value;
    }
  }
  /// A number of at most `max`.
  std::uint64_t number_up_to(std::uint64_t max, const char* what) {
    const std::uint64_t start = offset();
    const std::uint64_t value = number(what);
    if (value > max) fail_range(start, what, value, max);
    return value;
  }
  std::uint64_t difference(std::uint64_t prediction, const char* what) { return prediction + unzigzag(number(what)); }
  std::uint64_t difference_up_to(std::uint64_t prediction, std::uint64_t max, const char* what) {
    const std::uint64_t start = offset();
    const std::uint64_t value = difference(prediction, what);
    if (value > max) fail_range(start, what, value, max);
    return value;
  }
  /// A number of things that take at least `bytes_each` bytes each; never more than the input can hold.
  std::uint64_t count(std::uint64_t bytes_each, const char* what) {
    const std::uint64_t start = offset();
    const std::uint64_t value = number(what);
    if (value > left() / bytes_each) fail(start, what, "is more than the rest of the block can hold");
    return value;
  }
  std::uint32_t fixed32(const char* what) {
    std::uint32_t value = 0;
    for (unsigned i = 0; i < 4; ++i) value |= static_cast<std::uint32_t>(byte(what)) << (8 * i);
    return value;
  }
  std::string_view raw(std::uint64_t size, const char* what) {
    if (size > left()) fail_short(what);
    const std::string_view out = bytes_.substr(at_, size);
    at_ += size;
    return out;
  }
  std::string text(const char* what) { return std::string(raw(count(1, what), what)); }

  [[noreturn]] static void fail(std::uint64_t offset, const char* what, const char* problem);

 private:
  [[noreturn]] void fail_short(const char* what) const;
  [[noreturn]] static void fail_range(std::uint64_t offset, const char* what, std::uint64_t value, std::uint64_t max);

  std::string_view bytes_;
  std::uint64_t base_;  ///< offset of the first byte in the file
  std::uint64_t at_ = 0;
  std::uint64_t end_;
};

}  // namespace loco::trace::codec
