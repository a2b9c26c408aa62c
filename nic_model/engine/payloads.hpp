// Payload bytes inside NICs and on the wire, in buffers with reference counts. Private to nic_model/.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "fabric/packet.hpp"
#include "nic_model/engine/byte_range.hpp"
#include "nic_model/engine/zeroed.hpp"
#include "nic_model/verbs.hpp"
#include "sim/ring.hpp"

namespace loco::nic {

/// The newest sample of a word in a READ's data that an earlier execution of the same READ had read before. Kept for
/// the trace, with the witness only.
struct RepeatedSample {
  SubeventId id = 0;  // the word's aNRR
  Address word = 0;
  std::uint64_t value = 0;
  SubeventId source = 0;
  std::uint64_t seq = 0;
  sim::SimTime at{};

  bool operator==(const RepeatedSample&) const = default;
};

class Payloads {
 public:
  /// A new buffer with one reference; its bytes are not set. Of a message that came from another part of the machine
  /// only the bytes from `base` on are here, where data() and edit() point.
  [[nodiscard]] std::uint32_t acquire(std::uint32_t size, std::uint32_t base = 0);
  void hold(std::uint32_t buffer) {
    if (buffer != fabric::kNoBuffer) ++buffers_[buffer].references;
  }
  void release(std::uint32_t buffer) {
    if (buffer == fabric::kNoBuffer) return;
    if (--buffers_[buffer].references != 0) return;
    if (!repeated_.empty()) repeated_.erase(buffer);
    buffers_.release(buffer);
  }
  [[nodiscard]] const std::byte* data(std::uint32_t buffer) const { return buffers_[buffer].data(); }
  /// The byte at this offset of the message.
  [[nodiscard]] const std::byte* data_at(std::uint32_t buffer, std::uint32_t place) const {
    const Buffer& b = buffers_[buffer];
    return b.data() + (place - b.base);
  }
  /// For writing so many bytes of the message from `place` on; returns where they are.
  [[nodiscard]] std::byte* edit(std::uint32_t buffer, std::uint32_t place, std::uint32_t bytes) {
    Buffer& b = buffers_[buffer];
    return b.edit(place - b.base, bytes);
  }
  /// For writing all of it.
  [[nodiscard]] std::byte* edit(std::uint32_t buffer) {
    Buffer& b = buffers_[buffer];
    return b.edit(0, b.size);
  }
  /// Between which of these bytes of the message some may differ from zero, because this buffer, or an earlier one in
  /// its storage, was written there. Of a long message mostly few bytes are ever set.
  [[nodiscard]] ByteRange written(std::uint32_t buffer, ByteRange part) const {
    const Buffer& b = buffers_[buffer];
    const ByteRange found = b.written({part.from - b.base, part.to - b.base});
    return {b.base + found.from, b.base + found.to};
  }
  [[nodiscard]] bool blank(std::uint32_t buffer, std::uint32_t place, std::uint32_t bytes) const {
    return written(buffer, {place, std::uint64_t{place} + bytes}).empty();
  }
  /// Records the order in which the words of a message are read, where they travel alone (travels_by_words). `word` is
  /// the word's number in its message.
  void note_read(std::uint32_t buffer, std::uint32_t word) {
    buffers_[buffer].order.push_back(static_cast<std::uint8_t>(word));
  }
  /// The number of the i-th word read; `i` itself if no order was recorded.
  [[nodiscard]] std::uint32_t word_read(std::uint32_t buffer, std::uint32_t i) const {
    if (buffer == fabric::kNoBuffer) return i;
    const std::vector<std::uint8_t>& order = buffers_[buffer].order;
    return i < order.size() ? order[i] : i;
  }
  /// The buffer will be filled in any order. It is zeroed until then, so that equal states compare equal.
  void fill_in_any_order(std::uint32_t buffer) {
    Buffer& b = buffers_[buffer];
    b.in_any_order = true;
    std::fill_n(b.edit(0, b.size), b.size, std::byte{});
  }
  [[nodiscard]] std::uint32_t size(std::uint32_t buffer) const { return buffers_[buffer].size; }
  [[nodiscard]] bool in_any_order(std::uint32_t buffer) const {
    return buffer != fabric::kNoBuffer && buffers_[buffer].in_any_order;
  }
  /// Records such a word of a READ that is executed again. The newest sample of a word replaces earlier ones.
  void note_repeated(std::uint32_t buffer, const RepeatedSample& sample) { repeated_[buffer][sample.word] = sample; }
  /// The sample of a word in a READ's data, or null if this execution was the first to read it.
  [[nodiscard]] const RepeatedSample* repeated(std::uint32_t buffer, Address word) const;
  [[nodiscard]] std::vector<RepeatedSample> all_repeated(std::uint32_t buffer) const;
  [[nodiscard]] std::size_t in_use() const { return buffers_.in_use(); }

  bool operator==(const Payloads&) const = default;

 private:
  struct Buffer {
    std::uint32_t references = 0;
    std::uint32_t size = 0;
    std::uint32_t base = 0;
    bool small_written = false;
    bool in_any_order = false;
    std::uint64_t large_written = 0;  // a bit for each 64th of `large`
    std::array<std::byte, 32> small{};
    mutable ZeroedBytes large{};  // has the buffer's size once somebody has looked at its bytes
    std::vector<std::uint8_t> order{};

    [[nodiscard]] bool is_small() const { return size <= small.size(); }
    /// Of `large`'s parts that were written or not: the logarithm of their bytes.
    [[nodiscard]] int part_bits() const { return static_cast<int>(std::bit_width((large.capacity() - 1) / 64)); }
    [[nodiscard]] std::uint64_t parts_of(ByteRange range) const {
      const int bits = part_bits();
      return ~std::uint64_t{0} << (range.from >> bits) & ~std::uint64_t{0} >> (63 - ((range.to - 1) >> bits));
    }
    [[nodiscard]] ByteRange written(ByteRange range) const {
      if (range.empty() || (is_small() && small_written)) return range;
      const std::uint64_t parts = is_small() || large_written == 0 ? 0 : large_written & parts_of(range);
      if (parts == 0) return {range.to, range.to};
      const ByteRange found{static_cast<std::uint64_t>(std::countr_zero(parts)) << part_bits(),
                            static_cast<std::uint64_t>(std::bit_width(parts)) << part_bits()};
      return common_part(range, found);
    }
    [[nodiscard]] const std::byte* data() const {
      if (is_small()) return small.data();
      if (large.size() != size) make_large();
      return large.data();
    }
    [[nodiscard]] std::byte* edit(std::uint32_t from, std::uint32_t bytes) {
      if (is_small()) {
        small_written = true;
        return small.data() + from;
      }
      if (large.size() != size) make_large();
      if (bytes != 0) large_written |= parts_of({from, std::uint64_t{from} + bytes});
      return large.data() + from;
    }
    void make_large() const;
    [[nodiscard]] bool same_bytes(const Buffer& o) const;
    /// Compares contents.
    bool operator==(const Buffer& o) const {
      return references == o.references && size == o.size && small == o.small && same_bytes(o) && order == o.order;
    }
  };

  sim::Pool<Buffer> buffers_{};
  std::map<std::uint32_t, std::map<Address, RepeatedSample>> repeated_{};  // by buffer; few READs have any
};

}  // namespace loco::nic
