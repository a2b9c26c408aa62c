// Payload bytes inside NICs and on the wire, counted by those that hold them. Private to nic_model/.
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
  /// A buffer that is held once. What is in it is not set.
  [[nodiscard]] std::uint32_t acquire(std::uint32_t size);
  void hold(std::uint32_t buffer) {
    if (buffer != fabric::kNoBuffer) ++buffers_[buffer].references;
  }
  void release(std::uint32_t buffer) {
    if (buffer == fabric::kNoBuffer) return;
    if (--buffers_[buffer].references == 0) buffers_.release(buffer);
  }
  [[nodiscard]] std::byte* data(std::uint32_t buffer) { return buffers_[buffer].data(); }
  [[nodiscard]] const std::byte* data(std::uint32_t buffer) const { return buffers_[buffer].data(); }
  [[nodiscard]] std::size_t in_use() const { return buffers_.in_use(); }

  bool operator==(const Payloads&) const = default;

 private:
  struct Buffer {
    std::uint32_t references = 0;
    std::uint32_t size = 0;
    std::array<std::byte, 32> small{};
    ZeroedBytes large{};

    [[nodiscard]] std::byte* data() { return size <= small.size() ? small.data() : large.data(); }
    [[nodiscard]] const std::byte* data() const { return size <= small.size() ? small.data() : large.data(); }
    bool operator==(const Buffer&) const = default;
  };

  sim::Pool<Buffer> buffers_{};
};

}  // namespace loco::nic
