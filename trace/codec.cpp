#include "trace/codec.hpp"

#include <array>
#include <zlib.h>

#include "trace/file.hpp"

namespace loco::trace::codec {

std::string_view name(Tag tag) {
  constexpr std::array<std::string_view, 8> kNames = {"header", "threads",   "objects",    "node sets",
                                                      "calls",  "subevents", "activities", "queues"};
  return tag == Tag::end ? "end" : kNames.at(static_cast<std::size_t>(tag) - static_cast<std::size_t>(Tag::header));
}

std::uint32_t checksum(std::string_view bytes) {
  return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

void Reader::fail(std::uint64_t offset, const char* what, const char* problem) {
  throw TraceError(offset, std::string(what) + " " + problem);
}

void Reader::fail_short(const char* what) const { throw TraceError(base_ + end_, std::string("ends within ") + what); }

void Reader::fail_range(std::uint64_t offset, const char* what, std::uint64_t value, std::uint64_t max) {
  throw TraceError(offset,
                   std::string(what) + " is " + std::to_string(value) + ", expected at most " + std::to_string(max));
}

}  // namespace loco::trace::codec
