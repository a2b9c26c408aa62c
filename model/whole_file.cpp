#include "model/whole_file.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <unistd.h>

namespace loco::model {

namespace {

namespace fs = std::filesystem;

/// What handlers of signals remove: they may use neither locks nor memory of their own.
std::atomic<const char*> under_way = nullptr;
static_assert(std::atomic<const char*>::is_always_lock_free);

/// A file beside its place, until it is renamed into it or not.
class Beside {
 public:
  explicit Beside(const std::string& place) : path_(place + "." + std::to_string(getpid()) + ".part") {
    under_way = path_.c_str();
  }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;
  ~Beside() {
    std::error_code gone_already;
    fs::remove(path_, gone_already);
    under_way = nullptr;
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

extern "C" void remove_and_end(int signal) {
  if (const char* const path = under_way) unlink(path);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

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
  const Beside beside(path);
  write_to(beside.path(), path, write);
  rename_into(beside.path(), path);
}

void leave_nothing_on_signals() {
  for (const int signal : std::array{SIGHUP, SIGINT, SIGTERM}) {
    const auto before = std::signal(signal, remove_and_end);
    if (before != SIG_DFL) std::signal(signal, before);  // somebody else's, or ignored, as in the background
  }
}

}  // namespace loco::model
