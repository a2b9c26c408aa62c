// Simulated time: clocks, sleeping, alarms.
//
// The first clock read after anything else takes no time, each further one in a row 20 ns: a loop that waits for a time
// gets there, and a program that reads a clock around an operation does not measure the reading. If a read would show
// the same as the one before, because the clock has a resolution of microseconds, it stands for all reads until the
// clock changes. A program that only reads clocks runs ahead by a quantum that doubles from 1 to 64 us, and then grows
// to a 64th of the time since the first read, so that a long wait does not change control every few reads.
#include <csignal>
#include <cstring>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#include "exec/shim/shim.hpp"

namespace loco::shim {

namespace {

constexpr std::int64_t kQuantumMin = 1'000'000;
constexpr std::int64_t kQuantumSoon = 64'000'000;
constexpr std::int64_t kQuantumMax = 1'000'000'000;
constexpr std::int64_t kQuantumShare = 64;
constexpr std::int64_t kMicrosecond = 1'000'000;
constexpr std::int64_t kEpochSeconds = 1'700'000'000;  // 2023-11-14 22:13:20 UTC
constexpr std::int64_t kBootSeconds = 1000;

/// Clock reads in a row.
struct Row {
  std::int64_t quantum = kQuantumMin;
  std::int64_t looks = 0;
  std::int64_t began = 0;
  std::int64_t unit = 0;  ///< resolution of the clock read last
  std::int64_t seen = 0;  ///< what it showed
};
thread_local Row t_row __attribute__((tls_model("initial-exec")));

std::int64_t now_of(const Channel& c) { return c.now_ps + c.ahead_ps; }

/// Reads until the clock, which shows multiples of `unit`, shows something else, or the quantum is over.
void look_again(Channel& c, std::int64_t unit) {
  const std::int64_t until_other = (t_row.seen + 1) * unit - now_of(c);
  const std::int64_t until_over = t_row.quantum - c.ahead_ps + 1;
  const std::int64_t time = until_other < until_over ? until_other : until_over;
  if (time > 0) c.ahead_ps += (time + c.facts.clock_ps - 1) / c.facts.clock_ps * c.facts.clock_ps;
}

std::int64_t alarm_at = 0;  // 0: none
std::int64_t alarm_again = 0;

std::int64_t seconds_since(clockid_t clock) {
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI) return kEpochSeconds;
  return clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID ? 0 : kBootSeconds;
}

bool conducted() { return channel() != nullptr || is_forked_child(); }

void set(timespec& out, std::int64_t ps, std::int64_t since) {
  out.tv_sec = since + ps / kSecond;
  out.tv_nsec = ps % kSecond / 1000;
}

/// The conductor then wakes the waiting thread.
void set_alarm(std::int64_t at) {
  alarm_at = at;
  if (Channel* const c = channel()) c->alarm_ps = at;
}

void check_alarm(std::int64_t now) {
  if (alarm_at == 0 || now < alarm_at) return;
  set_alarm(alarm_again == 0 ? 0 : now + alarm_again);
  note_interruption();
  raise(SIGALRM);
}

int doze(std::int64_t ps) {
  Channel* const c = channel();
  if (ps < 0) ps = 0;
  if (c == nullptr) {
    const timespec t{ps / kSecond, ps % kSecond / 1000};
    return static_cast<int>(system_call(SYS_nanosleep, &t, nullptr));
  }
  const std::int64_t now = now_of(*c);
  if (alarm_at != 0 && alarm_at < now + ps) {
    call(Request::sleep, static_cast<std::uint64_t>(alarm_at > now ? alarm_at - now : 0));
    check_alarm(c->now_ps);
    return failed(EINTR);
  }
  call(Request::sleep, static_cast<std::uint64_t>(ps));
  return 0;
}

}  // namespace

std::int64_t program_time() { return now_of(*channel()); }

void forget_alarm() { set_alarm(0); }

void clock_used_otherwise() {
  t_row.quantum = kQuantumMin;
  t_row.looks = 0;
  if (alarm_at != 0) [[unlikely]] {
    if (const Channel* c = channel()) check_alarm(now_of(*c));
  }
}

std::int64_t read_clock(std::int64_t unit) {
  Channel* const c = channel();
  if (c == nullptr) return last_time();
  if (t_row.looks++ == 0) {
    t_row.began = now_of(*c);
    t_row.unit = 0;
  } else {
    c->ahead_ps += c->facts.clock_ps;
  }
  if (unit == t_row.unit && unit > 1 && now_of(*c) / unit == t_row.seen) look_again(*c, unit);
  if (c->ahead_ps > t_row.quantum) {
    call(Request::sync);
    const std::int64_t share = (c->now_ps - t_row.began) / kQuantumShare;
    const std::int64_t most = share < kQuantumSoon ? kQuantumSoon : share < kQuantumMax ? share : kQuantumMax;
    t_row.quantum = 2 * t_row.quantum < most ? 2 * t_row.quantum : most;
  }
  const std::int64_t now = now_of(*c);
  t_row.unit = unit;
  t_row.seen = unit == 1 ? 0 : now / unit;
  check_alarm(now);
  return now;
}

}  // namespace loco::shim

using namespace loco::shim;

LOCO_EXPORT int gettimeofday(timeval* __restrict t, void* __restrict zone) noexcept {
  LOCO_NEXT(gettimeofday);
  if (!conducted()) return next_gettimeofday(t, zone);
  const std::int64_t us = read_clock(kMicrosecond) / kMicrosecond;
  if (t != nullptr) *t = {kEpochSeconds + us / 1'000'000, us % 1'000'000};
  return 0;
}

LOCO_EXPORT int clock_gettime(clockid_t clock, timespec* t) noexcept {
  LOCO_NEXT(clock_gettime);
  if (!conducted()) return next_clock_gettime(clock, t);
  set(*t, read_clock(), seconds_since(clock));
  return 0;
}

LOCO_EXPORT int clock_getres(clockid_t, timespec* t) noexcept {
  if (t != nullptr) *t = {0, 1};
  return 0;
}

LOCO_EXPORT int timespec_get(timespec* t, int base) noexcept {
  clock_gettime(CLOCK_REALTIME, t);
  return base;
}

LOCO_EXPORT time_t time(time_t* out) noexcept {
  LOCO_NEXT(time);
  const time_t now = conducted() ? kEpochSeconds + read_clock(kSecond) / kSecond : next_time(nullptr);
  if (out != nullptr) *out = now;
  return now;
}

LOCO_EXPORT clock_t clock() noexcept {
  LOCO_NEXT(clock);
  return conducted() ? static_cast<clock_t>(read_clock(kMicrosecond) / kMicrosecond) : next_clock();
}

/// The processor has worked for the program all the time.
LOCO_EXPORT clock_t times(tms* out) noexcept {
  LOCO_NEXT(times);
  if (!conducted()) return next_times(out);
  constexpr std::int64_t kTick = kSecond / 100;
  const auto ticks = static_cast<clock_t>(read_clock(kTick) / kTick);
  if (out != nullptr) *out = {ticks, 0, 0, 0};
  return ticks + kBootSeconds * 100;
}

LOCO_EXPORT int getrusage(__rusage_who_t who, rusage* out) noexcept {
  LOCO_NEXT(getrusage);
  if (!conducted()) return next_getrusage(who, out);
  *out = {};
  const std::int64_t us = who == RUSAGE_CHILDREN ? 0 : read_clock(kMicrosecond) / kMicrosecond;
  out->ru_utime = {us / 1'000'000, us % 1'000'000};
  return 0;
}

LOCO_EXPORT int usleep(useconds_t us) { return doze(std::int64_t{us} * 1'000'000); }

LOCO_EXPORT unsigned sleep(unsigned seconds) {
  const Channel* const c = channel();
  const std::int64_t end = (c == nullptr ? 0 : now_of(*c)) + seconds * kSecond;
  if (doze(seconds * kSecond) == 0 || c == nullptr) return 0;
  return static_cast<unsigned>((end - c->now_ps + kSecond - 1) / kSecond);
}

LOCO_EXPORT int nanosleep(const timespec* t, timespec* left) {
  if (t->tv_nsec < 0 || t->tv_nsec > 999'999'999 || t->tv_sec < 0) return failed(EINVAL);
  const Channel* const c = channel();
  const std::int64_t end = (c == nullptr ? 0 : now_of(*c)) + picoseconds(*t);
  const int result = doze(picoseconds(*t));
  if (result != 0 && left != nullptr && c != nullptr) set(*left, end - c->now_ps, 0);
  return result;
}

LOCO_EXPORT int clock_nanosleep(clockid_t clock, int flags, const timespec* t, timespec* left) {
  LOCO_CONDUCTED(clock_nanosleep, clock, flags, t, left);
  if ((flags & TIMER_ABSTIME) == 0) return nanosleep(t, left) == 0 ? 0 : errno;
  const std::int64_t until = picoseconds(*t) - seconds_since(clock) * kSecond;
  return doze(until - read_clock()) == 0 ? 0 : EINTR;
}

LOCO_EXPORT unsigned alarm(unsigned seconds) noexcept {
  LOCO_CONDUCTED(alarm, seconds);
  const std::int64_t now = read_clock();
  const std::int64_t left = alarm_at == 0 ? 0 : alarm_at - now;
  set_alarm(seconds == 0 ? 0 : now + seconds * kSecond);
  alarm_again = 0;
  return static_cast<unsigned>((left + kSecond - 1) / kSecond);
}

LOCO_EXPORT int setitimer(__itimer_which_t which, const itimerval* __restrict value,
                          itimerval* __restrict old) noexcept {
  LOCO_NEXT(setitimer);
  if (channel() == nullptr || which != ITIMER_REAL) return next_setitimer(which, value, old);
  const auto time = [](const timeval& t) { return t.tv_sec * kSecond + t.tv_usec * 1'000'000; };
  const std::int64_t now = read_clock();
  if (old != nullptr) std::memset(old, 0, sizeof(*old));
  set_alarm(time(value->it_value) == 0 ? 0 : now + time(value->it_value));
  alarm_again = time(value->it_interval);
  return 0;
}
