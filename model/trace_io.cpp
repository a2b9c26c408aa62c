#include "model/trace_io.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <span>
#include <system_error>

#include "model/trace_codec.hpp"
#include "model/whole_file.hpp"

namespace loco::model {

TraceError::TraceError(std::uint64_t offset, const std::string& what)
    : std::runtime_error("offset " + std::to_string(offset) + ": " + what), offset_(offset) {}

namespace {

[[noreturn]] void throw_errno(const std::string& path) {
  throw std::system_error(errno != 0 ? errno : EIO, std::generic_category(), path);
}

}  // namespace

void write_trace_file(const std::string& path, const Trace& trace) {
  write_whole_file(path, [&trace](std::ostream& out) {
    encode_trace(trace,
                 [&out](std::string_view part) { out.write(part.data(), static_cast<std::streamsize>(part.size())); });
  });
}

Trace read_trace_file(const std::string& path) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) throw_errno(path);
  std::error_code none;
  if (std::filesystem::is_directory(path, none)) throw std::system_error(EISDIR, std::generic_category(), path);
  std::string bytes;
  if (std::filesystem::is_regular_file(path, none)) bytes.reserve(std::filesystem::file_size(path, none) + 1);
  for (std::size_t part = 1 << 16; in; part = std::max(part, bytes.size())) {  // pipes do not know their size
    const std::size_t before = bytes.size();
    bytes.resize(std::max(before + part, bytes.capacity()));
    in.read(bytes.data() + before, static_cast<std::streamsize>(bytes.size() - before));
    bytes.resize(before + static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) throw_errno(path);
  return decode_trace(bytes);
}

}  // namespace loco::model
