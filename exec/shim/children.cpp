// Waiting for children, and signals to them, by the process numbers that the program knows. A child that has ended can
// be waited for before its parent's next turn.
#include "exec/shim/children.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec/shim/shim.hpp"

namespace loco::shim {

namespace {

struct Child {
  pid_t real;
  int shown;
};
/// A child that is not conducted (of vfork, posix_spawn) is known by the kernel's number.
bool is_other_child(pid_t process) {
  siginfo_t info{};
  return system_call(SYS_waitid, P_PID, process, &info, WEXITED | WNOHANG | WNOWAIT, nullptr) == 0;
}

constexpr int kChildrenMax = 4096;
Child children[kChildrenMax];
int child_count = 0;

/// The kernel's number; 0 if none of this program's processes has that number. Numbers of other processes are never
/// passed to the kernel.
pid_t real_of(pid_t shown) {
  if (shown <= 0) return 0;
  if (shown == shown_id()) return static_cast<pid_t>(system_call(SYS_getpid));
  if (channel()->facts.process != 0 && shown == parent_shown_id()) return static_cast<pid_t>(system_call(SYS_getppid));
  for (int i = 0; i < child_count; ++i)
    if (children[i].shown == shown) return children[i].real;
  return is_other_child(shown) ? shown : 0;
}

bool is_conducted(pid_t real) {
  for (int i = 0; i < child_count; ++i)
    if (children[i].real == real) return true;
  return false;
}

/// A child has been waited for, so the kernel may reuse its number.
int take_shown(pid_t real) {
  for (int i = 0; i < child_count; ++i) {
    if (children[i].real != real) continue;
    const int shown = children[i].shown;
    children[i] = children[--child_count];
    return shown;
  }
  return real;
}

/// `look` waits for a child with these options; the result is the number that the program knows. A child that is not
/// conducted is waited for in real time.
template <typename Look>
pid_t wait_in_turns(pid_t real, int options, Look look) {
  open_pages();
  const bool conducted = real > 0 ? is_conducted(real) : child_count != 0;
  if (channel() == nullptr || !conducted) return take_shown(look(options));
  static_cast<void>(take_interruption());
  while (true) {
    const pid_t found = look(options | WNOHANG);
    if (found != 0 || (options & WNOHANG) != 0) return found > 0 ? take_shown(found) : found;
    call(Request::wait_io, ~std::uint64_t{0});
    if (take_interruption() && look(options | WNOHANG | WNOWAIT) == 0) return failed(EINTR);
  }
}

/// True if the signal will end the process, according to /proc.
bool is_deadly(pid_t process, int signal) {
  if (signal == SIGKILL) return true;
  if (signal == 0 || signal == SIGCHLD || signal == SIGCONT || signal == SIGSTOP || signal == SIGURG) return false;
  char path[64];
  char text[4096] = {};
  std::snprintf(path, sizeof(path), "/proc/%d/status", process);
  const int file = static_cast<int>(system_call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC));
  if (file < 0) return false;
  system_call(SYS_read, file, text, sizeof(text) - 1);
  system_call(SYS_close, file);
  for (const char* name : {"SigBlk:", "SigIgn:", "SigCgt:"}) {
    const char* const at = std::strstr(text, name);
    if (at != nullptr && (std::strtoull(at + 7, nullptr, 16) >> (signal - 1) & 1U) != 0) return false;
  }
  return true;
}

bool has_ended(pid_t process) {
  char path[64];
  char text[512] = {};
  std::snprintf(path, sizeof(path), "/proc/%d/stat", process);
  const int file = static_cast<int>(system_call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC));
  if (file < 0) return true;
  system_call(SYS_read, file, text, sizeof(text) - 1);
  system_call(SYS_close, file);
  const char* const state = std::strrchr(text, ')');
  return state == nullptr || state[1] == 0 || state[2] == 'Z' || state[2] == 'X';
}

/// Waits, in real time, until a killed process is a zombie.
void wait_for_end(pid_t process) {
  for (int looks = 0; looks < 20'000 && !has_ended(process); ++looks) {
    const timespec shortly{0, 50'000};
    system_call(SYS_nanosleep, &shortly, nullptr);
  }
}

}  // namespace

void note_child(pid_t real, int shown) {
  if (child_count < kChildrenMax) children[child_count++] = {real, shown};
}

void forget_children() { child_count = 0; }

}  // namespace loco::shim

using namespace loco::shim;

LOCO_EXPORT pid_t fork() noexcept {
  LOCO_NEXT(fork);
  return channel() == nullptr ? next_fork() : fork_conducted();
}

LOCO_EXPORT int daemon(int stay, int keep) noexcept {
  LOCO_CONDUCTED(daemon, stay, keep);
  const pid_t child = fork_conducted();
  if (child < 0) return -1;
  if (child > 0) _exit(0);
  setsid();
  if (stay == 0 && chdir("/") != 0) return -1;
  if (keep != 0) return 0;
  const int nothing = static_cast<int>(system_call(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR));
  for (int file = 0; file < 3; ++file) system_call(SYS_dup2, nothing, file);
  if (nothing > 2) system_call(SYS_close, nothing);
  return 0;
}

LOCO_EXPORT pid_t setsid() noexcept {
  LOCO_NEXT(setsid);
  if (Channel* const c = channel()) c->daemon = 1;
  return next_setsid() < 0 ? -1 : getpid();
}

LOCO_EXPORT pid_t waitpid(pid_t process, int* status, int options) {
  LOCO_NEXT(waitpid);
  const pid_t real = channel() == nullptr || process <= 0 ? process : real_of(process);
  if (real == 0 && process > 0) return failed(ECHILD);
  return wait_in_turns(real, options, [&](int how) {
    if ((how & WNOWAIT) == 0) return next_waitpid(real, status, how);
    siginfo_t info{};  // checks that there is one
    return waitid(real > 0 ? P_PID : P_ALL, static_cast<id_t>(real > 0 ? real : 0), &info, WEXITED | how) == 0
               ? static_cast<pid_t>(info.si_pid)
               : -1;
  });
}

LOCO_EXPORT pid_t wait(int* status) { return waitpid(-1, status, 0); }

LOCO_EXPORT pid_t wait4(pid_t process, int* status, int options, rusage* usage) noexcept {
  if (usage != nullptr) std::memset(usage, 0, sizeof(*usage));
  return waitpid(process, status, options);
}

LOCO_EXPORT pid_t wait3(int* status, int options, rusage* usage) noexcept { return wait4(-1, status, options, usage); }

LOCO_EXPORT int waitid(idtype_t type, id_t id, siginfo_t* info, int options) {
  const pid_t real = type != P_PID          ? -1
                     : channel() == nullptr ? static_cast<pid_t>(id)
                                            : real_of(static_cast<pid_t>(id));
  siginfo_t own{};
  siginfo_t* const out = info == nullptr ? &own : info;
  const auto look = [&](int how) -> pid_t {
    out->si_pid = 0;
    const id_t which = type == P_PID ? static_cast<id_t>(real) : id;
    return system_call(SYS_waitid, type, which, out, how, nullptr) != 0 ? -1 : static_cast<pid_t>(out->si_pid);
  };
  if ((options & WNOWAIT) != 0 || channel() == nullptr) return look(options) < 0 ? -1 : 0;
  const pid_t found = wait_in_turns(real, options, look);
  if (found > 0) out->si_pid = found;
  return found < 0 ? -1 : 0;
}

// A standing child that the signal ends has ended when the call returns.
LOCO_EXPORT int kill(pid_t process, int signal) noexcept {
  LOCO_CONDUCTED(kill, process, signal);
  // for a group: its known member
  const pid_t real =
      process == 0 ? static_cast<pid_t>(system_call(SYS_getpid)) : real_of(process < 0 ? -process : process);
  if (real == 0 || process == -1) return failed(ESRCH);
  const bool other = real != system_call(SYS_getpid);
  const bool deadly = other && is_deadly(real, signal);
  const int result = next_kill(real, signal);
  if (result == 0 && other) {
    if (deadly) wait_for_end(real);
    channel()->io = 1;
    call(Request::sync);
  }
  if (process == 0)
    for (int i = 0; i < child_count; ++i) kill(children[i].shown, signal);
  return result;
}

LOCO_EXPORT int setpgid(pid_t process, pid_t group) noexcept {
  LOCO_NEXT(setpgid);
  const auto known = [](pid_t shown) { return channel() == nullptr || shown <= 0 ? shown : real_of(shown); };
  if ((process > 0 && known(process) == 0) || (group > 0 && known(group) == 0)) return failed(ESRCH);
  return next_setpgid(known(process), known(group));
}

LOCO_EXPORT int sigsuspend(const sigset_t* mask) {
  LOCO_NEXT(sigsuspend);
  while (channel() != nullptr) {
    sigset_t pending;
    sigpending(&pending);
    bool comes = false;
    for (int signal = 1; signal < 65; ++signal)
      comes = comes || (sigismember(&pending, signal) == 1 && sigismember(mask, signal) == 0);
    if (comes) break;
    call(Request::wait_io, ~std::uint64_t{0});
  }
  return next_sigsuspend(mask);
}

LOCO_EXPORT int pause() {
  LOCO_CONDUCTED(pause);
  static_cast<void>(take_interruption());
  while (!take_interruption()) call(Request::wait_io, ~std::uint64_t{0});
  return failed(EINTR);
}

namespace {

/// Hands over, except in a child of vfork, which only borrows this memory.
void leave() {
  Channel* const c = channel();
  if (c == nullptr || system_call(SYS_getpid) != attached_process()) return;
  untrap_counter();
  c->io = 1;
  call(Request::exit);
  set_channel(nullptr);
}

}  // namespace

LOCO_EXPORT __attribute__((noreturn)) void _exit(int status) {
  leave();
  end_now(status);
}

LOCO_EXPORT __attribute__((noreturn)) void _Exit(int status) noexcept { _exit(status); }

LOCO_EXPORT int close_range(unsigned from, unsigned to, int flags) noexcept {
  int result = 0;
  // leaves out the shim's own descriptors
  while (from <= to) {
    unsigned end = from;
    while (end <= to && end < 65'536 && !is_own_file(static_cast<int>(end))) ++end;
    const unsigned last = end > to || end >= 65'536 ? to : end - 1;
    if (end != from || last == to) result = static_cast<int>(system_call(SYS_close_range, from, last, flags));
    if (last == to) break;
    from = end + 1;
  }
  if (Channel* const c = channel()) c->io = 1;
  return result;
}

LOCO_EXPORT void closefrom(int from) noexcept { close_range(static_cast<unsigned>(from), ~0U, 0); }
