// The calls of rsocket(7) that move data, and those that wait for it.
#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <rdma/rsocket.h>
#include <sys/uio.h>
#include <time.h>

#include "exec/shim/cm/datagrams.hpp"

using namespace loco::cm;

namespace {

/// Null if it is another kind of socket, or none.
RSocket* datagrams_of(int file) {
  RSocket* const s = rsocket_of(file);
  return s != nullptr && s->datagrams != nullptr ? s : nullptr;
}

ssize_t receive(RSocket& s, void* out, std::size_t bytes, int flags, sockaddr* from, socklen_t* length) {
  const iovec piece{out, bytes};
  return receive_datagram(s, &piece, 1, blocks(s, flags), (flags & MSG_PEEK) != 0, from, length);
}

ssize_t send(RSocket& s, const void* data, std::size_t bytes, int flags, const sockaddr* to) {
  const iovec piece{const_cast<void*>(data), bytes};
  return send_datagram(s, &piece, 1, blocks(s, flags), to);
}

std::int64_t clock_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// Checks all of them once.
int look(pollfd* files, nfds_t count) {
  int ready = 0;
  for (nfds_t i = 0; i < count; ++i) {
    pollfd& f = files[i];
    f.revents = 0;
    if (RSocket* const s = f.fd < 0 ? nullptr : rsocket_of(f.fd)) {
      f.revents = state_of(*s, f.events);
    } else if (f.fd >= 0) {
      poll(&f, 1, 0);
    }
    ready += f.revents != 0 ? 1 : 0;
  }
  return ready;
}

template <typename Call>
ssize_t each_piece(const iovec* pieces, int count, Call call) {
  ssize_t all = 0;
  for (int i = 0; i < count; ++i) {
    const ssize_t part = call(pieces[i].iov_base, pieces[i].iov_len);
    if (part < 0) return all != 0 ? all : part;
    all += part;
    if (static_cast<std::size_t>(part) < pieces[i].iov_len) break;
  }
  return all;
}

}  // namespace

LOCO_EXPORT ssize_t rrecv(int file, void* out, std::size_t bytes, int flags) {
  if (RSocket* const d = datagrams_of(file)) return receive(*d, out, bytes, flags, nullptr, nullptr);
  RSocket* const s = connected_rsocket(file);
  if (s == nullptr) return -1;
  const std::size_t least = (flags & MSG_WAITALL) != 0 ? bytes : 1;
  std::size_t done = 0;
  while (bytes != 0) {
    if (s->readable == 0) progress(*s);
    done += read_some(*s, static_cast<char*>(out) + done, bytes - done, (flags & MSG_PEEK) != 0);
    if (done >= least || (done != 0 && (flags & MSG_PEEK) != 0) || s->peer_ended) break;
    if (s->broken) return done != 0 ? static_cast<ssize_t>(done) : failed(ECONNRESET);
    if (blocks(*s, flags)) continue;
    return done != 0 ? static_cast<ssize_t>(done) : failed(EAGAIN);
  }
  return static_cast<ssize_t>(done);
}

LOCO_EXPORT ssize_t rsend(int file, const void* data, std::size_t bytes, int flags) {
  if (RSocket* const d = datagrams_of(file)) return send(*d, data, bytes, flags, nullptr);
  RSocket* const s = connected_rsocket(file);
  if (s == nullptr) return -1;
  std::size_t done = 0;
  while (done < bytes) {
    if (s->ended || s->peer_ended) return done != 0 ? static_cast<ssize_t>(done) : failed(EPIPE);
    if (!can_send(*s)) progress(*s);
    done += send_some(*s, static_cast<const char*>(data) + done, bytes - done);
    if (s->broken) return done != 0 ? static_cast<ssize_t>(done) : failed(ECONNRESET);
    if (done < bytes && !blocks(*s, flags) && !can_send(*s))
      return done != 0 ? static_cast<ssize_t>(done) : failed(EAGAIN);
  }
  return static_cast<ssize_t>(done);
}

LOCO_EXPORT ssize_t rrecvfrom(int file, void* out, std::size_t bytes, int flags, sockaddr* from, socklen_t* length) {
  if (RSocket* const d = datagrams_of(file)) return receive(*d, out, bytes, flags, from, length);
  const ssize_t got = rrecv(file, out, bytes, flags);
  if (got >= 0) rgetpeername(file, from, length);
  return got;
}
LOCO_EXPORT ssize_t rsendto(int file, const void* data, std::size_t bytes, int flags, const sockaddr* to, socklen_t) {
  if (RSocket* const d = datagrams_of(file)) return send(*d, data, bytes, flags, to);
  return rsend(file, data, bytes, flags);
}
LOCO_EXPORT ssize_t rrecvmsg(int file, msghdr* message, int flags) {
  if (RSocket* const d = datagrams_of(file))
    return receive_datagram(*d, message->msg_iov, message->msg_iovlen, blocks(*d, flags), (flags & MSG_PEEK) != 0,
                            static_cast<sockaddr*>(message->msg_name), &message->msg_namelen);
  return each_piece(message->msg_iov, static_cast<int>(message->msg_iovlen),
                    [&](void* at, std::size_t bytes) { return rrecv(file, at, bytes, flags); });
}
LOCO_EXPORT ssize_t rsendmsg(int file, const msghdr* message, int flags) {
  if (RSocket* const d = datagrams_of(file))
    return send_datagram(*d, message->msg_iov, message->msg_iovlen, blocks(*d, flags),
                         static_cast<const sockaddr*>(message->msg_name));
  return each_piece(message->msg_iov, static_cast<int>(message->msg_iovlen),
                    [&](void* at, std::size_t bytes) { return rsend(file, at, bytes, flags); });
}
LOCO_EXPORT ssize_t rread(int file, void* out, std::size_t bytes) { return rrecv(file, out, bytes, 0); }
LOCO_EXPORT ssize_t rwrite(int file, const void* data, std::size_t bytes) { return rsend(file, data, bytes, 0); }
LOCO_EXPORT ssize_t rreadv(int file, const iovec* pieces, int count) {
  if (RSocket* const d = datagrams_of(file))
    return receive_datagram(*d, pieces, static_cast<std::size_t>(count), blocks(*d, 0), false, nullptr, nullptr);
  return each_piece(pieces, count, [&](void* at, std::size_t bytes) { return rrecv(file, at, bytes, 0); });
}
LOCO_EXPORT ssize_t rwritev(int file, const iovec* pieces, int count) {
  if (RSocket* const d = datagrams_of(file))
    return send_datagram(*d, pieces, static_cast<std::size_t>(count), blocks(*d, 0), nullptr);
  return each_piece(pieces, count, [&](void* at, std::size_t bytes) { return rsend(file, at, bytes, 0); });
}

LOCO_EXPORT int rpoll(pollfd* files, nfds_t count, int timeout) {
  const std::int64_t end = timeout > 0 ? clock_ns() + std::int64_t{timeout} * 1'000'000 : 0;
  while (true) {
    const int ready = look(files, count);
    if (ready != 0 || timeout == 0 || (timeout > 0 && clock_ns() >= end)) return ready;
    if (std::none_of(files, files + count, [](const pollfd& f) {
          const RSocket* const s = f.fd < 0 ? nullptr : rsocket_of(f.fd);
          return s != nullptr && (s->connected || s->datagrams != nullptr);
        }))
      return poll(files, count, timeout);  // listeners become readable like other descriptors
  }
}

LOCO_EXPORT int rselect(int count, fd_set* reads, fd_set* writes, fd_set* errors, timeval* timeout) {
  pollfd files[FD_SETSIZE];
  nfds_t asked = 0;
  const auto in = [](fd_set* set, int file) { return set != nullptr && FD_ISSET(file, set); };
  for (int file = 0; file < count; ++file) {
    const auto events = static_cast<short>((in(reads, file) ? POLLIN : 0) | (in(writes, file) ? POLLOUT : 0));
    if (events != 0 || in(errors, file)) files[asked++] = {.fd = file, .events = events, .revents = 0};
  }
  const int ms = timeout == nullptr ? -1 : static_cast<int>(timeout->tv_sec * 1000 + timeout->tv_usec / 1000);
  if (rpoll(files, asked, ms) < 0) return -1;
  int ready = 0;
  const auto keep = [&](fd_set* set, const pollfd& f, short events) {
    if (!in(set, f.fd)) return;
    if ((f.revents & events) != 0)
      ++ready;
    else
      FD_CLR(f.fd, set);
  };
  for (nfds_t i = 0; i < asked; ++i) {
    keep(reads, files[i], POLLIN | POLLHUP);
    keep(writes, files[i], POLLOUT);
    keep(errors, files[i], POLLERR);
  }
  return ready;
}
