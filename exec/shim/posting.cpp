// Posting: requests go into the channel with the time by which the program has run ahead, and the program continues.
//
// The shim tracks the room of each queue as a driver does, so that ENOMEM and EINVAL are returned at once: a request
// keeps its place until its completion, or a later one, has been polled.
#include <cstdlib>
#include <cstring>

#include "exec/shim/check.hpp"
#include "exec/shim/objects.hpp"

namespace loco::shim {

namespace {

constexpr std::size_t padded(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

/// Room in the ring for a post of `bytes` bytes; null if even an empty ring is too small.
char* ring_room(Channel& c, std::size_t bytes) {
  const std::size_t needed = sizeof(PostHeader) + bytes;
  if (needed > kPostBytes) return nullptr;
  tell_of_store();
  if (c.posts_bytes + needed > kPostBytes) call(Request::sync);
  return c.posts + c.posts_bytes;
}

/// The records after the header are complete.
void commit(Channel& c, Post post, std::uint32_t queue, std::uint32_t count, std::size_t bytes, std::uintptr_t caller) {
  const std::int64_t before = post == Post::send ? c.facts.post_ps * count : 0;
  const std::int64_t after = post == Post::send ? c.facts.doorbell_ps : c.facts.store_ps * count;
  c.ahead_ps += before;
  const PostHeader header{post, queue, count, static_cast<std::uint32_t>(bytes), c.ahead_ps, caller};
  std::memcpy(c.posts + c.posts_bytes, &header, sizeof(header));
  c.posts_bytes += sizeof(header) + bytes;
  c.ahead_ps += after;
  clock_used_otherwise();
  break_cycle();
  if (c.facts.lockstep != 0) call(Request::sync);
  close_learnt_page();
}

bool takes_sends(const Qp& p) {
  return p.qp.qp_base.state == IBV_QPS_RTS || p.qp.qp_base.state == IBV_QPS_SQD || p.qp.qp_base.state == IBV_QPS_SQE ||
         p.qp.qp_base.state == IBV_QPS_ERR;
}

bool operation_of(ibv_wr_opcode opcode, SendRecord& r) {
  const auto set = [&](Operation o, bool with_imm = false) {
    r.operation = static_cast<std::uint32_t>(o);
    r.with_imm = with_imm;
    return true;
  };
  switch (opcode) {
    case IBV_WR_RDMA_WRITE:
      return set(Operation::write);
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      return set(Operation::write, true);
    case IBV_WR_SEND:
      return set(Operation::send);
    case IBV_WR_SEND_WITH_IMM:
      return set(Operation::send, true);
    case IBV_WR_RDMA_READ:
      return set(Operation::read);
    case IBV_WR_ATOMIC_CMP_AND_SWP:
      return set(Operation::compare_swap);
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return set(Operation::fetch_add);
    case IBV_WR_BIND_MW:
      return set(Operation::bind);
    case IBV_WR_LOCAL_INV:
      return set(Operation::invalidate);
    case IBV_WR_SEND_WITH_INV:
      r.invalidates = true;
      return set(Operation::send, true);
    default:
      return false;
  }
}

/// 0, or the error of a request.
int check(const Qp& p, const ibv_send_wr& wr) {
  SendRecord r{};
  if (!operation_of(wr.opcode, r)) return EOPNOTSUPP;
  const auto type = p.qp.qp_base.qp_type;
  const auto operation = static_cast<Operation>(r.operation);
  if (type == IBV_QPT_XRC_RECV || (type == IBV_QPT_XRC_SEND && wr.opcode == IBV_WR_RDMA_WRITE_WITH_IMM))
    return EOPNOTSUPP;
  if (type == IBV_QPT_UD && operation != Operation::send) return EINVAL;
  if (type == IBV_QPT_UC && operation != Operation::send && operation != Operation::write) return EINVAL;
  if (wr.opcode == IBV_WR_BIND_MW) return may_bind(p.qp.qp_base, wr.bind_mw.mw, wr.bind_mw.bind_info) ? 0 : EINVAL;
  if (wr.opcode == IBV_WR_LOCAL_INV) return 0;
  if (wr.num_sge < 0 || static_cast<std::uint32_t>(wr.num_sge) > p.made_with.cap.max_send_sge) {
    if ((wr.send_flags & IBV_SEND_INLINE) == 0 || wr.num_sge < 0 || wr.num_sge > 64) return EINVAL;
  }
  if ((wr.send_flags & IBV_SEND_INLINE) == 0) return 0;
  if (operation != Operation::send && operation != Operation::write) return EINVAL;
  std::size_t bytes = 0;
  for (int i = 0; i < wr.num_sge; ++i) bytes += wr.sg_list[i].length;
  return bytes > p.made_with.cap.max_inline_data ? EINVAL : 0;
}

std::size_t bytes_of(const ibv_send_wr& wr) {
  if (wr.opcode == IBV_WR_BIND_MW) return sizeof(SendRecord) + sizeof(Element);
  if (wr.opcode == IBV_WR_LOCAL_INV) return sizeof(SendRecord);
  if ((wr.send_flags & IBV_SEND_INLINE) == 0)
    return sizeof(SendRecord) + static_cast<std::size_t>(wr.num_sge) * sizeof(Element);
  std::size_t bytes = 0;
  for (int i = 0; i < wr.num_sge; ++i) bytes += wr.sg_list[i].length;
  return sizeof(SendRecord) + padded(bytes);
}

void set_flags(const Qp& p, unsigned flags, SendRecord& r) {
  r.signaled = (flags & IBV_SEND_SIGNALED) != 0 || p.made_with.sq_sig_all != 0;
  r.fence = (flags & IBV_SEND_FENCE) != 0;
  r.is_inline = (flags & IBV_SEND_INLINE) != 0;
  r.solicited = (flags & IBV_SEND_SOLICITED) != 0;
}

/// Notes a request at `place` of the queue that completes as another kind.
void note_special(Qp& p, std::uint32_t place, Operation operation) {
  auto* const special = make_object<Special>();
  if (special == nullptr) return;
  *special = {place, operation, nullptr};
  Special** end = &p.specials;
  while (*end != nullptr) end = &(*end)->next;
  *end = special;
}

char* write_record(Qp& p, const ibv_send_wr& wr, char* out, std::uint32_t place) {
  SendRecord r{};
  operation_of(wr.opcode, r);
  set_flags(p, wr.send_flags, r);
  r.wr_id = wr.wr_id;
  r.imm = wr.imm_data;  // or the key to invalidate
  r.remote_qp = kNoQueue;
  if (wr.opcode == IBV_WR_BIND_MW || wr.opcode == IBV_WR_LOCAL_INV) {
    const bool binds = wr.opcode == IBV_WR_BIND_MW;
    note_special(p, place, static_cast<Operation>(r.operation));
    Element element{};
    if (binds) bind_record(wr.bind_mw.mw, wr.bind_mw.rkey, wr.bind_mw.bind_info, r, element);
    if (!binds) r.remote_key = wr.invalidate_rkey;
    std::memcpy(out, &r, sizeof(r));
    if (binds) std::memcpy(out + sizeof(r), &element, sizeof(element));
    return out + sizeof(r) + (binds ? sizeof(element) : 0);
  }
  if (p.qp.qp_base.qp_type == IBV_QPT_UD) {
    address_record(wr.wr.ud.ah, wr.wr.ud.remote_qpn, r);
    // A Q_Key with the upper bit set stands for the queue pair's own (IBTA volume 1, 10.2.5).
    r.remote_qkey = (wr.wr.ud.remote_qkey & 0x80000000U) != 0 ? p.attributes.qkey : wr.wr.ud.remote_qkey;
  } else if (wr.opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    r.remote = wr.wr.atomic.remote_addr;
    r.remote_key = wr.wr.atomic.rkey;
    r.compare_add = wr.wr.atomic.compare_add;
    r.swap = wr.wr.atomic.swap;
  } else {
    r.remote = wr.wr.rdma.remote_addr;
    r.remote_key = wr.wr.rdma.rkey;
  }
  if (p.qp.qp_base.qp_type == IBV_QPT_XRC_SEND && r.operation == static_cast<std::uint32_t>(Operation::send))
    r.remote_key = wr.qp_type.xrc.remote_srqn;
  char* at = out + sizeof(r);
  for (int i = 0; i < wr.num_sge; ++i) {
    const ibv_sge& s = wr.sg_list[i];
    if (r.is_inline) {
      std::memcpy(at, reinterpret_cast<const void*>(s.addr), s.length);
      r.inline_bytes += s.length;
      at += s.length;
    } else {
      const Element element{s.addr, s.length, s.lkey};
      std::memcpy(at, &element, sizeof(element));
      at += sizeof(element);
      ++r.elements;
    }
  }
  std::memcpy(out, &r, sizeof(r));
  return out + sizeof(r) + (r.is_inline ? padded(r.inline_bytes) : r.elements * sizeof(Element));
}

/// Reports the records of a post to --check; the first is at `place` of the queue.
void note_sends(const Qp& p, std::uint32_t place, const char* at, std::uint32_t count, std::uintptr_t caller) {
  for (std::uint32_t i = 0; i < count; ++i) {
    SendRecord r;
    std::memcpy(&r, at, sizeof(r));
    check_send(p, place + i, r, at + sizeof(r), caller);
    at += sizeof(r) + (r.is_inline ? padded(r.inline_bytes) : r.elements * sizeof(Element));
  }
}

template <typename Request>
int refuse(Request** bad, Request* wr, int error) {
  if (bad != nullptr) *bad = wr;
  return refused(error);
}

}  // namespace

void address_record(const ibv_ah* ah, std::uint32_t number, SendRecord& r) {
  r.remote_qp = number - kFirstQpn;
  if (number != kGroupQpn || ah == nullptr) return;
  const ibv_gid& to = reinterpret_cast<const AddressHandle*>(ah)->to;
  r.remote_qp = kToGroup;
  r.remote = to.global.subnet_prefix;
  r.compare_add = to.global.interface_id;
}

int post_send(ibv_qp* qp, ibv_send_wr* list, ibv_send_wr** bad) {
  const auto caller = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  Channel* const c = channel();
  if (c == nullptr) return refuse(bad, list, EIO);
  Qp& p = *of(qp);
  if (!takes_sends(p)) return refuse(bad, list, EINVAL);
  open_pages();
  std::uint32_t count = 0;
  std::size_t bytes = 0;
  int error = 0;
  ibv_send_wr* wr = list;
  for (; wr != nullptr; wr = wr->next) {
    error = check(p, *wr);
    if (error == 0 && p.posted - p.reaped + count >= p.made_with.cap.max_send_wr) error = ENOMEM;
    if (error != 0 || sizeof(PostHeader) + bytes + bytes_of(*wr) > kPostBytes) break;
    bytes += bytes_of(*wr);
    ++count;
  }
  if (count != 0) {
    char* at = ring_room(*c, bytes) + sizeof(PostHeader);
    const char* const records = at;
    std::uint32_t place = p.posted;
    for (const ibv_send_wr* each = list; each != wr; each = each->next) at = write_record(p, *each, at, place++);
    p.posted += count;
    commit(*c, Post::send, p.number, count, bytes, caller);
    if (checks()) note_sends(p, p.posted - count, records, count, caller);
  }
  if (wr == nullptr) return 0;
  if (error == 0) return post_send(qp, wr, bad);  // the rest of a list that is longer than the ring
  return refuse(bad, wr, error);
}

namespace {

int post_receives(Post post, std::uint32_t queue, std::uint32_t room, std::uint32_t sges, std::uint32_t& outstanding,
                  ibv_recv_wr* list, ibv_recv_wr** bad, std::uintptr_t caller) {
  Channel* const c = channel();
  std::uint32_t count = 0;
  std::size_t bytes = 0;
  int error = c == nullptr ? EIO : 0;
  ibv_recv_wr* wr = list;
  for (; wr != nullptr && error == 0; wr = wr->next) {
    if (wr->num_sge < 0 || static_cast<std::uint32_t>(wr->num_sge) > sges) error = EINVAL;
    if (count >= room) error = ENOMEM;
    const std::size_t more = sizeof(ReceiveRecord) + static_cast<std::size_t>(wr->num_sge) * sizeof(Element);
    if (error != 0 || sizeof(PostHeader) + bytes + more > kPostBytes) break;
    bytes += more;
    ++count;
  }
  if (count != 0) {
    open_pages();
    char* at = ring_room(*c, bytes) + sizeof(PostHeader);
    for (const ibv_recv_wr* each = list; each != wr; each = each->next) {
      const ReceiveRecord r{each->wr_id, static_cast<std::uint64_t>(each->num_sge)};
      std::memcpy(at, &r, sizeof(r));
      at += sizeof(r);
      for (int i = 0; i < each->num_sge; ++i, at += sizeof(Element)) {
        const Element element{each->sg_list[i].addr, each->sg_list[i].length, each->sg_list[i].lkey};
        std::memcpy(at, &element, sizeof(element));
      }
    }
    outstanding += count;
    commit(*c, post, queue, count, bytes, caller);
    for (const ibv_recv_wr* each = list; checks() && each != wr; each = each->next)
      check_receive(queue, post == Post::shared_receive, each->wr_id, each->sg_list, each->num_sge, caller);
  }
  if (wr == nullptr) return 0;
  if (error == 0) return post_receives(post, queue, room - count, sges, outstanding, wr, bad, caller);
  return refuse(bad, wr, error);
}

}  // namespace

int post_recv(ibv_qp* qp, ibv_recv_wr* list, ibv_recv_wr** bad) {
  Qp& p = *of(qp);
  if (qp->state == IBV_QPS_RESET || qp->srq != nullptr) return refuse(bad, list, EINVAL);
  const std::uint32_t entries = p.made_with.cap.max_recv_wr;
  return post_receives(Post::receive, p.number, entries > p.receives ? entries - p.receives : 0,
                       p.made_with.cap.max_recv_sge, p.receives, list, bad,
                       reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)));
}

int post_srq_recv(ibv_srq* srq, ibv_recv_wr* list, ibv_recv_wr** bad) {
  Srq& s = *of(srq);
  return post_receives(Post::shared_receive, s.number, s.entries > s.outstanding ? s.entries - s.outstanding : 0,
                       s.sges, s.outstanding, list, bad, reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)));
}

// --- wr_start ... wr_complete ---------------------------------------------------------------------------------------

namespace {

Qp& of_ex(ibv_qp_ex* qp) { return *reinterpret_cast<Qp*>(qp); }

/// Makes room at the end of the batch. Returns null if there is no memory.
char* grow(Qp& p, std::size_t bytes) {
  if (p.batch_bytes + bytes > p.batch_room) {
    const std::size_t room = 2 * (p.batch_bytes + bytes) + 1024;
    auto* const grown = static_cast<char*>(std::realloc(p.batch, room));
    if (grown == nullptr) {
      p.batch_error = ENOMEM;
      return nullptr;
    }
    p.batch = grown;
    p.batch_room = room;
  }
  char* const at = p.batch + p.batch_bytes;
  p.batch_bytes += bytes;
  return at;
}

SendRecord& last(Qp& p) { return *reinterpret_cast<SendRecord*>(p.batch + p.batch_last); }

void begin_request(ibv_qp_ex* qp, Operation operation, std::uint32_t key = 0, std::uint64_t remote = 0) {
  Qp& p = of_ex(qp);
  const std::size_t at = p.batch_bytes;
  char* const place = grow(p, sizeof(SendRecord));
  if (place == nullptr) return;
  SendRecord r{};
  r.wr_id = qp->wr_id;
  r.operation = static_cast<std::uint32_t>(operation);
  r.remote = remote;
  r.remote_key = key;
  r.remote_qp = kNoQueue;
  set_flags(p, qp->wr_flags & ~static_cast<unsigned>(IBV_SEND_INLINE), r);
  std::memcpy(place, &r, sizeof(r));
  p.batch_last = at;
  if (operation == Operation::bind || operation == Operation::invalidate)
    note_special(p, p.posted + p.batch_count, operation);
  ++p.batch_count;
}

void with_imm(ibv_qp_ex* qp, __be32 imm) {
  Qp& p = of_ex(qp);
  if (p.batch_error != 0) return;
  last(p).with_imm = true;
  last(p).imm = imm;
}

void wr_start(ibv_qp_ex* qp) {
  Qp& p = of_ex(qp);
  p.batch_bytes = p.batch_count = 0;
  p.batch_error = 0;
}

void wr_not_there(ibv_qp_ex* qp) { of_ex(qp).batch_error = EOPNOTSUPP; }

void wr_rdma_write(ibv_qp_ex* qp, std::uint32_t key, std::uint64_t address) {
  begin_request(qp, Operation::write, key, address);
}
void wr_rdma_write_imm(ibv_qp_ex* qp, std::uint32_t key, std::uint64_t address, __be32 imm) {
  begin_request(qp, Operation::write, key, address);
  with_imm(qp, imm);
}
void wr_rdma_read(ibv_qp_ex* qp, std::uint32_t key, std::uint64_t address) {
  begin_request(qp, Operation::read, key, address);
}
void wr_send(ibv_qp_ex* qp) { begin_request(qp, Operation::send); }
void wr_send_imm(ibv_qp_ex* qp, __be32 imm) {
  begin_request(qp, Operation::send);
  with_imm(qp, imm);
}
void wr_atomic_cmp_swp(ibv_qp_ex* qp, std::uint32_t key, std::uint64_t address, std::uint64_t compare,
                       std::uint64_t swap) {
  begin_request(qp, Operation::compare_swap, key, address);
  if (of_ex(qp).batch_error != 0) return;
  last(of_ex(qp)).compare_add = compare;
  last(of_ex(qp)).swap = swap;
}
void wr_atomic_fetch_add(ibv_qp_ex* qp, std::uint32_t key, std::uint64_t address, std::uint64_t add) {
  begin_request(qp, Operation::fetch_add, key, address);
  if (of_ex(qp).batch_error == 0) last(of_ex(qp)).compare_add = add;
}

void wr_bind_mw(ibv_qp_ex* qp, ibv_mw* mw, std::uint32_t key, const ibv_mw_bind_info* bind) {
  Qp& p = of_ex(qp);
  if (!may_bind(qp->qp_base, mw, *bind)) {
    p.batch_error = EINVAL;
    return;
  }
  begin_request(qp, Operation::bind);
  char* const at = p.batch_error == 0 ? grow(p, sizeof(Element)) : nullptr;
  if (at == nullptr) return;
  Element element{};
  bind_record(mw, key, *bind, last(p), element);
  std::memcpy(at, &element, sizeof(element));
}
void wr_local_inv(ibv_qp_ex* qp, std::uint32_t key) { begin_request(qp, Operation::invalidate, key); }
void wr_send_inv(ibv_qp_ex* qp, std::uint32_t key) {
  begin_request(qp, Operation::send);
  with_imm(qp, key);
  if (of_ex(qp).batch_error == 0) last(of_ex(qp)).invalidates = true;
}

void wr_set_ud_addr(ibv_qp_ex* qp, ibv_ah* ah, std::uint32_t number, std::uint32_t qkey) {
  Qp& p = of_ex(qp);
  if (p.batch_error != 0 || p.batch_count == 0) return;
  address_record(ah, number, last(p));
  last(p).remote_qkey = (qkey & 0x80000000U) != 0 ? p.attributes.qkey : qkey;
}

void wr_set_sge_list(ibv_qp_ex* qp, std::size_t count, const ibv_sge* list) {
  Qp& p = of_ex(qp);
  if (p.batch_error != 0 || p.batch_count == 0) return;
  if (count > p.made_with.cap.max_send_sge) {
    p.batch_error = EINVAL;
    return;
  }
  char* at = grow(p, count * sizeof(Element));
  if (at == nullptr) return;
  for (std::size_t i = 0; i < count; ++i, at += sizeof(Element)) {
    const Element element{list[i].addr, list[i].length, list[i].lkey};
    std::memcpy(at, &element, sizeof(element));
  }
  last(p).elements = static_cast<std::uint16_t>(count);
}

void wr_set_sge(ibv_qp_ex* qp, std::uint32_t key, std::uint64_t address, std::uint32_t length) {
  const ibv_sge one{address, length, key};
  wr_set_sge_list(qp, 1, &one);
}

void wr_set_inline_data_list(ibv_qp_ex* qp, std::size_t count, const ibv_data_buf* list) {
  Qp& p = of_ex(qp);
  if (p.batch_error != 0 || p.batch_count == 0) return;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) bytes += list[i].length;
  if (bytes > p.made_with.cap.max_inline_data) {
    p.batch_error = EINVAL;
    return;
  }
  open_pages();
  char* at = grow(p, padded(bytes));
  if (at == nullptr) return;
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(at, list[i].addr, list[i].length);
    at += list[i].length;
  }
  last(p).is_inline = true;
  last(p).inline_bytes = static_cast<std::uint32_t>(bytes);
}

void wr_set_inline_data(ibv_qp_ex* qp, void* address, std::size_t bytes) {
  const ibv_data_buf one{address, bytes};
  wr_set_inline_data_list(qp, 1, &one);
}

int wr_complete(ibv_qp_ex* qp) {
  Qp& p = of_ex(qp);
  Channel* const c = channel();
  if (c == nullptr) return EIO;
  if (p.batch_error != 0) return p.batch_error;
  if (!takes_sends(p)) return EINVAL;
  if (p.batch_count == 0) return 0;
  if (p.posted - p.reaped + p.batch_count > p.made_with.cap.max_send_wr) return ENOMEM;
  open_pages();
  char* const at = ring_room(*c, p.batch_bytes);
  if (at == nullptr) return ENOMEM;
  std::memcpy(at + sizeof(PostHeader), p.batch, p.batch_bytes);
  p.posted += p.batch_count;
  const auto caller = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  commit(*c, Post::send, p.number, p.batch_count, p.batch_bytes, caller);
  if (checks()) note_sends(p, p.posted - p.batch_count, p.batch, p.batch_count, caller);
  return 0;
}

}  // namespace

void set_posting(ibv_qp_ex& qp) {
  qp.wr_start = wr_start;
  qp.wr_abort = wr_start;
  qp.wr_complete = wr_complete;
  qp.wr_rdma_write = wr_rdma_write;
  qp.wr_rdma_write_imm = wr_rdma_write_imm;
  qp.wr_rdma_read = wr_rdma_read;
  qp.wr_send = wr_send;
  qp.wr_send_imm = wr_send_imm;
  qp.wr_atomic_cmp_swp = wr_atomic_cmp_swp;
  qp.wr_atomic_fetch_add = wr_atomic_fetch_add;
  qp.wr_bind_mw = wr_bind_mw;
  qp.wr_local_inv = wr_local_inv;
  qp.wr_send_inv = wr_send_inv;
  qp.wr_set_ud_addr = wr_set_ud_addr;
  qp.wr_set_sge = wr_set_sge;
  qp.wr_set_sge_list = wr_set_sge_list;
  qp.wr_set_inline_data = wr_set_inline_data;
  qp.wr_set_inline_data_list = wr_set_inline_data_list;
  // wr_complete reports unsupported operations
  qp.wr_send_tso = [](ibv_qp_ex* q, void*, std::uint16_t, std::uint16_t) { wr_not_there(q); };
  qp.wr_set_xrc_srqn = [](ibv_qp_ex* q, std::uint32_t srq) {
    if (of_ex(q).batch_error != 0 || of_ex(q).batch_count == 0) return;
    SendRecord& r = last(of_ex(q));  // a WRITE or a READ keeps the key of its region
    if (r.operation == static_cast<std::uint32_t>(Operation::send)) r.remote_key = srq;
  };
  qp.wr_atomic_write = [](ibv_qp_ex* q, std::uint32_t, std::uint64_t, const void*) { wr_not_there(q); };
}

}  // namespace loco::shim
