#include "trace/file.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <system_error>

#include "trace/codec.hpp"
#include "trace/whole_file.hpp"

namespace loco::trace {

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

Trace read_trace_file(const std::string& path, const DecodeOptions& options) {
  if (path.find('\0') != std::string::npos) throw std::system_error(EINVAL, std::generic_category(), path);
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) throw_errno(path);
  std::error_code none;
  if (std::filesystem::is_directory(path, none)) throw std::system_error(EISDIR, std::generic_category(), path);
  return decode_trace(in, options);
}

}  // namespace loco::trace
