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
  if (size > buffer.small.size()) {
    if (size > buffer.large.capacity()) {
      buffer.large.clear();  // clearing first avoids a copy of the old content
      buffer.large_written = false;
    }
    buffer.large.resize(size);
  }
  return index;
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
