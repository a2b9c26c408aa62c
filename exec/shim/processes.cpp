// Processes: a program that execs continues as the same one, while children that the C library forks by itself are not
// conducted. Sources of randomness are functions of the host and the run's seed.
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "exec/shim/children.hpp"
#include "exec/shim/shim.hpp"
#include "exec/shim/signals.hpp"

namespace loco::shim {

namespace {

bool forks_by_name = false;  ///< in fork() below, whose child has a channel

/// The C library forks by itself in some functions; that child is not conducted.
void in_child() {
  if (forks_by_name) return;
  leave_conductor();
  prctl(PR_SET_PDEATHSIG, 9 /* SIGKILL */);
}

void in_parent() {
  Channel* const c = channel();
  if (c != nullptr && !forks_by_name) c->forked = 1;
}

[[gnu::constructor]] void watch_forks() { pthread_atfork(nullptr, in_parent, in_child); }

std::uint64_t random_state = 0;
int parent_shown = 1;

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
std::uint64_t random_word() {
  if (random_state == 0)
    random_state = channel()->facts.seed * 0x9e3779b97f4a7c15ULL + (channel()->facts.host + 1) * 0xd1b54a32d192ed03ULL +
                   channel()->facts.process * 0x8cb92ba72f3d8dd7ULL;
  std::uint64_t z = random_state += 0x9e3779b97f4a7c15ULL;
  z = (z ^ z >> 30U) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ z >> 27U) * 0x94d049bb133111ebULL;
  return z ^ z >> 31U;
}

}  // namespace

int shown_id() { return shown_id_of(channel()->facts.process); }
int shown_id_of(std::uint32_t process) {
  constexpr int kFirst = 1000, kOfAHost = 10, kFirstChild = 10'000, kChildrenOfAHost = 1000;
  const auto host = static_cast<int>(channel()->facts.host);
  if (process == 0) return kFirst + kOfAHost * host;
  return kFirstChild + kChildrenOfAHost * host + 10 * static_cast<int>(process);
}

void fill_start_bytes(void* out) {
  const std::uint64_t kept = random_state;
  random_state = ~(channel()->facts.seed * 0x9e3779b97f4a7c15ULL + channel()->facts.host);
  fill_random(out, 16);
  random_state = kept;
}

int parent_shown_id() { return parent_shown; }

int fork_conducted() {
  LOCO_NEXT(fork);
  open_pages();
  int file = -1;
  Channel* const c = new_channel(file);
  if (c == nullptr) return failed(EAGAIN);
  copy_streams();
  set_family();
  forks_by_name = true;
  const pid_t child = next_fork();
  forks_by_name = false;
  if (child == 0) {
    parent_shown = shown_id();
    become_child(c, file);
    prctl(PR_SET_PDEATHSIG, silence_signal());
    random_state = 0;
    forget_threads();
    forget_alarm();
    forget_children();
    call(Request::start);
    return 0;
  }
  int shown = -1;
  if (child > 0) {
    shown = shown_id_of(static_cast<std::uint32_t>(
        call(Request::process_start, static_cast<std::uint64_t>(file), static_cast<std::uint64_t>(child))));
    note_child(child, shown);
  }
  munmap(c, sizeof(Channel));
  system_call(SYS_close, file);
  return shown;
}

void fill_random(void* out, std::size_t bytes) {
  auto* at = static_cast<char*>(out);
  for (std::size_t done = 0; done < bytes; done += 8) {
    const std::uint64_t word = random_word();
    std::memcpy(at + done, &word, bytes - done < 8 ? bytes - done : 8);
  }
}

}  // namespace loco::shim

using namespace loco::shim;

LOCO_EXPORT pid_t getpid() noexcept {
  LOCO_NEXT(getpid);
  return channel() == nullptr ? next_getpid() : shown_id();
}

LOCO_EXPORT pid_t getppid() noexcept {
  LOCO_NEXT(getppid);
  return channel() == nullptr ? next_getppid() : parent_shown_id();
}

LOCO_EXPORT ssize_t getrandom(void* out, std::size_t bytes, unsigned flags) {
  LOCO_CONDUCTED(getrandom, out, bytes, flags);
  fill_random(out, bytes);
  return static_cast<ssize_t>(bytes);
}

LOCO_EXPORT int getentropy(void* out, std::size_t bytes) {
  return getrandom(out, bytes, 0) == static_cast<ssize_t>(bytes) ? 0 : -1;
}

LOCO_EXPORT std::uint32_t arc4random() noexcept {
  std::uint32_t word = 0;
  getrandom(&word, sizeof(word), 0);
  return word;
}

LOCO_EXPORT void arc4random_buf(void* out, std::size_t bytes) noexcept { getrandom(out, bytes, 0); }

LOCO_EXPORT std::uint32_t arc4random_uniform(std::uint32_t bound) noexcept {
  return bound == 0 ? 0 : static_cast<std::uint32_t>((std::uint64_t{arc4random()} * bound) >> 32U);
}

// --- exec ------------------------------------------------------------------------------------------------------------

// The trap of the time-stamp counter would survive exec, and the loader uses the counter before there is a handler. The
// program itself continues as another image with the same channel; a child (also of vfork, which shares this memory) is
// not conducted.

namespace loco::shim {

namespace {

bool own_process() { return channel() != nullptr && system_call(SYS_getpid) == attached_process(); }

/// The variables for the new image: those given, and the channel's.
char** with_channel(char* const environment[], char* variable, std::size_t bytes) {
  std::size_t count = 0;
  while (environment != nullptr && environment[count] != nullptr) ++count;
  auto** const out = static_cast<char**>(std::calloc(count + 2, sizeof(char*)));
  if (out == nullptr) return nullptr;
  for (std::size_t i = 0; i < count; ++i) out[i] = environment[i];
  std::snprintf(variable, bytes, "%s=%d", kChannelVariable, channel_file());
  out[count] = variable;
  return out;
}

/// Calls `become` with the environment of the new image. Returns only if that failed.
template <typename Become>
int become_another(char* const environment[], Become become) {
  char variable[64];
  char** const changed = own_process() ? with_channel(environment, variable, sizeof(variable)) : nullptr;
  if (changed != nullptr) keep_channel_at_exec(true);
  if (counter_trapped()) prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
  const int result = become(changed != nullptr ? changed : environment);
  const int error = errno;
  trap_counter_of_thread();
  if (changed != nullptr) keep_channel_at_exec(false);
  std::free(changed);
  errno = error;
  return result;
}

}  // namespace
}  // namespace loco::shim

LOCO_EXPORT int execve(const char* path, char* const arguments[], char* const environment[]) noexcept {
  LOCO_NEXT(execve);
  return become_another(environment, [&](char* const* all) { return next_execve(path, arguments, all); });
}

LOCO_EXPORT int execvpe(const char* file, char* const arguments[], char* const environment[]) noexcept {
  LOCO_NEXT(execvpe);
  return become_another(environment, [&](char* const* all) { return next_execvpe(file, arguments, all); });
}

LOCO_EXPORT int execv(const char* path, char* const arguments[]) noexcept { return execve(path, arguments, environ); }
LOCO_EXPORT int execvp(const char* file, char* const arguments[]) noexcept { return execvpe(file, arguments, environ); }

// execl and its kin call the C library's own execve.
#define LOCO_ARGUMENTS(first)                                                                                \
  char* words[kWordsMax];                                                                                    \
  std::size_t count = 0;                                                                                     \
  va_list more;                                                                                              \
  va_start(more, first);                                                                                     \
  for (words[count++] = const_cast<char*>(first); words[count - 1] != nullptr && count < kWordsMax; ++count) \
    words[count] = va_arg(more, char*);                                                                      \
  words[count - 1] = nullptr

namespace {

constexpr std::size_t kWordsMax = 1024;

/// For the time in which the C library starts children itself.
class Untrapped {
 public:
  Untrapped() {
    if (counter_trapped()) prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
  }
  ~Untrapped() { trap_counter_of_thread(); }
  Untrapped(const Untrapped&) = delete;
  Untrapped& operator=(const Untrapped&) = delete;
};

}  // namespace

LOCO_EXPORT int execl(const char* path, const char* first, ...) noexcept {
  LOCO_ARGUMENTS(first);
  va_end(more);
  return execve(path, words, environ);
}

LOCO_EXPORT int execlp(const char* file, const char* first, ...) noexcept {
  LOCO_ARGUMENTS(first);
  va_end(more);
  return execvpe(file, words, environ);
}

LOCO_EXPORT int execle(const char* path, const char* first, ...) noexcept {
  LOCO_ARGUMENTS(first);
  char* const* const environment = va_arg(more, char* const*);
  va_end(more);
  return execve(path, words, environment);
}

LOCO_EXPORT int posix_spawn(pid_t* __restrict process, const char* __restrict path,
                            const posix_spawn_file_actions_t* __restrict actions,
                            const posix_spawnattr_t* __restrict attributes, char* const arguments[],
                            char* const environment[]) {
  LOCO_NEXT(posix_spawn);
  const Untrapped untrapped;
  return next_posix_spawn(process, path, actions, attributes, arguments, environment);
}

LOCO_EXPORT int posix_spawnp(pid_t* __restrict process, const char* __restrict file,
                             const posix_spawn_file_actions_t* __restrict actions,
                             const posix_spawnattr_t* __restrict attributes, char* const arguments[],
                             char* const environment[]) {
  LOCO_NEXT(posix_spawnp);
  const Untrapped untrapped;
  return next_posix_spawnp(process, file, actions, attributes, arguments, environment);
}

LOCO_EXPORT int system(const char* command) {
  LOCO_NEXT(system);
  const Untrapped untrapped;
  return next_system(command);
}

LOCO_EXPORT FILE* popen(const char* command, const char* mode) {
  LOCO_NEXT(popen);
  const Untrapped untrapped;
  return next_popen(command, mode);
}

// Signals to the process itself, by the number that getpid gives.

LOCO_EXPORT int fcntl(int file, int command, ...) {
  va_list more;
  va_start(more, command);
  void* argument = va_arg(more, void*);
  va_end(more);
  if (command == F_SETOWN && channel() != nullptr && reinterpret_cast<std::intptr_t>(argument) == shown_id())
    argument = reinterpret_cast<void*>(static_cast<std::intptr_t>(system_call(SYS_getpid)));
  LOCO_NEXT(fcntl);
  return next_fcntl(file, command, argument);
}

LOCO_EXPORT int fcntl64(int file, int command, ...) __attribute__((alias("fcntl")));  // the same on 64 bits

/// Hosts have one core, so affinity changes nothing.
LOCO_EXPORT int sched_setaffinity(pid_t process, std::size_t bytes, const cpu_set_t* set) noexcept {
  LOCO_NEXT(sched_setaffinity);
  return channel() == nullptr ? next_sched_setaffinity(process, bytes, set) : 0;
}

LOCO_EXPORT int pthread_setaffinity_np(pthread_t thread, std::size_t bytes, const cpu_set_t* set) noexcept {
  LOCO_NEXT(pthread_setaffinity_np);
  return channel() == nullptr ? next_pthread_setaffinity_np(thread, bytes, set) : 0;
}

/// For a remote shell (stubs/ssh.cpp): from now on this process is one of another host. 0, or an error.
LOCO_EXPORT int loco_sim_move(unsigned host) {
  return channel() == nullptr ? ESRCH : static_cast<int>(call(Request::move, host));
}
