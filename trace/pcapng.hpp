// Packet captures as pcapng (IETF draft-ietf-opsawg-pcapng; what Wireshark reads): a section, its interfaces, packets.
//
// Numbers are in little-endian order whatever the machine, so that a run's file is the same everywhere. Interfaces
// first, then packets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>
#include <string_view>

namespace loco::trace {

class PcapngWriter {
 public:
  /// Units of the times that are written: 10^-digits s, 9 or 12. Readers show nanoseconds at most.
  PcapngWriter(std::ostream& out, unsigned digits);
  /// Their numbers ascend from 0. Ethernet.
  void interface(std::string_view name);
  /// `time_ps` since the begin of the run. `bytes`: what is kept of it, `length`: what it had on the wire.
  void packet(std::uint32_t interface, std::int64_t time_ps, std::span<const std::byte> bytes, std::uint32_t length);

 private:
  void number(std::uint64_t value, unsigned bytes);
  void padded(std::string_view bytes);

  std::ostream& out_;
  unsigned digits_;
};

}  // namespace loco::trace
