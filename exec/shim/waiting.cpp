// poll, select and epoll: they look, and wait in simulated time if nothing is ready.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>

#include "exec/shim/files.hpp"

namespace loco::shim {

namespace {

/// Calls `look_now` until it finds something, fails, or `wait` (picoseconds, or kNever) has passed.
template <typename Look>
int wait_in_time(std::int64_t wait, Look look_now) {
  const auto look = [&] {
    settle_all();
    return look_now();
  };
  static_cast<void>(take_interruption());
  int found = look();
  if (found != 0) {
    break_cycle();
    return found;
  }
  if (wait == 0) {
    note_empty_look();
    return 0;
  }
  const std::int64_t deadline = wait == kNever ? kNever : program_time() + wait;
  while (true) {
    const bool over = call(Request::wait_io, static_cast<std::uint64_t>(deadline)) != 0;
    found = look();
    if (found != 0 || over) return found;
    if (take_interruption()) return failed(EINTR);
  }
}

std::int64_t milliseconds(int ms) { return ms < 0 ? kNever : std::int64_t{ms} * (kSecond / 1000); }
std::int64_t duration(const timespec* t) { return t == nullptr ? kNever : picoseconds(*t); }

}  // namespace
}  // namespace loco::shim

using namespace loco::shim;

LOCO_EXPORT int poll(pollfd* files, nfds_t count, int timeout) {
  LOCO_CONDUCTED(poll, files, count, timeout);
  open_pages();
  return wait_in_time(milliseconds(timeout), [&] { return next_poll(files, count, 0); });
}

LOCO_EXPORT int __poll_chk(pollfd* files, nfds_t count, int timeout, std::size_t) {
  return poll(files, count, timeout);
}

LOCO_EXPORT int ppoll(pollfd* files, nfds_t count, const timespec* timeout, const sigset_t* mask) {
  LOCO_CONDUCTED(ppoll, files, count, timeout, mask);
  open_pages();
  const timespec none{};
  return wait_in_time(duration(timeout), [&] { return next_ppoll(files, count, &none, mask); });
}

LOCO_EXPORT int __ppoll_chk(pollfd* files, nfds_t count, const timespec* timeout, const sigset_t* mask, std::size_t) {
  return ppoll(files, count, timeout, mask);
}

namespace {

template <typename Select>
int select_in_time(fd_set* read, fd_set* write, fd_set* except, std::int64_t wait, Select select_now) {
  open_pages();
  fd_set wanted[3] = {};
  fd_set* const sets[3] = {read, write, except};
  for (int i = 0; i < 3; ++i)
    if (sets[i] != nullptr) wanted[i] = *sets[i];
  return wait_in_time(wait, [&] {
    for (int i = 0; i < 3; ++i)
      if (sets[i] != nullptr) *sets[i] = wanted[i];
    return select_now();
  });
}

}  // namespace

LOCO_EXPORT int select(int count, fd_set* __restrict read, fd_set* __restrict write, fd_set* __restrict except,
                       timeval* __restrict timeout) {
  LOCO_CONDUCTED(select, count, read, write, except, timeout);
  const std::int64_t wait = timeout == nullptr ? kNever : timeout->tv_sec * kSecond + timeout->tv_usec * 1'000'000;
  return select_in_time(read, write, except, wait, [&] {
    timeval none{};
    return next_select(count, read, write, except, &none);
  });
}

LOCO_EXPORT int pselect(int count, fd_set* __restrict read, fd_set* __restrict write, fd_set* __restrict except,
                        const timespec* __restrict timeout, const sigset_t* __restrict mask) {
  LOCO_CONDUCTED(pselect, count, read, write, except, timeout, mask);
  const timespec none{};
  return select_in_time(read, write, except, duration(timeout),
                        [&] { return next_pselect(count, read, write, except, &none, mask); });
}

LOCO_EXPORT int epoll_wait(int file, epoll_event* events, int most, int timeout) {
  LOCO_CONDUCTED(epoll_wait, file, events, most, timeout);
  open_pages();
  return wait_in_time(milliseconds(timeout), [&] { return next_epoll_wait(file, events, most, 0); });
}

LOCO_EXPORT int epoll_pwait(int file, epoll_event* events, int most, int timeout, const sigset_t* mask) {
  LOCO_CONDUCTED(epoll_pwait, file, events, most, timeout, mask);
  open_pages();
  return wait_in_time(milliseconds(timeout), [&] { return next_epoll_pwait(file, events, most, 0, mask); });
}
