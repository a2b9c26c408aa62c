#include <ctime>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "verify/engine.hpp"

namespace loco::verify {

double thread_cpu_seconds() {
  timespec now{};
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0) return 0;
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

std::uint64_t heap_bytes() {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
#else
  return 0;
#endif
}

bool Limits::out_of_time() const {
  if (std::chrono::steady_clock::now() >= deadline) return true;
  return cpu_seconds_max > 0 && thread_cpu_seconds() - cpu_seconds_begin >= cpu_seconds_max;
}

void Limits::look_at_all() const {
  if (look) look();
  if (ticks_max != 0 && ticks_ > ticks_max) throw LimitReached("out of steps");
  if (out_of_time()) throw LimitReached("out of time");
  constexpr std::uint64_t kHeapEvery = 0x1000;  // each call walks through the free blocks
  if (heap_max == 0 || (ticks_ & (kHeapEvery - 1)) != 0) return;
  const std::uint64_t now = heap_bytes();
  if (now > heap_begin && now - heap_begin > heap_max) throw LimitReached("out of memory");
}

}  // namespace loco::verify
