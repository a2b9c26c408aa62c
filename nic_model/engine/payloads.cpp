#include "nic_model/engine/payloads.hpp"

namespace loco::nic {

std::uint32_t Payloads::acquire(std::uint32_t size, std::uint32_t base) {
  const std::uint32_t index = buffers_.acquire();
  Buffer& buffer = buffers_[index];
  buffer.references = 1;
  buffer.size = size;
  buffer.base = base;
  buffer.in_any_order = false;
  buffer.order.clear();
  if (size > buffer.large.capacity()) {
    ZeroedBytes().swap(buffer.large);
    buffer.large_written = 0;
  }
  return index;
}

// Payload that nobody sets is never looked at: thousands of hosts with megabytes in their NICs take no address space.
void Payloads::Buffer::make_large() const { large.resize(size); }

bool Payloads::Buffer::same_bytes(const Buffer& o) const {
  if (is_small() || (written({0, size}).empty() && o.written({0, o.size}).empty())) return true;
  return std::equal(data(), data() + size, o.data());
}

std::vector<RepeatedSample> Payloads::all_repeated(std::uint32_t buffer) const {
  std::vector<RepeatedSample> all;
  if (const auto samples = repeated_.find(buffer); samples != repeated_.end())
    for (const auto& [word, sample] : samples->second) all.push_back(sample);
  return all;
}

const RepeatedSample* Payloads::repeated(std::uint32_t buffer, Address word) const {
  const auto samples = repeated_.find(buffer);
  if (samples == repeated_.end()) return nullptr;
  const auto sample = samples->second.find(word);
  return sample == samples->second.end() ? nullptr : &sample->second;
}

}  // namespace loco::nic
