// Streams: their rings, and the messages over their connections.
#include "exec/shim/cm/rsocket.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <sys/mman.h>

#include "exec/shim/cm/datagrams.hpp"

namespace loco::cm {

namespace {

RSocket* rsockets = nullptr;

/// Receives of the peer that data leaves free for a credit and an end.
constexpr std::uint32_t kReserve = 2;
/// Data requests have no number: their completions tell how many bytes become free.
constexpr std::uint64_t kControlBit = std::uint64_t{1} << 63U;

std::size_t slots_at(const RSocket& s) { return std::size_t{s.options.send_bytes} + s.options.receive_bytes; }
char* ring_of_received(const RSocket& s) { return s.memory + s.options.send_bytes; }

bool receive_control(RSocket& s, std::uint32_t slot) {
  return post_receive(s, slot, s.memory + slots_at(s) + slot * sizeof(Control), sizeof(Control));
}

bool post(RSocket& s, ibv_send_wr& request, ibv_sge& piece) {
  request.sg_list = &piece;
  request.num_sge = 1;
  request.send_flags |= IBV_SEND_SIGNALED;
  if ((request.send_flags & IBV_SEND_INLINE) == 0 && piece.length <= s.options.inline_bytes)
    request.send_flags |= IBV_SEND_INLINE;
  ibv_send_wr* refused = nullptr;
  if (ibv_post_send(s.id->qp, &request, &refused) != 0) {
    s.broken = true;
    return false;
  }
  ++s.requests;
  return true;
}

bool room_for_request(const RSocket& s) { return s.requests + 1 < s.options.send_entries; }

/// Copies into the send ring and returns the element for a request.
ibv_sge put_into_ring(RSocket& s, const char* data, std::uint32_t bytes) {
  char* const at = s.memory + s.send_at;
  std::memcpy(at, data, bytes);
  s.send_at = (s.send_at + bytes) % s.options.send_bytes;
  s.send_busy += bytes;
  return {reinterpret_cast<std::uint64_t>(at), bytes, s.region->lkey};
}

/// Free contiguous bytes of the send ring.
std::uint32_t ring_room(const RSocket& s) {
  return std::min(s.options.send_bytes - s.send_busy, s.options.send_bytes - s.send_at);
}

void remember(Mapping*& list, const Mapping& mapping) {
  auto* const made = make_object<Mapping>();
  if (made == nullptr) return;
  *made = mapping;
  made->next = list;
  list = made;
}

void drop(Mapping*& list, std::uint64_t offset) {
  for (Mapping** at = &list; *at != nullptr; at = &(*at)->next) {
    if ((*at)->offset != offset) continue;
    Mapping* const gone = *at;
    *at = gone->next;
    if (gone->region != nullptr) ibv_dereg_mr(gone->region);
    std::free(gone);
    return;
  }
}

void take(RSocket& s, const Control& c) {
  switch (c.what) {
    case Tells::credit:
      s.peer_room += c.bytes;
      s.peer_receives += c.messages;
      break;
    case Tells::end:
      s.peer_ended = true;
      break;
    case Tells::map:
      remember(s.theirs, {c.offset, c.address, c.extent, c.key, nullptr, nullptr});
      break;
    case Tells::unmap:
      drop(s.theirs, c.offset);
      break;
  }
}

void finished(RSocket& s, const ibv_wc& wc) {
  if (wc.status != IBV_WC_SUCCESS) {
    s.broken = true;
    return;
  }
  if (wc.opcode == IBV_WC_RECV || wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
    if (wc.opcode == IBV_WC_RECV) {
      Control control;
      std::memcpy(&control, s.memory + slots_at(s) + wc.wr_id * sizeof(control), sizeof(control));
      take(s, control);
    } else {
      s.readable += wc.imm_data;
    }
    ++s.received_owed;
    if (!receive_control(s, static_cast<std::uint32_t>(wc.wr_id))) s.broken = true;
    return;
  }
  --s.requests;
  if ((wc.wr_id & kControlBit) == 0) s.send_busy -= static_cast<std::uint32_t>(wc.wr_id);
}

void give_credit(RSocket& s) {
  const bool worth = 2 * s.read_owed >= s.options.receive_bytes || 2 * s.received_owed >= s.options.receives;
  if (!worth || s.peer_ended || s.broken || s.peer_receives == 0 || !room_for_request(s)) return;
  const Control credit{.what = Tells::credit,
                       .bytes = s.read_owed,
                       .messages = s.received_owed,
                       .key = 0,
                       .offset = 0,
                       .address = 0,
                       .extent = 0};
  s.read_owed = s.received_owed = 0;
  tell(s, credit);
}

/// True if the peer's connection manager may have reported that it has gone.
bool has_gone(const RSocket& s) {
  pollfd look{.fd = s.file, .events = POLLIN, .revents = 0};
  return poll(&look, 1, 0) > 0;
}

}  // namespace

RSocket* rsocket_of(int file) {
  for (RSocket* s = rsockets; s != nullptr; s = s->next)
    if (s->file == file) return s;
  return failed(EBADF);
}

RSocket* adopt(rdma_cm_id* id, const RSocketOptions& options) {
  auto* const s = make_object<RSocket>();
  if (s == nullptr) return nullptr;
  s->id = id;
  s->file = id->channel->fd;
  s->options = options;
  s->next = rsockets;
  rsockets = s;
  return s;
}

RSocket* make_rsocket(rdma_port_space space) {
  rdma_cm_id* id = nullptr;
  return rdma_create_id(nullptr, &id, nullptr, space) == 0 ? adopt(id, {}) : nullptr;
}

void forget(RSocket& s) {
  take_out(rsockets, &s);
  if (s.id->qp != nullptr) rdma_destroy_qp(s.id);
  if (s.datagrams != nullptr) drop_datagrams(s);
  while (s.mine != nullptr) drop(s.mine, s.mine->offset);
  while (s.theirs != nullptr) drop(s.theirs, s.theirs->offset);
  if (s.region != nullptr) ibv_dereg_mr(s.region);
  if (s.memory != nullptr) munmap(s.memory, s.memory_bytes);
  if (s.cq != nullptr) ibv_destroy_cq(s.cq);
  rdma_destroy_id(s.id);
  std::free(&s);
}

bool make_queues(RSocket& s, ibv_qp_type type, std::size_t memory_bytes, unsigned rights) {
  const RSocketOptions& o = s.options;
  s.cq = ibv_create_cq(s.id->verbs, static_cast<int>(o.send_entries + o.receives), nullptr, nullptr, 0);
  if (s.cq == nullptr) return false;
  ibv_qp_init_attr wanted{};
  wanted.send_cq = wanted.recv_cq = s.cq;
  wanted.qp_type = type;
  wanted.cap = {.max_send_wr = o.send_entries,
                .max_recv_wr = o.receives,
                .max_send_sge = 1,
                .max_recv_sge = 1,
                .max_inline_data = o.inline_bytes};
  if (rdma_create_qp(s.id, nullptr, &wanted) != 0) return false;
  void* const memory = mmap(nullptr, memory_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  s.memory = static_cast<char*>(memory);
  s.memory_bytes = memory_bytes;
  s.region = ibv_reg_mr(s.id->pd, memory, memory_bytes, rights);
  return s.region != nullptr;
}

bool post_receive(RSocket& s, std::uint64_t number, char* at, std::size_t bytes) {
  ibv_sge piece{reinterpret_cast<std::uint64_t>(at), static_cast<std::uint32_t>(bytes), s.region->lkey};
  ibv_recv_wr request{};
  request.wr_id = number;
  request.sg_list = &piece;
  request.num_sge = 1;
  ibv_recv_wr* refused = nullptr;
  return ibv_post_recv(s.id->qp, &request, &refused) == 0;
}

bool prepare(RSocket& s) {
  const std::size_t bytes = slots_at(s) + s.options.receives * sizeof(Control);
  if (!make_queues(s, IBV_QPT_RC, bytes, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)) return false;
  for (std::uint32_t slot = 0; slot < s.options.receives; ++slot)
    if (!receive_control(s, slot)) return false;
  return true;
}

Offer offer_of(const RSocket& s) {
  return {reinterpret_cast<std::uint64_t>(ring_of_received(s)), s.region->rkey, s.options.receive_bytes,
          s.options.receives};
}

void begin(RSocket& s, const Offer& peer) {
  s.peer = peer;
  s.peer_room = peer.bytes;
  s.peer_receives = peer.receives;
  s.connected = true;
}

bool progress(RSocket& s) {
  if (!s.connected) return false;
  ibv_wc found[16];
  const int count = ibv_poll_cq(s.cq, 16, found);
  if (count < 0) s.broken = true;
  for (int i = 0; i < count; ++i) finished(s, found[i]);
  if (count > 0) give_credit(s);
  if (count == 0 && !s.peer_ended && has_gone(s)) s.peer_ended = true;
  return count > 0;
}

bool can_send(const RSocket& s) {
  return s.connected && s.peer_room != 0 && s.peer_receives > kReserve && ring_room(s) != 0 && room_for_request(s);
}

std::size_t send_some(RSocket& s, const char* data, std::size_t bytes) {
  std::size_t done = 0;
  while (done < bytes && can_send(s) && !s.broken) {
    const std::size_t room = std::min({ring_room(s), s.peer_room, s.peer.bytes - s.peer_at});
    const auto part = static_cast<std::uint32_t>(std::min(bytes - done, room));
    ibv_sge piece = put_into_ring(s, data + done, part);
    ibv_send_wr request{};
    request.wr_id = part;
    request.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
    request.imm_data = part;
    request.wr.rdma = {.remote_addr = s.peer.address + s.peer_at, .rkey = s.peer.key};
    if (!post(s, request, piece)) break;
    s.peer_at = (s.peer_at + part) % s.peer.bytes;
    s.peer_room -= part;
    --s.peer_receives;
    done += part;
  }
  return done;
}

std::size_t read_some(RSocket& s, char* out, std::size_t bytes, bool peek) {
  std::size_t done = 0;
  std::uint32_t at = s.read_at;
  while (done < bytes && done < s.readable) {
    const std::size_t left = std::min<std::size_t>(s.readable - done, s.options.receive_bytes - at);
    const std::size_t part = std::min(bytes - done, left);
    std::memcpy(out + done, ring_of_received(s) + at, part);
    done += part;
    at = static_cast<std::uint32_t>((at + part) % s.options.receive_bytes);
  }
  if (peek) return done;
  s.read_at = at;
  s.readable -= static_cast<std::uint32_t>(done);
  s.read_owed += static_cast<std::uint32_t>(done);
  give_credit(s);
  return done;
}

bool tell(RSocket& s, const Control& control) {
  Control copy = control;
  ibv_sge piece{reinterpret_cast<std::uint64_t>(&copy), sizeof(copy), 0};
  ibv_send_wr request{};
  request.wr_id = kControlBit;
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_INLINE;
  if (!post(s, request, piece)) return false;
  --s.peer_receives;
  return true;
}

ssize_t write_mapped(RSocket& s, const char* data, std::size_t bytes, std::uint64_t offset) {
  const Mapping* to = s.theirs;
  while (to != nullptr && offset - to->offset >= to->extent) to = to->next;
  if (to == nullptr) return failed(EINVAL);
  const std::size_t room = std::min<std::size_t>(ring_room(s), to->offset + to->extent - offset);
  if (room == 0 || !room_for_request(s)) return 0;
  const auto part = static_cast<std::uint32_t>(std::min(bytes, room));
  ibv_sge piece = put_into_ring(s, data, part);
  ibv_send_wr request{};
  request.wr_id = part;
  request.opcode = IBV_WR_RDMA_WRITE;
  request.wr.rdma = {.remote_addr = to->address + (offset - to->offset), .rkey = to->key};
  return post(s, request, piece) ? static_cast<ssize_t>(part) : failed(ECONNRESET);
}

bool blocks(const RSocket& s, int flags) { return !s.nonblocking && (flags & MSG_DONTWAIT) == 0; }

RSocket* connected_rsocket(int file) {
  RSocket* const s = rsocket_of(file);
  if (s == nullptr || s->connected) return s;
  return failed(ENOTCONN);
}

short state_of(RSocket& s, short wanted) {
  if (s.listening) {
    pollfd look{.fd = s.file, .events = POLLIN, .revents = 0};
    return static_cast<short>(poll(&look, 1, 0) > 0 ? wanted & POLLIN : 0);
  }
  const auto now = [&] {
    short out = 0;
    if (s.datagrams != nullptr) {
      if (s.datagrams->count != 0) out |= POLLIN;
      if (can_send_datagram(s)) out |= POLLOUT;
      return static_cast<short>((out & wanted) | (s.broken ? POLLERR : 0));
    }
    if (s.readable != 0 || s.peer_ended) out |= POLLIN;
    if (can_send(s) && !s.ended) out |= POLLOUT;
    out &= wanted;
    if (s.broken) out |= POLLERR;
    if (s.broken || (s.peer_ended && s.ended)) out |= POLLHUP;
    return out;
  };
  if (const short out = now()) return out;  // polls a queue only if nothing is ready yet
  s.datagrams != nullptr ? progress_datagrams(s) : static_cast<void>(progress(s));
  return now();
}

}  // namespace loco::cm
