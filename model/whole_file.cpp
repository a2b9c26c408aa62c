#include "model/whole_file.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <unistd.h>

namespace loco::model {

namespace {

namespace fs = std::filesystem;

bool can_be_replaced(const fs::path& path) {
  std::error_code ignored;
  const fs::file_type type = fs::symlink_status(path, ignored).type();
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (access(folder.c_str(), W_OK) != 0) return false;
  return type == fs::file_type::not_found || (type == fs::file_type::regular && access(path.c_str(), W_OK) == 0);
}

/// `told`: the path that errors name.
void write_to(const fs::path& path, const std::string& told, const std::function<void(std::ostream&)>& write) {
  const auto fail = [&] { throw std::system_error(errno != 0 ? errno : EIO, std::generic_category(), told); };
  errno = 0;
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  if (!out) fail();
  write(out);
  out.close();
  if (!out) fail();
}

void rename_into(const fs::path& written, const fs::path& place) {
  if (fs::exists(place)) fs::permissions(written, fs::status(place).permissions());
  fs::rename(written, place);
}

}  // namespace

void write_whole_file(const std::string& path, const std::function<void(std::ostream&)>& write) {
  if (!can_be_replaced(path)) return write_to(path, path, write);
  const fs::path beside = path + "." + std::to_string(getpid()) + ".part";
  try {
    write_to(beside, path, write);
    rename_into(beside, path);
  } catch (...) {
    std::error_code ignored;
    fs::remove(beside, ignored);
    throw;
  }
}

}  // namespace loco::model
