#include "trace/pcapng.hpp"

#include <array>

namespace loco::trace {

namespace {
constexpr std::uint32_t kSection = 0x0a0d0d0a;
constexpr std::uint32_t kInterface = 1;
constexpr std::uint32_t kEnhancedPacket = 6;
constexpr std::uint32_t kByteOrder = 0x1a2b3c4d;
constexpr std::uint16_t kEthernet = 1;
constexpr std::uint16_t kOptionName = 2;
constexpr std::uint16_t kOptionResolution = 9;
constexpr std::int64_t kPsPerNs = 1'000;

std::uint32_t padding(std::size_t bytes) { return static_cast<std::uint32_t>((4 - bytes % 4) % 4); }
}  // namespace

void PcapngWriter::number(std::uint64_t value, unsigned bytes) {
  std::array<char, 8> text{};
  for (unsigned i = 0; i < bytes; ++i) text[i] = static_cast<char>(value >> (8 * i) & 0xffU);
  out_.write(text.data(), bytes);
}

void PcapngWriter::padded(std::string_view bytes) {
  out_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  number(0, padding(bytes.size()));
}

PcapngWriter::PcapngWriter(std::ostream& out, unsigned digits) : out_(out), digits_(digits) {
  constexpr std::uint32_t kLength = 28;
  number(kSection, 4);
  number(kLength, 4);
  number(kByteOrder, 4);
  number(1, 2);
  number(0, 2);
  number(~std::uint64_t{0}, 8);  // the section's length is unknown
  number(kLength, 4);
}

void PcapngWriter::interface(std::string_view name) {
  const auto length = static_cast<std::uint32_t>(20 + 4 + name.size() + padding(name.size()) + 8 + 4);
  number(kInterface, 4);
  number(length, 4);
  number(kEthernet, 2);
  number(0, 2);
  number(0, 4);  // packets may have any length
  number(kOptionName, 2);
  number(name.size(), 2);
  padded(name);
  number(kOptionResolution, 2);
  number(1, 2);
  number(digits_, 4);
  number(0, 4);  // end of options
  number(length, 4);
}

void PcapngWriter::packet(std::uint32_t interface, std::int64_t time_ps, std::span<const std::byte> bytes,
                          std::uint32_t length) {
  const auto block = static_cast<std::uint32_t>(32 + bytes.size() + padding(bytes.size()));
  const auto time = static_cast<std::uint64_t>(digits_ == 9 ? time_ps / kPsPerNs : time_ps);
  number(kEnhancedPacket, 4);
  number(block, 4);
  number(interface, 4);
  number(time >> 32U, 4);
  number(time & 0xffffffffU, 4);
  number(bytes.size(), 4);
  number(length, 4);
  padded({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  number(block, 4);
}

}  // namespace loco::trace
