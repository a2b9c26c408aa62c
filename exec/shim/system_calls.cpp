// Direct system calls of programs: they get the same replacements as calls of the C library.
#include <cerrno>
#include <cstdarg>
#include <linux/futex.h>
#include <sched.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "exec/shim/shim.hpp"

namespace loco::shim {

namespace {

int shown_thread() { return shown_id() + thread_number(); }

/// The simulated time at which a wait ends.
std::int64_t deadline_of(int operation, const timespec* timeout) {
  if (timeout == nullptr) return kNever;
  const std::int64_t now = program_time();
  if ((operation & FUTEX_CMD_MASK) == FUTEX_WAIT) return now + picoseconds(*timeout);
  timespec clock;
  clock_gettime((operation & FUTEX_CLOCK_REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC, &clock);
  const std::int64_t left = picoseconds(*timeout) - picoseconds(clock);
  return now + (left > 0 ? left : 0);
}

/// Only threads of the process wake each other: a wait ends after any of them has released something, and its caller
/// looks again, as futex(2) requires.
long futex(const int* word, int operation, int value, const timespec* timeout) {
  switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
      if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != value) return failed(EAGAIN);
      if (!wait_for_release(deadline_of(operation, timeout))) return 0;
      return failed(ETIMEDOUT);
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
    case FUTEX_WAKE_OP:
      release();
      return 1;
    default:
      return failed(ENOSYS);
  }
}

}  // namespace
}  // namespace loco::shim

using namespace loco::shim;

LOCO_EXPORT long syscall(long number, ...) noexcept {
  va_list more;
  va_start(more, number);
  long a[6];
  for (long& word : a) word = va_arg(more, long);
  va_end(more);
  if (channel() != nullptr) {
    switch (number) {
      case SYS_getpid:
        return shown_id();
      case SYS_gettid:
        return shown_thread();
      case SYS_sched_yield:
        return sched_yield();
      case SYS_getrandom:
        return getrandom(reinterpret_cast<void*>(a[0]), static_cast<std::size_t>(a[1]), 0);
      case SYS_clock_gettime:
        return clock_gettime(static_cast<clockid_t>(a[0]), reinterpret_cast<timespec*>(a[1]));
      case SYS_nanosleep:
        return nanosleep(reinterpret_cast<const timespec*>(a[0]), reinterpret_cast<timespec*>(a[1]));
      case SYS_futex:
        return futex(reinterpret_cast<const int*>(a[0]), static_cast<int>(a[1]), static_cast<int>(a[2]),
                     reinterpret_cast<const timespec*>(a[3]));
      default:
        open_pages();
    }
  }
  return system_call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

LOCO_EXPORT pid_t gettid() noexcept {
  return channel() == nullptr ? static_cast<pid_t>(system_call(SYS_gettid)) : shown_thread();
}
