// The calls of rsocket(7) and rdma/rsocket.h: streams (rsocket.hpp) as sockets. Datagrams are not supported.
//
// Connecting blocks even for a non-blocking socket: it takes some microseconds of simulated time.
#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <rdma/rsocket.h>
#include <sys/ioctl.h>
#include <time.h>

#include "exec/shim/cm/rsocket.hpp"

using namespace loco::cm;

namespace {

int not_there(const char* what) {
  loco_sim_unsupported(what);
  return fail(EOPNOTSUPP);
}

bool blocks(const RSocket& s, int flags) { return !s.nonblocking && (flags & MSG_DONTWAIT) == 0; }

/// The connected stream, or null with errno.
RSocket* connected(int file) {
  RSocket* const s = rsocket_of(file);
  if (s == nullptr || s->connected) return s;
  errno = ENOTCONN;
  return nullptr;
}

Offer offer_in(const rdma_cm_event& event) {
  Offer offer{};
  const rdma_conn_param& p = event.param.conn;
  if (p.private_data != nullptr && p.private_data_len >= sizeof(offer))
    std::memcpy(&offer, p.private_data, sizeof(offer));
  return offer;
}

rdma_conn_param parameters_of(const Offer& offer) {
  rdma_conn_param p{};
  p.private_data = &offer;
  p.private_data_len = sizeof(offer);
  p.responder_resources = RDMA_MAX_RESP_RES;
  p.initiator_depth = RDMA_MAX_INIT_DEPTH;
  p.retry_count = p.rnr_retry_count = 7;
  return p;
}

int copy_address(const sockaddr& from, sockaddr* to, socklen_t* bytes) {
  if (to == nullptr || bytes == nullptr) return 0;
  std::memcpy(to, &from, std::min<std::size_t>(*bytes, sizeof(sockaddr_in)));
  *bytes = sizeof(sockaddr_in);
  return 0;
}

void end_sending(RSocket& s) {
  if (s.ended || !s.connected) return;
  s.ended = true;
  if (!wait_until(s, [&s] { return s.peer_receives != 0 && s.requests + 1 < s.options.send_entries; })) return;
  Control end{};
  end.what = Tells::end;
  tell(s, end);
}

int tell_mapping(RSocket& s, const Control& control) {
  if (!wait_until(s, [&s] { return s.peer_receives > 1 && s.requests + 1 < s.options.send_entries; }))
    return fail(ECONNRESET);
  return tell(s, control) ? 0 : fail(ECONNRESET);
}

short state_of(RSocket& s, short wanted) {
  if (s.listening) {
    pollfd look{.fd = s.file, .events = POLLIN, .revents = 0};
    return static_cast<short>(poll(&look, 1, 0) > 0 ? wanted & POLLIN : 0);
  }
  const auto now = [&] {
    short out = 0;
    if (s.readable != 0 || s.peer_ended) out |= POLLIN;
    if (can_send(s) && !s.ended) out |= POLLOUT;
    out &= wanted;
    if (s.broken) out |= POLLERR;
    if (s.broken || (s.peer_ended && s.ended)) out |= POLLHUP;
    return out;
  };
  if (const short out = now()) return out;  // polls a queue only if nothing is ready yet
  progress(s);
  return now();
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

std::uint32_t* option_of(RSocket& s, int level, int name) {
  RSocketOptions& o = s.options;
  if (level == SOL_SOCKET) return name == SO_SNDBUF ? &o.send_bytes : name == SO_RCVBUF ? &o.receive_bytes : nullptr;
  if (level != SOL_RDMA) return nullptr;
  switch (name) {
    case RDMA_SQSIZE:
      return &o.send_entries;
    case RDMA_RQSIZE:
      return &o.receives;
    case RDMA_INLINE:
      return &o.inline_bytes;
    case RDMA_IOMAPSIZE:
      return &o.mappings;
    default:
      return nullptr;
  }
}

}  // namespace

LOCO_EXPORT int rsocket(int domain, int type, int) {
  if (domain != AF_INET && domain != AF_INET6) return fail(EAFNOSUPPORT);
  if ((type & 0xf) != SOCK_STREAM) return not_there("rsocket of datagrams");
  RSocket* const s = make_rsocket();
  if (s == nullptr) return -1;
  s->nonblocking = (type & SOCK_NONBLOCK) != 0;
  return s->file;
}

LOCO_EXPORT int rbind(int file, const sockaddr* address, socklen_t) {
  RSocket* const s = rsocket_of(file);
  if (s == nullptr || rdma_bind_addr(s->id, const_cast<sockaddr*>(address)) != 0) return -1;
  s->bound = true;
  return 0;
}

LOCO_EXPORT int rlisten(int file, int backlog) {
  RSocket* const s = rsocket_of(file);
  if (s == nullptr || rdma_listen(s->id, backlog) != 0) return -1;
  s->listening = true;
  return 0;
}

LOCO_EXPORT int raccept(int file, sockaddr* address, socklen_t* bytes) {
  RSocket* const listener = rsocket_of(file);
  if (listener == nullptr) return -1;
  if (!listener->listening) return fail(EINVAL);
  if (listener->nonblocking && state_of(*listener, POLLIN) == 0) return fail(EAGAIN);
  rdma_cm_id* id = nullptr;
  if (rdma_get_request(listener->id, &id) != 0) return -1;
  RSocket* const s = adopt(id, listener->options);
  if (s == nullptr) return fail(ENOMEM);
  const Offer peer = offer_in(*id->event);
  if (peer.bytes == 0 || !prepare(*s)) {
    rdma_reject(id, nullptr, 0);
    forget(*s);
    return fail(ECONNABORTED);
  }
  const Offer mine = offer_of(*s);
  rdma_conn_param p = parameters_of(mine);
  if (rdma_accept(id, &p) != 0) {
    forget(*s);
    return -1;
  }
  begin(*s, peer);
  copy_address(id->route.addr.dst_addr, address, bytes);
  return s->file;
}

LOCO_EXPORT int rconnect(int file, const sockaddr* address, socklen_t) {
  constexpr int kPatienceMs = 2000;
  RSocket* const s = rsocket_of(file);
  if (s == nullptr) return -1;
  if (s->connected) return fail(EISCONN);
  if (rdma_resolve_addr(s->id, nullptr, const_cast<sockaddr*>(address), kPatienceMs) != 0) return -1;
  if (rdma_resolve_route(s->id, kPatienceMs) != 0 || !prepare(*s)) return -1;
  const Offer mine = offer_of(*s);
  rdma_conn_param p = parameters_of(mine);
  if (rdma_connect(s->id, &p) != 0) return -1;
  const Offer peer = s->id->event != nullptr ? offer_in(*s->id->event) : Offer{};
  if (peer.bytes == 0) return fail(ECONNREFUSED);
  begin(*s, peer);
  return 0;
}

LOCO_EXPORT int rshutdown(int file, int how) {
  RSocket* const s = connected(file);
  if (s == nullptr) return -1;
  if (how != SHUT_RD) end_sending(*s);
  if (how != SHUT_WR) s->peer_ended = true;
  return 0;
}

LOCO_EXPORT int rclose(int file) {
  RSocket* const s = rsocket_of(file);
  if (s == nullptr) return -1;
  if (s->connected) {
    end_sending(*s);
    wait_until(*s, [s] { return s->requests == 0; });
    rdma_disconnect(s->id);
  }
  forget(*s);
  return 0;
}

LOCO_EXPORT ssize_t rrecv(int file, void* out, std::size_t bytes, int flags) {
  RSocket* const s = connected(file);
  if (s == nullptr) return -1;
  const std::size_t least = (flags & MSG_WAITALL) != 0 ? bytes : 1;
  std::size_t done = 0;
  while (bytes != 0) {
    if (s->readable == 0) progress(*s);
    done += read_some(*s, static_cast<char*>(out) + done, bytes - done, (flags & MSG_PEEK) != 0);
    if (done >= least || (done != 0 && (flags & MSG_PEEK) != 0) || s->peer_ended) break;
    if (s->broken) return done != 0 ? static_cast<ssize_t>(done) : fail(ECONNRESET);
    if (blocks(*s, flags)) continue;
    return done != 0 ? static_cast<ssize_t>(done) : fail(EAGAIN);
  }
  return static_cast<ssize_t>(done);
}

LOCO_EXPORT ssize_t rsend(int file, const void* data, std::size_t bytes, int flags) {
  RSocket* const s = connected(file);
  if (s == nullptr) return -1;
  std::size_t done = 0;
  while (done < bytes) {
    if (s->ended || s->peer_ended) return done != 0 ? static_cast<ssize_t>(done) : fail(EPIPE);
    if (!can_send(*s)) progress(*s);
    done += send_some(*s, static_cast<const char*>(data) + done, bytes - done);
    if (s->broken) return done != 0 ? static_cast<ssize_t>(done) : fail(ECONNRESET);
    if (done < bytes && !blocks(*s, flags) && !can_send(*s))
      return done != 0 ? static_cast<ssize_t>(done) : fail(EAGAIN);
  }
  return static_cast<ssize_t>(done);
}

LOCO_EXPORT ssize_t rrecvfrom(int file, void* out, std::size_t bytes, int flags, sockaddr* from, socklen_t* length) {
  const ssize_t got = rrecv(file, out, bytes, flags);
  if (got >= 0) rgetpeername(file, from, length);
  return got;
}
LOCO_EXPORT ssize_t rsendto(int file, const void* data, std::size_t bytes, int flags, const sockaddr*, socklen_t) {
  return rsend(file, data, bytes, flags);
}
LOCO_EXPORT ssize_t rrecvmsg(int file, msghdr* message, int flags) {
  return each_piece(message->msg_iov, static_cast<int>(message->msg_iovlen),
                    [&](void* at, std::size_t bytes) { return rrecv(file, at, bytes, flags); });
}
LOCO_EXPORT ssize_t rsendmsg(int file, const msghdr* message, int flags) {
  return each_piece(message->msg_iov, static_cast<int>(message->msg_iovlen),
                    [&](void* at, std::size_t bytes) { return rsend(file, at, bytes, flags); });
}
LOCO_EXPORT ssize_t rread(int file, void* out, std::size_t bytes) { return rrecv(file, out, bytes, 0); }
LOCO_EXPORT ssize_t rwrite(int file, const void* data, std::size_t bytes) { return rsend(file, data, bytes, 0); }
LOCO_EXPORT ssize_t rreadv(int file, const iovec* pieces, int count) {
  return each_piece(pieces, count, [&](void* at, std::size_t bytes) { return rrecv(file, at, bytes, 0); });
}
LOCO_EXPORT ssize_t rwritev(int file, const iovec* pieces, int count) {
  return each_piece(pieces, count, [&](void* at, std::size_t bytes) { return rsend(file, at, bytes, 0); });
}

LOCO_EXPORT int rpoll(pollfd* files, nfds_t count, int timeout) {
  const std::int64_t end = timeout > 0 ? clock_ns() + std::int64_t{timeout} * 1'000'000 : 0;
  while (true) {
    const int ready = look(files, count);
    if (ready != 0 || timeout == 0 || (timeout > 0 && clock_ns() >= end)) return ready;
    if (std::none_of(files, files + count, [](const pollfd& f) {
          const RSocket* const s = f.fd < 0 ? nullptr : rsocket_of(f.fd);
          return s != nullptr && s->connected;
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

LOCO_EXPORT int rgetpeername(int file, sockaddr* address, socklen_t* bytes) {
  const RSocket* const s = connected(file);
  return s == nullptr ? -1 : copy_address(s->id->route.addr.dst_addr, address, bytes);
}
LOCO_EXPORT int rgetsockname(int file, sockaddr* address, socklen_t* bytes) {
  const RSocket* const s = rsocket_of(file);
  return s == nullptr ? -1 : copy_address(s->id->route.addr.src_addr, address, bytes);
}

LOCO_EXPORT int rsetsockopt(int file, int level, int name, const void* value, socklen_t bytes) {
  RSocket* const s = rsocket_of(file);
  if (s == nullptr) return -1;
  std::uint32_t* const option = option_of(*s, level, name);
  if (option == nullptr) return 0;  // such as TCP_NODELAY: nothing is kept back
  std::uint32_t wanted = 0;
  if (bytes < sizeof(wanted)) return fail(EINVAL);
  std::memcpy(&wanted, value, sizeof(wanted));
  if (s->connected && name != RDMA_IOMAPSIZE) return fail(EINVAL);
  constexpr std::uint32_t kBytesMin = 4096;
  constexpr std::uint32_t kEntriesMin = 16;
  const std::uint32_t inline_most = loco_sim_channel()->facts.inline_max;
  if (option == &s->options.inline_bytes)
    wanted = std::clamp<std::uint32_t>(wanted, sizeof(Control), std::max<std::uint32_t>(inline_most, sizeof(Control)));
  else if (level == SOL_SOCKET)
    wanted = std::clamp(wanted, kBytesMin, 1U << 30U);
  else if (name != RDMA_IOMAPSIZE)
    wanted = std::clamp(wanted, kEntriesMin, loco_sim_channel()->facts.max_qp_wr);
  *option = wanted;
  return 0;
}

LOCO_EXPORT int rgetsockopt(int file, int level, int name, void* value, socklen_t* bytes) {
  RSocket* const s = rsocket_of(file);
  if (s == nullptr) return -1;
  const std::uint32_t* const option = option_of(*s, level, name);
  std::uint32_t found = option != nullptr ? *option : 0;
  if (level == SOL_SOCKET && name == SO_ERROR) found = s->broken ? ECONNRESET : 0;
  if (level == SOL_SOCKET && name == SO_TYPE) found = SOCK_STREAM;
  if (*bytes < sizeof(found)) return fail(EINVAL);
  std::memcpy(value, &found, sizeof(found));
  *bytes = sizeof(found);
  return 0;
}

LOCO_EXPORT int rfcntl(int file, int command, ...) {
  RSocket* const s = rsocket_of(file);
  if (s == nullptr) return -1;
  if (command == F_GETFL) return s->nonblocking ? O_NONBLOCK : 0;
  if (command != F_SETFL) return fail(EINVAL);
  va_list arguments;
  va_start(arguments, command);
  s->nonblocking = (va_arg(arguments, int) & O_NONBLOCK) != 0;
  va_end(arguments);
  return 0;
}

LOCO_EXPORT off_t riomap(int file, void* memory, std::size_t bytes, int protection, int, off_t offset) {
  RSocket* const s = connected(file);
  if (s == nullptr) return -1;
  const unsigned rights = (protection & PROT_WRITE) != 0 ? IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE : 0U;
  ibv_mr* const region = ibv_reg_mr(s->id->pd, memory, bytes, rights);
  if (region == nullptr) return -1;
  const std::uint64_t at = offset >= 0 ? static_cast<std::uint64_t>(offset) : region->rkey;
  auto* const made = make<Mapping>();
  if (made == nullptr) return fail(ENOMEM);
  *made = {at, reinterpret_cast<std::uint64_t>(memory), bytes, region->rkey, region, s->mine};
  s->mine = made;
  Control control{};
  control.what = Tells::map;
  control.key = region->rkey;
  control.offset = at;
  control.address = made->address;
  control.extent = bytes;
  return tell_mapping(*s, control) == 0 ? static_cast<off_t>(at) : -1;
}

LOCO_EXPORT int riounmap(int file, void* memory, std::size_t) {
  RSocket* const s = connected(file);
  if (s == nullptr) return -1;
  for (Mapping** at = &s->mine; *at != nullptr; at = &(*at)->next) {
    if ((*at)->address != reinterpret_cast<std::uint64_t>(memory)) continue;
    Mapping* const gone = *at;
    Control control{};
    control.what = Tells::unmap;
    control.offset = gone->offset;
    if (!s->peer_ended) tell_mapping(*s, control);
    *at = gone->next;
    ibv_dereg_mr(gone->region);
    std::free(gone);
    return 0;
  }
  return fail(EINVAL);
}

LOCO_EXPORT std::size_t riowrite(int file, const void* data, std::size_t bytes, off_t offset, int flags) {
  RSocket* const s = connected(file);
  if (s == nullptr) return static_cast<std::size_t>(-1);
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t part = write_mapped(*s, static_cast<const char*>(data) + done, bytes - done,
                                      static_cast<std::uint64_t>(offset) + done);
    if (part < 0 || s->broken) return done != 0 ? done : static_cast<std::size_t>(-1);
    if (part == 0) progress(*s);
    if (part == 0 && !blocks(*s, flags)) break;
    done += static_cast<std::size_t>(part);
  }
  if (done == 0 && bytes != 0) return static_cast<std::size_t>(fail(EAGAIN));
  return done;
}
