#include "fabric/flow/child.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <iostream>
#include <poll.h>
#include <string_view>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace loco::fabric {

namespace {

struct Pipe {
  std::array<int, 2> ends{-1, -1};
  Pipe() {
    if (pipe(ends.data()) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_end(std::size_t end) {
    if (ends[end] >= 0) close(ends[end]);
    ends[end] = -1;
  }
};

void write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(file, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(3);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

[[noreturn]] void be_child(const std::function<std::string()>& work, Pipe& answer, Pipe& words) {
  signal(SIGPIPE, SIG_DFL);  // a parent that is gone wants no answer, and is missed when nobody else can read it
  answer.close_end(0);
  words.close_end(0);
  dup2(words.ends[1], STDERR_FILENO);
  const std::string bytes = work();
  const std::uint64_t size = bytes.size();
  write_all(answer.ends[1], {reinterpret_cast<const char*>(&size), sizeof size});
  write_all(answer.ends[1], bytes);
  _exit(0);
}

/// Reads what is there; false at the end.
bool take(int file, std::string& into) {
  std::array<char, 1U << 16U> block;
  const ssize_t n = read(file, block.data(), block.size());
  if (n < 0) return errno == EINTR || errno == EAGAIN;
  into.append(block.data(), static_cast<std::size_t>(n));
  return n != 0;
}

/// The first thing said is the reason; what follows are stacks.
std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

bool run_in_child(const std::function<std::string()>& work, const std::function<bool()>& interrupted,
                  std::string& answer) {
  Pipe results;
  Pipe words;
  std::cout.flush();  // what is not written yet would be written by both
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) be_child(work, results, words);
  results.close_end(1);
  words.close_end(1);
  std::string bytes;
  std::string said;
  std::array<pollfd, 2> files{{{results.ends[0], POLLIN, 0}, {words.ends[0], POLLIN, 0}}};
  while (files[0].fd >= 0 || files[1].fd >= 0) {
    constexpr int kAskEveryMs = 100;
    const int ready = poll(files.data(), files.size(), kAskEveryMs);
    if (interrupted && interrupted()) {
      kill(child, SIGKILL);
      wait_for(child);
      return false;
    }
    if (ready <= 0) continue;
    if (files[0].revents != 0 && !take(files[0].fd, bytes)) files[0].fd = -1;
    if (files[1].revents != 0 && !take(files[1].fd, said)) files[1].fd = -1;
  }
  const int status = wait_for(child);
  std::uint64_t size = 0;
  if (bytes.size() >= sizeof size) std::memcpy(&size, bytes.data(), sizeof size);
  if (bytes.size() < sizeof size || bytes.size() - sizeof size != size) {
    throw ChildError(fmt::format("the process of the run ended {}{}{}",
                                 WIFSIGNALED(status) ? fmt::format("by signal {}", WTERMSIG(status))
                                                     : fmt::format("with status {}", WEXITSTATUS(status)),
                                 said.empty() ? "" : ": ", first_line(said)));
  }
  answer = bytes.substr(sizeof size);
  return true;
}

}  // namespace loco::fabric
