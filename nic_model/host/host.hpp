// What set-up has allocated of a NIC: functions, memory and ordering domains. Private to nic_model/.
#pragma once

#include <cstdint>

namespace loco::nic {

class Host {
 public:
  /// The PCIe function of the next queue pair. Functions take turns.
  std::uint32_t next_function(std::uint32_t functions) { return queue_pairs_++ % functions; }

  /// Allocates memory on the NIC, which has `most` bytes (0: no limit). Returns false, and allocates nothing, if there
  /// is too little.
  bool take_device_memory(std::uint64_t size, std::uint64_t most) {
    if (most != 0 && size > most - device_memory_) return false;
    device_memory_ += size;
    return true;
  }
  void return_device_memory(std::uint64_t size) { device_memory_ -= size; }
  [[nodiscard]] std::uint64_t device_memory() const { return device_memory_; }
  /// Of a host's first NIC: has any NIC of the host had memory in regions, which its other NICs reach as peers?
  [[nodiscard]] bool shares_device_memory() const { return shares_device_memory_; }
  void share_device_memory() { shares_device_memory_ = true; }

  /// The ordering domain of the NIC's second function; those of further functions follow.
  void set_first_domain(std::uint32_t domain) { first_domain_ = domain; }
  [[nodiscard]] std::uint32_t domain_of(std::uint32_t function) const { return first_domain_ + function - 1; }

  bool operator==(const Host&) const = default;

 private:
  std::uint32_t queue_pairs_ = 0;
  std::uint32_t first_domain_ = 0;
  std::uint64_t device_memory_ = 0;  // bytes of memory on the NIC in regions
  bool shares_device_memory_ = false;
};

}  // namespace loco::nic
