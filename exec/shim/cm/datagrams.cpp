#include "exec/shim/cm/datagrams.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <netinet/in.h>
#include <poll.h>
#include <sys/uio.h>

namespace loco::cm {

namespace {

constexpr std::uint32_t kGrhBytes = sizeof(ibv_grh);
constexpr std::uint64_t kReceiveBit = std::uint64_t{1} << 63U;

Place place_of(const sockaddr* address, std::uint32_t host) { return host << 16U | (port_of(address) & 0xffffU); }

Place own_place(const RSocket& s) { return place_of(&s.id->route.addr.src_addr, loco_sim_channel()->facts.host); }

std::size_t receives_at(const RSocket& s) { return std::size_t{s.options.send_entries} * s.datagrams->most; }
std::size_t slot_bytes(const RSocket& s) { return kGrhBytes + s.datagrams->most; }
char* received_in(const RSocket& s, std::uint32_t slot) { return s.memory + receives_at(s) + slot * slot_bytes(s); }

bool receive_into(RSocket& s, std::uint32_t slot) {
  return post_receive(s, kReceiveBit | slot, received_in(s, slot), slot_bytes(s));
}

bool prepare_datagrams(RSocket& s) {
  Datagrams& d = *s.datagrams;
  d.most = loco_sim_channel()->facts.mtu;
  d.arrived = static_cast<Arrived*>(std::calloc(s.options.receives, sizeof(Arrived)));
  if (d.arrived == nullptr) return false;
  const std::size_t bytes = receives_at(s) + s.options.receives * slot_bytes(s);
  if (!make_queues(s, IBV_QPT_UD, bytes, IBV_ACCESS_LOCAL_WRITE)) return false;
  for (std::uint32_t slot = 0; slot < s.options.receives; ++slot)
    if (!receive_into(s, slot)) return false;
  return true;
}

bool readable(int file) {
  pollfd look{.fd = file, .events = POLLIN, .revents = 0};
  return poll(&look, 1, 0) > 0;
}

/// Tells those who ask for it which queue pair the socket has.
void answer_requests(RSocket& s) {
  rdma_cm_event* event = nullptr;
  while (readable(s.file) && rdma_get_cm_event(s.id->channel, &event) == 0) {
    rdma_cm_id* const asks = event->event == RDMA_CM_EVENT_CONNECT_REQUEST ? event->id : nullptr;
    rdma_ack_cm_event(event);
    if (asks == nullptr) continue;
    rdma_conn_param p{};
    p.qp_num = s.id->qp->qp_num;
    rdma_accept(asks, &p);
    rdma_destroy_id(asks);
  }
}

/// Takes the next event of an id. False if it is another one.
bool take(rdma_cm_id* id, rdma_cm_event_type wanted, rdma_ud_param* out = nullptr) {
  rdma_cm_event* event = nullptr;
  if (rdma_get_cm_event(id->channel, &event) != 0) return false;
  const bool good = event->event == wanted;
  if (good && out != nullptr) *out = event->param.ud;
  rdma_ack_cm_event(event);
  return good;
}

/// Asks at an address for its queue pair, and answers others meanwhile, who may be waiting as well.
bool ask(RSocket& s, rdma_cm_id* id, Place place, rdma_ud_param& out) {
  constexpr int kPatienceMs = 1000;
  sockaddr_storage to{};
  set_address(to, place >> 16U, place & 0xffffU);
  if (rdma_resolve_addr(id, nullptr, reinterpret_cast<sockaddr*>(&to), kPatienceMs) != 0) return false;
  if (!take(id, RDMA_CM_EVENT_ADDR_RESOLVED) || rdma_resolve_route(id, kPatienceMs) != 0) return false;
  rdma_conn_param p{};
  p.qp_num = s.id->qp->qp_num;
  if (!take(id, RDMA_CM_EVENT_ROUTE_RESOLVED) || rdma_connect(id, &p) != 0) return false;
  pollfd files[] = {{.fd = id->channel->fd, .events = POLLIN, .revents = 0},
                    {.fd = s.file, .events = POLLIN, .revents = 0}};
  while (poll(files, 2, kPatienceMs) > 0) {
    if (files[0].revents != 0) return take(id, RDMA_CM_EVENT_ESTABLISHED, &out);
    answer_requests(s);
  }
  return false;
}

/// Null if nobody answers there.
const Destination* destination(RSocket& s, Place place) {
  for (const Destination* at = s.datagrams->known; at != nullptr; at = at->next)
    if (at->place == place) return at;
  rdma_event_channel* const channel = rdma_create_event_channel();
  rdma_cm_id* id = nullptr;
  if (channel == nullptr || rdma_create_id(channel, &id, nullptr, RDMA_PS_UDP) != 0) return nullptr;
  rdma_ud_param there{};
  const bool found = ask(s, id, place, there);
  rdma_destroy_id(id);
  rdma_destroy_event_channel(channel);
  auto* const made = found ? make_object<Destination>() : nullptr;
  if (made == nullptr) return nullptr;
  *made = {place, there.qp_num, ibv_create_ah(s.id->pd, &there.ah_attr), s.datagrams->known};
  return s.datagrams->known = made;
}

void take_datagram(RSocket& s, const ibv_wc& wc) {
  Datagrams& d = *s.datagrams;
  const auto slot = static_cast<std::uint32_t>(wc.wr_id & ~kReceiveBit);
  const bool wanted = (wc.wc_flags & IBV_WC_WITH_IMM) != 0 && (!d.has_peer || wc.imm_data == d.peer);
  if (wanted) {
    d.arrived[(d.first + d.count++) % s.options.receives] = {slot, wc.byte_len - kGrhBytes, wc.imm_data};
  } else if (!receive_into(s, slot)) {
    s.broken = true;
  }
}

std::size_t bytes_of(const iovec* pieces, std::size_t count) {
  std::size_t all = 0;
  for (std::size_t i = 0; i < count; ++i) all += pieces[i].iov_len;
  return all;
}

bool post(RSocket& s, std::size_t bytes, const Destination& to) {
  Datagrams& d = *s.datagrams;
  ibv_sge piece{reinterpret_cast<std::uint64_t>(s.memory + std::size_t{d.next_slot} * d.most),
                static_cast<std::uint32_t>(bytes), s.region->lkey};
  ibv_send_wr request{};
  request.sg_list = &piece;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND_WITH_IMM;
  request.send_flags = IBV_SEND_SIGNALED | (bytes <= s.options.inline_bytes ? IBV_SEND_INLINE : 0);
  request.imm_data = own_place(s);
  request.wr.ud = {.ah = to.handle, .remote_qpn = to.qp, .remote_qkey = RDMA_UDP_QKEY};
  ibv_send_wr* refused = nullptr;
  if (ibv_post_send(s.id->qp, &request, &refused) != 0) return false;
  d.next_slot = (d.next_slot + 1) % s.options.send_entries;
  ++d.sending;
  return true;
}

}  // namespace

bool become_datagrams(RSocket& s) { return (s.datagrams = make_object<Datagrams>()) != nullptr; }

void drop_datagrams(RSocket& s) {
  Datagrams& d = *s.datagrams;
  while (d.known != nullptr) {
    Destination* const gone = d.known;
    d.known = gone->next;
    ibv_destroy_ah(gone->handle);
    std::free(gone);
  }
  std::free(d.arrived);
  std::free(&d);
}

int bind_datagrams(RSocket& s, const sockaddr* address) {
  if (s.bound) return failed(EINVAL);
  const int host = host_of(address);
  if (host != static_cast<int>(loco_sim_channel()->facts.host)) return failed(EADDRNOTAVAIL);
  sockaddr_storage at{};
  set_address(at, static_cast<std::uint32_t>(host), port_of(address));
  if (rdma_bind_addr(s.id, reinterpret_cast<sockaddr*>(&at)) != 0) return -1;
  if (s.id->qp == nullptr && !prepare_datagrams(s)) return -1;
  if (rdma_listen(s.id, 1) != 0) return -1;
  s.bound = true;
  return 0;
}

namespace {

int bind_somewhere(RSocket& s) {
  if (s.bound) return 0;
  sockaddr_storage any{};
  set_address(any, loco_sim_channel()->facts.host, 0);
  return bind_datagrams(s, reinterpret_cast<const sockaddr*>(&any));
}

}  // namespace

int connect_datagrams(RSocket& s, const sockaddr* address) {
  const int host = host_of(address);
  if (host < 0) return failed(ENETUNREACH);
  if (bind_somewhere(s) != 0) return -1;
  s.datagrams->peer = place_of(address, static_cast<std::uint32_t>(host));
  s.datagrams->has_peer = true;
  return 0;
}

void progress_datagrams(RSocket& s) {
  if (!s.bound) return;
  ibv_wc found[16];
  const int count = ibv_poll_cq(s.cq, 16, found);
  if (count < 0) s.broken = true;
  for (int i = 0; i < count; ++i) {
    if ((found[i].wr_id & kReceiveBit) == 0) {
      --s.datagrams->sending;
    } else if (found[i].status == IBV_WC_SUCCESS) {
      take_datagram(s, found[i]);
    } else {
      s.broken = true;
    }
  }
  if (count == 0) answer_requests(s);
}

bool can_send_datagram(const RSocket& s) { return !s.bound || s.datagrams->sending < s.options.send_entries; }

void wait_until_sent(RSocket& s) {
  while (s.bound && s.datagrams->sending != 0 && !s.broken) progress_datagrams(s);
}

ssize_t send_datagram(RSocket& s, const iovec* pieces, std::size_t count, bool blocks, const sockaddr* to) {
  Datagrams& d = *s.datagrams;
  if (to == nullptr && !d.has_peer) return failed(EDESTADDRREQ);
  if (bind_somewhere(s) != 0) return -1;
  const int host = to == nullptr ? static_cast<int>(d.peer >> 16U) : host_of(to);
  if (host < 0) return failed(ENETUNREACH);
  const std::size_t bytes = bytes_of(pieces, count);
  if (bytes > d.most) return failed(EMSGSIZE);
  while (!can_send_datagram(s)) {
    progress_datagrams(s);
    if (s.broken) return failed(EIO);
    if (!blocks && !can_send_datagram(s)) return failed(EAGAIN);
  }
  const Destination* const there =
      destination(s, to == nullptr ? d.peer : place_of(to, static_cast<std::uint32_t>(host)));
  if (there == nullptr) return static_cast<ssize_t>(bytes);  // lost
  char* at = s.memory + std::size_t{d.next_slot} * d.most;
  for (std::size_t i = 0; i < count; at += pieces[i].iov_len, ++i)
    if (pieces[i].iov_len != 0) std::memcpy(at, pieces[i].iov_base, pieces[i].iov_len);
  return post(s, bytes, *there) ? static_cast<ssize_t>(bytes) : failed(EIO);
}

ssize_t receive_datagram(RSocket& s, const iovec* pieces, std::size_t count, bool blocks, bool peek, sockaddr* from,
                         socklen_t* bytes) {
  Datagrams& d = *s.datagrams;
  if (bind_somewhere(s) != 0) return -1;
  while (d.count == 0) {
    progress_datagrams(s);
    if (s.broken) return failed(EIO);
    if (!blocks && d.count == 0) return failed(EAGAIN);
  }
  const Arrived& oldest = d.arrived[d.first];
  const char* const data = received_in(s, oldest.slot) + kGrhBytes;
  std::size_t done = 0;
  for (std::size_t i = 0; i < count && done < oldest.bytes; ++i) {
    const std::size_t part = std::min<std::size_t>(pieces[i].iov_len, oldest.bytes - done);
    std::memcpy(pieces[i].iov_base, data + done, part);
    done += part;
  }
  if (from != nullptr && bytes != nullptr) {
    sockaddr_storage address{};
    set_address(address, oldest.from >> 16U, oldest.from & 0xffffU);
    std::memcpy(from, &address, std::min<std::size_t>(*bytes, sizeof(sockaddr_in)));
    *bytes = sizeof(sockaddr_in);
  }
  if (peek) return static_cast<ssize_t>(done);
  if (!receive_into(s, oldest.slot)) s.broken = true;
  d.first = (d.first + 1) % s.options.receives;
  --d.count;
  return static_cast<ssize_t>(done);
}

}  // namespace loco::cm
