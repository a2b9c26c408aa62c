// Payload bytes inside NICs and on the wire, in buffers with reference counts. Private to nic_model/.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

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
  [[nodiscard]] std::size_t in_use() const { return buffers_.in_use(); }

  bool operator==(const Payloads&) const = default;

 private:
  struct Buffer {
    std::uint32_t references = 0;
    std::uint32_t size = 0;
    bool small_written = false;
    bool large_written = false;
    std::array<std::byte, 32> small{};
    ZeroedBytes large{};

    [[nodiscard]] bool is_small() const { return size <= small.size(); }
    [[nodiscard]] bool blank() const { return !(is_small() ? small_written : large_written); }
    [[nodiscard]] const std::byte* data() const { return is_small() ? small.data() : large.data(); }
    [[nodiscard]] std::byte* edit() {
      (is_small() ? small_written : large_written) = true;
      return is_small() ? small.data() : large.data();
    }
    /// By what they hold.
    bool operator==(const Buffer& o) const {
      return references == o.references && size == o.size && small == o.small && large == o.large;
    }
  };

  sim::Pool<Buffer> buffers_{};
};

}  // namespace loco::nic
