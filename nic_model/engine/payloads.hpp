// Payload bytes inside NICs and on the wire, in buffers with reference counts. Private to nic_model/.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fabric/packet.hpp"
#include "nic_model/engine/zeroed.hpp"
#include "sim/ring.hpp"

namespace loco::nic {

class Payloads {
 public:
  /// A buffer with one reference. Its bytes are not set.
  [[nodiscard]] std::uint32_t acquire(std::uint32_t size);
  void hold(std::uint32_t buffer) {
    if (buffer != fabric::kNoBuffer) ++buffers_[buffer].references;
  }
  void release(std::uint32_t buffer) {
    if (buffer == fabric::kNoBuffer) return;
    if (--buffers_[buffer].references == 0) buffers_.release(buffer);
  }
  [[nodiscard]] const std::byte* data(std::uint32_t buffer) const { return buffers_[buffer].data(); }
  /// To write to it.
  [[nodiscard]] std::byte* edit(std::uint32_t buffer) { return buffers_[buffer].edit(); }
  /// Was neither it nor an earlier buffer in its storage ever written? Then it is zero.
  [[nodiscard]] bool blank(std::uint32_t buffer) const { return buffers_[buffer].blank(); }
  /// The order in which its words were read, where they travel alone (travels_by_words): a word's number in its
  /// message.
  void note_read(std::uint32_t buffer, std::uint32_t word) {
    buffers_[buffer].order.push_back(static_cast<std::uint8_t>(word));
  }
  /// The word that was read as the `i`-th; where no order is noted, the i-th.
  [[nodiscard]] std::uint32_t word_read(std::uint32_t buffer, std::uint32_t i) const {
    if (buffer == fabric::kNoBuffer) return i;
    const std::vector<std::uint8_t>& order = buffers_[buffer].order;
    return i < order.size() ? order[i] : i;
  }
  /// It will be filled in any order: until then it is zero, so that equal states are equal.
  void fill_in_any_order(std::uint32_t buffer) {
    Buffer& b = buffers_[buffer];
    b.in_any_order = true;
    std::fill_n(b.edit(), b.size, std::byte{});
  }
  [[nodiscard]] std::uint32_t size(std::uint32_t buffer) const { return buffers_[buffer].size; }
  [[nodiscard]] bool in_any_order(std::uint32_t buffer) const {
    return buffer != fabric::kNoBuffer && buffers_[buffer].in_any_order;
  }
  [[nodiscard]] std::size_t in_use() const { return buffers_.in_use(); }

  bool operator==(const Payloads&) const = default;

 private:
  struct Buffer {
    std::uint32_t references = 0;
    std::uint32_t size = 0;
    bool small_written = false;
    bool large_written = false;
    bool in_any_order = false;
    std::array<std::byte, 32> small{};
    ZeroedBytes large{};
    std::vector<std::uint8_t> order{};

    [[nodiscard]] bool is_small() const { return size <= small.size(); }
    [[nodiscard]] bool blank() const { return !(is_small() ? small_written : large_written); }
    [[nodiscard]] const std::byte* data() const { return is_small() ? small.data() : large.data(); }
    [[nodiscard]] std::byte* edit() {
      (is_small() ? small_written : large_written) = true;
      return is_small() ? small.data() : large.data();
    }
    /// By what they hold.
    bool operator==(const Buffer& o) const {
      return references == o.references && size == o.size && small == o.small && large == o.large && order == o.order;
    }
  };

  sim::Pool<Buffer> buffers_{};
};

}  // namespace loco::nic
