#include "text/file.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <ios>

#include "text/input_error.hpp"

namespace loco::text {

namespace {
constexpr std::size_t kPieceBytes = std::size_t{1} << 14U;  // read at once; most files are smaller
}

std::string read_file(const std::string& path, std::size_t bytes_max) {
  if (path.find('\0') != std::string::npos) throw InputError({path, 1, 1}, "", "a name without NUL", "one with it");
  std::ifstream in(path, std::ios::binary);
  std::string text;
  while (in && text.size() <= bytes_max) {
    const std::size_t size = text.size();
    text.resize(std::min(size + kPieceBytes, bytes_max + 1));
    in.read(text.data() + size, static_cast<std::streamsize>(text.size() - size));
    text.resize(size + static_cast<std::size_t>(in.gcount()));
  }
  if (!in && !in.eof()) throw InputError({path, 1, 1}, "", "a readable file", "none");
  if (text.size() > bytes_max) throw InputError({path, 1, 1}, "", fmt::format("at most {} bytes", bytes_max), "more");
  return text;
}

}  // namespace loco::text
