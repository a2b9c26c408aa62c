// The calls of rsocket(7) and rdma/rsocket.h that make, connect and set sockets; rsocket_data.cpp has those that move
// data, rsocket_memory.cpp those of mapped memory.
//
// Connecting blocks even for a non-blocking socket: it takes some microseconds of simulated time.
#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <rdma/rsocket.h>

#include "exec/shim/cm/datagrams.hpp"

using namespace loco::cm;

namespace {

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
  if (domain != AF_INET && domain != AF_INET6) return failed(EAFNOSUPPORT);
  const bool stream = (type & 0xf) == SOCK_STREAM;
  if (!stream && (type & 0xf) != SOCK_DGRAM) return failed(EPROTONOSUPPORT);
  RSocket* const s = make_rsocket(stream ? RDMA_PS_TCP : RDMA_PS_UDP);
  if (s == nullptr) return -1;
  if (!stream && !become_datagrams(*s)) {
    forget(*s);
    return failed(ENOMEM);
  }
  s->nonblocking = (type & SOCK_NONBLOCK) != 0;
  return s->file;
}

LOCO_EXPORT int rbind(int file, const sockaddr* address, socklen_t) {
  RSocket* const s = rsocket_of(file);
  if (s == nullptr) return -1;
  if (s->datagrams != nullptr) return bind_datagrams(*s, address);
  if (rdma_bind_addr(s->id, const_cast<sockaddr*>(address)) != 0) return -1;
  s->bound = true;
  return 0;
}

LOCO_EXPORT int rlisten(int file, int backlog) {
  RSocket* const s = rsocket_of(file);
  if (s == nullptr) return -1;
  if (s->datagrams != nullptr) return failed(EOPNOTSUPP);
  if (rdma_listen(s->id, backlog) != 0) return -1;
  s->listening = true;
  return 0;
}

LOCO_EXPORT int raccept(int file, sockaddr* address, socklen_t* bytes) {
  RSocket* const listener = rsocket_of(file);
  if (listener == nullptr) return -1;
  if (!listener->listening) return failed(EINVAL);
  if (listener->nonblocking && state_of(*listener, POLLIN) == 0) return failed(EAGAIN);
  rdma_cm_id* id = nullptr;
  if (rdma_get_request(listener->id, &id) != 0) return -1;
  RSocket* const s = adopt(id, listener->options);
  if (s == nullptr) return failed(ENOMEM);
  const Offer peer = offer_in(*id->event);
  if (peer.bytes == 0 || !prepare(*s)) {
    rdma_reject(id, nullptr, 0);
    forget(*s);
    return failed(ECONNABORTED);
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
  if (s->datagrams != nullptr) return connect_datagrams(*s, address);
  if (s->connected) return failed(EISCONN);
  if (rdma_resolve_addr(s->id, nullptr, const_cast<sockaddr*>(address), kPatienceMs) != 0) return -1;
  if (rdma_resolve_route(s->id, kPatienceMs) != 0 || !prepare(*s)) return -1;
  const Offer mine = offer_of(*s);
  rdma_conn_param p = parameters_of(mine);
  if (rdma_connect(s->id, &p) != 0) return -1;
  const Offer peer = s->id->event != nullptr ? offer_in(*s->id->event) : Offer{};
  if (peer.bytes == 0) return failed(ECONNREFUSED);
  begin(*s, peer);
  return 0;
}

LOCO_EXPORT int rshutdown(int file, int how) {
  RSocket* const s = connected_rsocket(file);
  if (s == nullptr) return -1;
  if (how != SHUT_RD) end_sending(*s);
  if (how != SHUT_WR) s->peer_ended = true;
  return 0;
}

LOCO_EXPORT int rclose(int file) {
  RSocket* const s = rsocket_of(file);
  if (s == nullptr) return -1;
  if (s->datagrams != nullptr) wait_until_sent(*s);
  if (s->connected) {
    end_sending(*s);
    wait_until(*s, [s] { return s->requests == 0; });
    rdma_disconnect(s->id);
  }
  forget(*s);
  return 0;
}

LOCO_EXPORT int rgetpeername(int file, sockaddr* address, socklen_t* bytes) {
  const RSocket* const s = rsocket_of(file);
  if (s == nullptr) return -1;
  if (s->datagrams != nullptr && s->datagrams->has_peer) {
    sockaddr_storage peer{};
    set_address(peer, s->datagrams->peer >> 16U, s->datagrams->peer & 0xffffU);
    return copy_address(reinterpret_cast<const sockaddr&>(peer), address, bytes);
  }
  return s->connected ? copy_address(s->id->route.addr.dst_addr, address, bytes) : failed(ENOTCONN);
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
  if (bytes < sizeof(wanted)) return failed(EINVAL);
  std::memcpy(&wanted, value, sizeof(wanted));
  if ((s->connected || s->id->qp != nullptr) && name != RDMA_IOMAPSIZE) return failed(EINVAL);
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
  if (level == SOL_SOCKET && name == SO_TYPE) found = s->datagrams == nullptr ? SOCK_STREAM : SOCK_DGRAM;
  if (*bytes < sizeof(found)) return failed(EINVAL);
  std::memcpy(value, &found, sizeof(found));
  *bytes = sizeof(found);
  return 0;
}

LOCO_EXPORT int rfcntl(int file, int command, ...) {
  RSocket* const s = rsocket_of(file);
  if (s == nullptr) return -1;
  if (command == F_GETFL) return s->nonblocking ? O_NONBLOCK : 0;
  if (command != F_SETFL) return failed(EINVAL);
  va_list arguments;
  va_start(arguments, command);
  s->nonblocking = (va_arg(arguments, int) & O_NONBLOCK) != 0;
  va_end(arguments);
  return 0;
}
