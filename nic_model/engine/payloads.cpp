#include "nic_model/engine/payloads.hpp"

namespace loco::nic {

std::uint32_t Payloads::acquire(std::uint32_t size) {
  const std::uint32_t index = buffers_.acquire();
  Buffer& buffer = buffers_[index];
  buffer.references = 1;
  buffer.size = size;
  buffer.in_any_order = false;
  buffer.order.clear();
  if (size > buffer.small.size()) {
    if (size > buffer.large.capacity()) {
      buffer.large.clear();  // what an earlier message left is not worth a copy
      buffer.large_written = false;
    }
    buffer.large.resize(size);
  }
  return index;
}

}  // namespace loco::nic
