// Packet captures as pcapng (IETF draft-ietf-opsawg-pcapng; read by Wireshark): a section, its interfaces, packets.
//
// Numbers are little-endian on every machine, so that a run's file is the same everywhere. Interfaces come first, then
// packets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>
#include <string_view>

namespace loco::trace {

class PcapngWriter {
 public:
  /// Times are written in units of 10^-digits s, where digits is 9 or 12. Readers show at most nanoseconds.
  PcapngWriter(std::ostream& out, unsigned digits);
  /// Adds an Ethernet interface. Interfaces are numbered from 0.
  void interface(std::string_view name);
  /// `time_ps` is since the start of the run, `bytes` is what is kept of the packet, `length` its size on the wire.
  void packet(std::uint32_t interface, std::int64_t time_ps, std::span<const std::byte> bytes, std::uint32_t length);

 private:
  void number(std::uint64_t value, unsigned bytes);
  void padded(std::string_view bytes);

  std::ostream& out_;
  unsigned digits_;
};

}  // namespace loco::trace
