#include "trace/whole_file.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <ostream>
#include <random>
#include <streambuf>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace loco::trace {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBegin = ".loco-sim-";
constexpr std::string_view kEnd = ".part";

/// An open file descriptor, or none (below 0).
class File {
 public:
  explicit File(int number = -1) : number_(number) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  File(File&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~File() { shut(); }
  /// Returns false, with errno, if what was written could not be stored.
  bool shut() { return number_ < 0 || close(std::exchange(number_, -1)) == 0; }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool is_open() const { return number_ >= 0; }

 private:
  int number_;
};

/// A stream buffer for a file, which remembers why the first write failed.
class FileBuffer final : public std::streambuf {
 public:
  explicit FileBuffer(int file) : file_(file) { setp(buffer_.data(), buffer_.data() + buffer_.size()); }
  [[nodiscard]] int error() const { return error_; }

 protected:
  int_type overflow(int_type c) override {
    if (sync() != 0) return traits_type::eof();
    if (!traits_type::eq_int_type(c, traits_type::eof())) sputc(traits_type::to_char_type(c));
    return traits_type::not_eof(c);
  }
  int sync() override {
    for (const char* at = pbase(); at < pptr() && error_ == 0;) {
      const ssize_t n = write(file_, at, static_cast<std::size_t>(pptr() - at));
      if (n >= 0)
        at += n;
      else if (errno != EINTR)
        error_ = errno;
    }
    setp(buffer_.data(), buffer_.data() + buffer_.size());
    return error_ == 0 ? 0 : -1;
  }

 private:
  int file_;
  int error_ = 0;
  std::array<char, 1U << 16U> buffer_;
};

/// What signal handlers remove; they must use neither locks nor allocated memory.
struct UnderWay {
  int folder = -1;
  std::array<char, 64> name{};
};
std::atomic<const UnderWay*> under_way = nullptr;
static_assert(std::atomic<const UnderWay*>::is_always_lock_free);
std::atomic<bool> handled = false;
constexpr std::array kSignals = {SIGHUP, SIGINT, SIGTERM};

std::string fresh_name() {
  std::random_device device;
  constexpr std::array kDigits = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};
  std::string name(kBegin);
  for (int i = 0; i < 16; ++i) name += kDigits.at(device() % kDigits.size());
  return name + std::string(kEnd);
}

/// Delays the signals that handlers clean up after, from making a file until its name is recorded.
class SignalsWait {
 public:
  SignalsWait() {
    if (!handled) return;
    sigset_t some;
    sigemptyset(&some);
    for (const int signal : kSignals) sigaddset(&some, signal);
    pthread_sigmask(SIG_BLOCK, &some, &before_);
    waiting_ = true;
  }
  SignalsWait(const SignalsWait&) = delete;
  SignalsWait& operator=(const SignalsWait&) = delete;
  ~SignalsWait() {
    if (waiting_) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t before_{};
  bool waiting_ = false;
};

/// A temporary file next to its final place, until it is renamed or discarded. The writer holds a lock on it; files
/// without a lock were left by a killed process.
class Beside {
 public:
  Beside(int folder, const std::string& told) : folder_(folder) {
    const SignalsWait until_it_is_known;
    constexpr int kTries = 100;
    for (int i = 0; i < kTries && !file_.is_open(); ++i) try_name(fresh_name());
    if (!file_.is_open()) throw std::system_error(errno != 0 ? errno : EEXIST, std::generic_category(), told);
    mark_.folder = folder;
    name_.copy(mark_.name.data(), mark_.name.size() - 1);
    if (handled) under_way = &mark_;
  }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;
  ~Beside() {
    const SignalsWait until_it_is_gone;
    if (handled) under_way = nullptr;
    if (!name_.empty()) unlinkat(folder_, name_.c_str(), 0);
  }
  File& file() { return file_; }
  /// Returns false, with errno, if it fails.
  bool rename_to(const std::string& place) {
    if (renameat(folder_, name_.c_str(), folder_, place.c_str()) != 0) return false;
    name_.clear();
    return true;
  }

 private:
  void try_name(const std::string& name) {
    constexpr mode_t kMode = 0666;  // minus the user's umask
    File file(openat(folder_, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kMode));
    if (!file.is_open()) return;
    struct stat status {};
    // Between the two lines before this one, another process may have taken the file for a dead process's and removed
    // it. On file systems without locks nobody does.
    const bool locked = flock(file.number(), LOCK_EX | LOCK_NB) == 0;
    if (locked && (fstat(file.number(), &status) != 0 || status.st_nlink == 0)) return;
    if (!locked && errno == EWOULDBLOCK) return;
    lock_ = File(fcntl(file.number(), F_DUPFD_CLOEXEC, 0));  // outlives the file, until that has its name
    file_ = std::move(file);
    name_ = name;
  }

  int folder_;
  File file_;
  File lock_;
  std::string name_;
  UnderWay mark_;
};

/// Removes what killed processes have left in the folder.
void remove_left(int folder, const fs::path& path) {
  std::error_code ignored;
  for (auto at = fs::directory_iterator(path, ignored); at != fs::directory_iterator(); at.increment(ignored)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(kBegin) || !name.ends_with(kEnd)) continue;
    const File left(openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (left.is_open() && flock(left.number(), LOCK_EX | LOCK_NB) == 0) unlinkat(folder, name.c_str(), 0);
  }
}

extern "C" void remove_and_end(int signal) {
  if (const UnderWay* const file = under_way) unlinkat(file->folder, file->name.data(), 0);
  constexpr std::string_view kWord = "loco-sim: interrupted\n";
  if (signal == SIGINT) {
    std::signal(SIGPIPE, SIG_IGN);
    // ignored if it cannot be written
    [[maybe_unused]] const ssize_t said = write(STDERR_FILENO, kWord.data(), kWord.size());
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

/// In folders such as /tmp only the owner of a file or of the folder may replace it.
bool is_kept_by_another(const fs::path& path) {
  struct stat folder {};
  struct stat file {};
  return stat(folder_of(path).c_str(), &folder) == 0 && (folder.st_mode & S_ISVTX) != 0 &&
         lstat(path.c_str(), &file) == 0 && file.st_uid != geteuid() && folder.st_uid != geteuid();
}

bool can_be_replaced(const fs::path& path) {
  std::error_code ignored;
  const fs::file_type type = fs::symlink_status(path, ignored).type();
  if (access(folder_of(path).c_str(), W_OK) != 0 || is_kept_by_another(path)) return false;
  return type == fs::file_type::not_found || (type == fs::file_type::regular && access(path.c_str(), W_OK) == 0);
}

/// `told`: the path for error messages.
void write_into(File& file, const std::string& told, const std::function<void(std::ostream&)>& write) {
  FileBuffer buffer(file.number());
  std::ostream out(&buffer);
  write(out);
  out.flush();
  if (buffer.error() != 0) throw std::system_error(buffer.error(), std::generic_category(), told);
  if (!out) throw std::system_error(EIO, std::generic_category(), told);
  if (!file.shut()) throw std::system_error(errno, std::generic_category(), told);
}

/// If the path is /dev/stdout or the like and leads to a regular file: its descriptor; otherwise below 0.
int standard_file(const std::string& path) {
  struct stat there {};
  if (stat(path.c_str(), &there) != 0 || !S_ISREG(there.st_mode)) return -1;
  for (const int file : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat standard {};
    const bool open = fstat(file, &standard) == 0 && (fcntl(file, F_GETFL) & O_ACCMODE) != O_RDONLY;
    if (open && standard.st_dev == there.st_dev && standard.st_ino == there.st_ino) return file;
  }
  return -1;
}

/// Writes directly to what cannot be replaced. Other writers of the same file wait meanwhile.
void write_in_place(const std::string& path, const std::function<void(std::ostream&)>& write) {
  if (const int standard = standard_file(path); standard >= 0) {
    // Earlier and later output goes to the same file, so this is appended.
    File same(fcntl(standard, F_DUPFD_CLOEXEC, 0));
    return write_into(same, path, write);
  }
  constexpr mode_t kMode = 0666;
  File file(open(path.c_str(), O_WRONLY | O_CLOEXEC));  // O_CREAT may be refused for another user's file
  if (!file.is_open() && errno == ENOENT) file = File(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, kMode));
  if (!file.is_open()) throw std::system_error(errno, std::generic_category(), path);
  struct stat status {};
  if (fstat(file.number(), &status) == 0 && S_ISREG(status.st_mode)) {
    flock(file.number(), LOCK_EX);
    if (ftruncate(file.number(), 0) != 0) throw std::system_error(errno, std::generic_category(), path);
  }
  write_into(file, path, write);
}

/// The new file gets the permissions of the old one, except for setuid: its owner is the user who writes it.
void keep_permissions(int file, const std::string& path) {
  struct stat status {};
  constexpr mode_t kPermissions = 0777;
  if (stat(path.c_str(), &status) == 0 && (status.st_mode & (S_ISUID | S_ISGID)) == 0)
    fchmod(file, status.st_mode & kPermissions);
}

}  // namespace

void write_whole_file(const std::string& path, const std::function<void(std::ostream&)>& write) {
  if (path.find('\0') != std::string::npos) throw std::system_error(EINVAL, std::generic_category(), path);
  if (!can_be_replaced(path)) return write_in_place(path, write);
  const fs::path folder_path = folder_of(path);
  const File folder(open(folder_path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) return write_in_place(path, write);  // a folder that may be written to but not read
  remove_left(folder.number(), folder_path);
  Beside beside(folder.number(), path);
  keep_permissions(beside.file().number(), path);
  write_into(beside.file(), path, write);
  if (!beside.rename_to(fs::path(path).filename().string()))
    throw std::system_error(errno, std::generic_category(), path);
}

void leave_nothing_on_signals() {
  handled = true;
  for (const int signal : kSignals) {
    const auto before = std::signal(signal, remove_and_end);
    if (before != SIG_DFL) std::signal(signal, before);  // another handler, or ignored as in the background
  }
}

}  // namespace loco::trace
