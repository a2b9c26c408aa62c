// Completion queues, shared receive queues, queue pairs and address handles: creation, changes, queries, destruction.
#include <cstdlib>
#include <cstring>

#include "exec/shim/check.hpp"
#include "exec/shim/objects.hpp"

namespace loco::shim {

namespace {

/// Objects by the conductor's numbers, which are small.
template <typename T>
struct Table {
  T** entries = nullptr;
  std::uint32_t room = 0;

  bool set(std::uint32_t number, T* object) {
    if (number >= room) {
      const std::uint32_t more = number * 2 + 64;
      auto* const grown = static_cast<T**>(std::realloc(entries, more * sizeof(T*)));
      if (grown == nullptr) return false;
      std::memset(grown + room, 0, (more - room) * sizeof(T*));
      entries = grown;
      room = more;
    }
    entries[number] = object;
    return true;
  }
  T* at(std::uint32_t number) const { return number < room ? entries[number] : nullptr; }
};

Table<Cq> cqs;
Table<Qp> qps;
Table<Srq> srqs;

/// The NIC's encoding of the RNR NAK timer, in units of 10 us (IBTA volume 1, table 45); code 0 is 655.36 ms.
constexpr std::uint32_t kRnrTimer[32] = {65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
                                         48,    64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
                                         2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};

std::int64_t rnr_timer_ps(std::uint32_t code) { return std::int64_t{kRnrTimer[code & 31U]} * 10'000'000; }
std::int64_t timeout_ps(std::uint32_t code) { return code == 0 ? 0 : std::int64_t{4'096'000} << (code & 31U); }

Cq* make_cq(ibv_context* context, int entries, void* user, ibv_comp_channel* channel_, int vector,
            ibv_pd* domain = nullptr) {
  if (no_conductor()) return nullptr;
  if (entries <= 0 || entries > static_cast<int>(channel()->facts.max_cqe) || vector < 0 ||
      vector >= context->num_comp_vectors)
    return failed(EINVAL);
  QueueMemory memory{};
  if (!take_memory(domain, static_cast<std::size_t>(entries), memory)) return nullptr;
  auto* const q = make_object<Cq>();
  if (q == nullptr) return nullptr;
  q->memory = memory;
  q->cq.context = context;
  q->cq.channel = channel_;
  q->cq.cq_context = user;
  q->cq.cqe = entries;
  const std::uint64_t to = channel_ == nullptr ? kNoQueue : reinterpret_cast<CompletionChannel*>(channel_)->number;
  q->number = static_cast<std::uint32_t>(call(Request::create_cq, static_cast<std::uint64_t>(entries), to));
  q->cq.handle = q->number;
  cqs.set(q->number, q);
  if (channel_ != nullptr) ++channel_->refcnt;
  return q;
}

ibv_srq* make_srq(ibv_pd* pd, void* user, ibv_srq_attr& wanted, Cq* cq = nullptr) {
  if (no_conductor()) return nullptr;
  if (wanted.max_wr == 0 || wanted.max_wr > channel()->facts.max_srq_wr || wanted.max_sge > kElementsMax)
    return failed(EINVAL);
  QueueMemory memory{};
  if (!take_memory(pd, wanted.max_wr, memory)) return nullptr;
  auto* const s = make_object<Srq>();
  if (s == nullptr) return nullptr;
  s->memory = memory;
  ++of(pd)->users;
  s->srq.context = pd->context;
  s->srq.srq_context = user;
  s->srq.pd = pd;
  s->entries = wanted.max_wr;
  s->sges = wanted.max_sge;
  s->number =
      static_cast<std::uint32_t>(call(Request::create_srq, wanted.max_wr, cq == nullptr ? kNoQueue : cq->number));
  s->cq = cq;
  if (cq != nullptr) ++cq->users;
  s->srq.handle = s->number;
  srqs.set(s->number, s);
  return &s->srq;
}

bool fits(const ibv_qp_init_attr& a) {
  const HostFacts& f = channel()->facts;
  const bool has_cqs =
      a.qp_type == IBV_QPT_XRC_RECV || (a.send_cq != nullptr && (a.recv_cq != nullptr || is_xrc(a.qp_type)));
  return has_cqs && a.cap.max_send_wr <= f.max_qp_wr && a.cap.max_recv_wr <= f.max_qp_wr &&
         a.cap.max_send_sge <= kElementsMax && a.cap.max_recv_sge <= kElementsMax &&
         a.cap.max_inline_data <= f.inline_max;
}

std::uint32_t number_of(ibv_cq* cq) { return cq == nullptr ? kNoQueue : of(cq)->number; }

void count_user(ibv_cq* cq, unsigned change) {
  if (cq != nullptr) of(cq)->users += change;
}

/// `pd` is null for an XRC target.
ibv_qp* make_qp(ibv_context* context, ibv_pd* pd, ibv_qp_init_attr& wanted, bool not_to_itself = false) {
  if (no_conductor()) return nullptr;
  if (wanted.qp_type != IBV_QPT_RC && wanted.qp_type != IBV_QPT_UC && wanted.qp_type != IBV_QPT_UD &&
      !is_xrc(wanted.qp_type))
    return unsupported("ibv_create_qp of this type");
  if (!fits(wanted)) return failed(EINVAL);
  QueueMemory memory{};
  if (!take_memory(pd, wanted.cap.max_send_wr + wanted.cap.max_recv_wr, memory)) return nullptr;
  auto* const p = make_object<Qp>();
  if (p == nullptr) return nullptr;
  p->memory = memory;
  if (pd != nullptr) ++of(pd)->users;
  if (wanted.qp_type == IBV_QPT_XRC_RECV) wanted.send_cq = nullptr;
  if (is_xrc(wanted.qp_type)) wanted.recv_cq = nullptr;
  count_user(wanted.send_cq, 1);
  count_user(wanted.recv_cq, 1);
  if (wanted.srq != nullptr) ++of(wanted.srq)->users;
  ibv_qp& q = p->qp.qp_base;
  q.context = context;
  q.qp_context = wanted.qp_context;
  q.pd = pd;
  q.send_cq = wanted.send_cq;
  q.recv_cq = wanted.recv_cq;
  q.srq = wanted.srq;
  q.qp_type = wanted.qp_type;
  q.state = IBV_QPS_RESET;
  wanted.cap.max_inline_data = channel()->facts.inline_max;
  if (wanted.cap.max_send_wr == 0) wanted.cap.max_send_wr = 1;
  p->made_with = wanted;
  const QpKind kind = wanted.qp_type == IBV_QPT_RC   ? QpKind::rc
                      : wanted.qp_type == IBV_QPT_UC ? QpKind::uc
                      : wanted.qp_type == IBV_QPT_UD ? QpKind::ud
                                                     : QpKind::xrc;
  const bool shared = wanted.srq != nullptr;
  constexpr std::uint64_t kAny = 0xffff;  // for an XRC target
  const std::uint64_t domain = pd == nullptr ? kAny : pd->handle;
  p->number = static_cast<std::uint32_t>(
      call(Request::create_qp,
           static_cast<std::uint64_t>(kind) | domain << 32U | std::uint64_t{nic_of(context)} << kNicBit |
               (not_to_itself ? kNotToItself : 0),
           number_of(wanted.send_cq), number_of(wanted.recv_cq), wanted.cap.max_send_wr,
           shared || is_xrc(wanted.qp_type) ? 0 : wanted.cap.max_recv_wr, shared ? of(wanted.srq)->number : kNoQueue));
  q.handle = p->number;
  q.qp_num = p->number + kFirstQpn;
  set_posting(p->qp);
  qps.set(p->number, p);
  return &q;
}

/// True if the attributes that a new state needs are present, beyond those that ibv_modify_qp checks (IBTA volume 1,
/// table 91).
bool attributes_there(const ibv_qp& q, ibv_qp_state to, int mask) {
  const auto has = [mask](int wanted) { return (mask & wanted) == wanted; };
  switch (to) {
    case IBV_QPS_INIT:
      return q.state != IBV_QPS_RESET ||
             has(IBV_QP_PKEY_INDEX | IBV_QP_PORT | (q.qp_type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS));
    case IBV_QPS_RTR:
      if (q.qp_type == IBV_QPT_UD) return true;
      if (q.qp_type == IBV_QPT_XRC_RECV && !has(IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)) return false;
      return has(IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN) &&
             (q.qp_type != IBV_QPT_RC || has(IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
    case IBV_QPS_RTS:
      if (q.state != IBV_QPS_RTR) return true;
      if (q.qp_type == IBV_QPT_XRC_RECV) return has(IBV_QP_SQ_PSN | IBV_QP_TIMEOUT);
      if (q.qp_type == IBV_QPT_XRC_SEND &&
          !has(IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC))
        return false;
      return has(IBV_QP_SQ_PSN) && (q.qp_type != IBV_QPT_RC || has(IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                                                                   IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC));
    default:
      return true;
  }
}

bool attributes_good(const ibv_qp_attr& a, int mask) {
  const HostFacts& f = channel()->facts;
  if ((mask & IBV_QP_PORT) != 0 && a.port_num != 1) return false;
  if ((mask & IBV_QP_PKEY_INDEX) != 0 && a.pkey_index != 0) return false;
  if ((mask & IBV_QP_MAX_QP_RD_ATOMIC) != 0 && a.max_rd_atomic > f.max_rd_atomic) return false;
  if ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) != 0 && a.max_dest_rd_atomic > f.max_rd_atomic) return false;
  if ((mask & IBV_QP_PATH_MTU) != 0 && (a.path_mtu < IBV_MTU_256 || 128U << a.path_mtu > f.mtu)) return false;
  return (mask & IBV_QP_AV) == 0 || a.ah_attr.is_global == 0 || a.ah_attr.grh.sgid_index == 0;
}

QpChange change_of(const Qp& p, const ibv_qp_attr& a, int mask) {
  QpChange c{};
  c.dest_qp = (mask & IBV_QP_DEST_QPN) != 0 ? a.dest_qp_num - kFirstQpn : kNoQueue;
  if ((mask & IBV_QP_RQ_PSN) != 0) c.rq_psn = a.rq_psn & 0xffffffU;
  if ((mask & IBV_QP_SQ_PSN) != 0) c.sq_psn = a.sq_psn & 0xffffffU;
  if ((mask & IBV_QP_MAX_QP_RD_ATOMIC) != 0) c.max_rd_atomic = a.max_rd_atomic;
  if ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) != 0) c.max_dest_rd_atomic = a.max_dest_rd_atomic;
  c.retry_count = (mask & IBV_QP_RETRY_CNT) != 0 ? a.retry_cnt : p.attributes.retry_cnt;
  c.rnr_retry = (mask & IBV_QP_RNR_RETRY) != 0 ? a.rnr_retry : p.attributes.rnr_retry;
  if ((mask & IBV_QP_TIMEOUT) != 0) c.timeout_ps = timeout_ps(a.timeout);
  if ((mask & IBV_QP_MIN_RNR_TIMER) != 0) c.min_rnr_timer_ps = rnr_timer_ps(a.min_rnr_timer);
  if ((mask & IBV_QP_PATH_MTU) != 0) c.path_mtu = 128U << a.path_mtu;
  c.qkey = (mask & IBV_QP_QKEY) != 0 ? a.qkey : p.attributes.qkey;
  c.access = (mask & IBV_QP_ACCESS_FLAGS) != 0 ? a.qp_access_flags : p.attributes.qp_access_flags;
  return c;
}

void remember(Qp& p, const ibv_qp_attr& a, int mask) {
  ibv_qp_attr& t = p.attributes;
  if ((mask & IBV_QP_ACCESS_FLAGS) != 0) t.qp_access_flags = a.qp_access_flags;
  if ((mask & IBV_QP_PKEY_INDEX) != 0) t.pkey_index = a.pkey_index;
  if ((mask & IBV_QP_PORT) != 0) t.port_num = a.port_num;
  if ((mask & IBV_QP_QKEY) != 0) t.qkey = a.qkey;
  if ((mask & IBV_QP_AV) != 0) t.ah_attr = a.ah_attr;
  if ((mask & IBV_QP_PATH_MTU) != 0) t.path_mtu = a.path_mtu;
  if ((mask & IBV_QP_TIMEOUT) != 0) t.timeout = a.timeout;
  if ((mask & IBV_QP_RETRY_CNT) != 0) t.retry_cnt = a.retry_cnt;
  if ((mask & IBV_QP_RNR_RETRY) != 0) t.rnr_retry = a.rnr_retry;
  if ((mask & IBV_QP_RQ_PSN) != 0) t.rq_psn = a.rq_psn;
  if ((mask & IBV_QP_MAX_QP_RD_ATOMIC) != 0) t.max_rd_atomic = a.max_rd_atomic;
  if ((mask & IBV_QP_MIN_RNR_TIMER) != 0) t.min_rnr_timer = a.min_rnr_timer;
  if ((mask & IBV_QP_SQ_PSN) != 0) t.sq_psn = a.sq_psn;
  if ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) != 0) t.max_dest_rd_atomic = a.max_dest_rd_atomic;
  if ((mask & IBV_QP_DEST_QPN) != 0) t.dest_qp_num = a.dest_qp_num;
}

}  // namespace

Qp* qp_numbered(std::uint32_t number) { return qps.at(number); }
Cq* cq_numbered(std::uint32_t number) { return cqs.at(number); }
Srq* srq_numbered(std::uint32_t number) { return srqs.at(number); }

ibv_qp* create_qp_ex(ibv_context* context, ibv_qp_init_attr_ex* wanted) {
  const bool target = wanted->qp_type == IBV_QPT_XRC_RECV && (wanted->comp_mask & IBV_QP_INIT_ATTR_XRCD) != 0;
  if (!target && ((wanted->comp_mask & IBV_QP_INIT_ATTR_PD) == 0 || wanted->pd == nullptr))
    return unsupported("ibv_create_qp_ex without a protection domain");
  constexpr std::uint32_t kKnown =
      IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS | IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_XRCD;
  constexpr std::uint64_t kOperations = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
                                        IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ |
                                        IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |
                                        IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW |
                                        IBV_QP_EX_WITH_SEND_WITH_INV;
  if ((wanted->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0 && (wanted->send_ops_flags & ~kOperations) != 0)
    return unsupported("ibv_create_qp_ex with these operations");
  const std::uint32_t flags = (wanted->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) != 0 ? wanted->create_flags : 0;
  constexpr std::uint32_t kNoLoopback = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB;
  if ((wanted->comp_mask & ~kKnown) != 0 || (flags & ~kNoLoopback) != 0)
    return unsupported("ibv_create_qp_ex with these attributes");
  // The extended attributes begin with the plain ones.
  return make_qp(context, target ? nullptr : wanted->pd, *reinterpret_cast<ibv_qp_init_attr*>(wanted),
                 (flags & kNoLoopback) != 0);
}

ibv_cq* create_cq_within(ibv_context* context, const ibv_cq_init_attr_ex& wanted) {
  ibv_pd* const domain = (wanted.comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) != 0 ? wanted.parent_domain : nullptr;
  return reinterpret_cast<ibv_cq*>(make_cq(context, static_cast<int>(wanted.cqe), wanted.cq_context, wanted.channel,
                                           static_cast<int>(wanted.comp_vector), domain));
}

ibv_srq* create_srq_ex(ibv_context*, ibv_srq_init_attr_ex* wanted) {
  const bool basic = (wanted->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) == 0 || wanted->srq_type == IBV_SRQT_BASIC;
  const bool xrc = !basic && wanted->srq_type == IBV_SRQT_XRC && (wanted->comp_mask & IBV_SRQ_INIT_ATTR_XRCD) != 0 &&
                   (wanted->comp_mask & IBV_SRQ_INIT_ATTR_CQ) != 0;
  if ((!basic && !xrc) || (wanted->comp_mask & IBV_SRQ_INIT_ATTR_PD) == 0)
    return unsupported("ibv_create_srq_ex of this type");
  return make_srq(wanted->pd, wanted->srq_context, wanted->attr, xrc ? of(wanted->cq) : nullptr);
}

}  // namespace loco::shim

using namespace loco::shim;

LOCO_EXPORT ibv_cq* ibv_create_cq(ibv_context* context, int entries, void* user, ibv_comp_channel* channel_,
                                  int vector) {
  return reinterpret_cast<ibv_cq*>(make_cq(context, entries, user, channel_, vector));
}

LOCO_EXPORT int ibv_resize_cq(ibv_cq* cq, int entries) {
  if (channel() == nullptr) return EIO;
  if (entries <= 0 || entries > static_cast<int>(channel()->facts.max_cqe)) return refused(EINVAL);
  const std::int64_t error = call(Request::resize_cq, of(cq)->number, static_cast<std::uint64_t>(entries));
  if (error != 0) return refused(static_cast<int>(error));
  cq->cqe = entries;
  return 0;
}

LOCO_EXPORT int ibv_destroy_cq(ibv_cq* cq) {
  Cq* const q = of(cq);
  if (q->users != 0) return refused(EBUSY);
  give_back(q->memory);
  if (cq->channel != nullptr) --cq->channel->refcnt;
  cqs.set(q->number, nullptr);
  if (channel() != nullptr) call(Request::destroy, static_cast<std::uint64_t>(Made::cq), q->number);
  std::free(q);
  return 0;
}

LOCO_EXPORT ibv_srq* ibv_create_srq(ibv_pd* pd, ibv_srq_init_attr* wanted) {
  return make_srq(pd, wanted->srq_context, wanted->attr);
}

LOCO_EXPORT int ibv_modify_srq(ibv_srq* srq, ibv_srq_attr* a, int mask) {
  if (channel() == nullptr) return EIO;
  if ((mask & IBV_SRQ_MAX_WR) != 0) return unsupported("ibv_modify_srq of its size");
  if ((mask & IBV_SRQ_LIMIT) == 0) return 0;
  if (a->srq_limit > of(srq)->entries) return refused(EINVAL);
  of(srq)->limit = a->srq_limit;
  call(Request::modify_srq, of(srq)->number, a->srq_limit);
  return 0;
}

LOCO_EXPORT int ibv_query_srq(ibv_srq* srq, ibv_srq_attr* out) {
  *out = {of(srq)->entries, of(srq)->sges, of(srq)->limit};
  return 0;
}

LOCO_EXPORT int ibv_destroy_srq(ibv_srq* srq) {
  Srq* const s = of(srq);
  if (s->users != 0) return refused(EBUSY);
  give_back(s->memory);
  --of(srq->pd)->users;
  if (s->cq != nullptr) --s->cq->users;
  srqs.set(s->number, nullptr);
  if (channel() != nullptr) call(Request::destroy, static_cast<std::uint64_t>(Made::srq), s->number);
  std::free(s);
  return 0;
}

LOCO_EXPORT ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* wanted) { return make_qp(pd->context, pd, *wanted); }
LOCO_EXPORT ibv_qp_ex* ibv_qp_to_qp_ex(ibv_qp* qp) { return reinterpret_cast<ibv_qp_ex*>(qp); }

LOCO_EXPORT int ibv_modify_qp(ibv_qp* qp, ibv_qp_attr* a, int mask) {
  if (channel() == nullptr) return EIO;
  Qp& p = *of(qp);
  const ibv_qp_state to = (mask & IBV_QP_STATE) != 0 ? a->qp_state : qp->state;
  if (!attributes_there(*qp, to, mask) || !attributes_good(*a, mask)) return refused(EINVAL);
  constexpr int kNoted = IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | IBV_QP_QKEY;  // also without a new state
  const bool within = (mask & kNoted) != 0 && (to == IBV_QPS_INIT || to == IBV_QPS_RTS || to == IBV_QPS_SQD);
  if ((mask & IBV_QP_STATE) != 0 || within) {
    const QpChange change = change_of(p, *a, mask);
    std::memcpy(channel()->data, &change, sizeof(change));
    const auto error = static_cast<int>(call(Request::modify_qp, p.number, static_cast<std::uint64_t>(to)));
    if (error != 0) return refused(error);
    qp->state = to;
    if (to == IBV_QPS_RESET && checks()) check_forget(p.number);
    if (to == IBV_QPS_RESET) {  // the NIC's numbers continue
      p.reaped = p.posted;
      p.receives = 0;
    }
  }
  remember(p, *a, mask);
  return 0;
}

LOCO_EXPORT int ibv_query_qp(ibv_qp* qp, ibv_qp_attr* a, int, ibv_qp_init_attr* made_with) {
  if (channel() == nullptr) return EIO;
  Qp& p = *of(qp);
  qp->state = static_cast<ibv_qp_state>(call(Request::query_qp, p.number));
  *a = p.attributes;
  a->qp_state = a->cur_qp_state = qp->state;
  a->cap = p.made_with.cap;
  if (made_with != nullptr) *made_with = p.made_with;
  return 0;
}

LOCO_EXPORT int ibv_destroy_qp(ibv_qp* qp) {
  Qp* const p = of(qp);
  if (p->opened != 0) {
    --p->opened;
    return 0;
  }
  give_back(p->memory);
  if (qp->pd != nullptr) --of(qp->pd)->users;
  count_user(qp->send_cq, ~0U);
  count_user(qp->recv_cq, ~0U);
  if (qp->srq != nullptr) --of(qp->srq)->users;
  qps.set(p->number, nullptr);
  if (checks()) check_forget(p->number);
  if (channel() != nullptr) call(Request::destroy, static_cast<std::uint64_t>(Made::qp), p->number);
  while (p->specials != nullptr) {
    Special* const gone = p->specials;
    p->specials = gone->next;
    std::free(gone);
  }
  std::free(p->batch);
  std::free(p);
  return 0;
}

LOCO_EXPORT int ibv_query_qp_data_in_order(ibv_qp*, ibv_wr_opcode, std::uint32_t) { return 0; }

LOCO_EXPORT int ibv_query_ece(ibv_qp*, ibv_ece* ece) {
  *ece = {};
  return 0;
}
LOCO_EXPORT int ibv_set_ece(ibv_qp*, ibv_ece* ece) {
  ece->options = 0;
  return 0;
}

LOCO_EXPORT ibv_ah* ibv_create_ah(ibv_pd* pd, ibv_ah_attr* a) {
  if (no_conductor()) return nullptr;
  if (a->port_num != 1 || (channel()->facts.infiniband == 0 && a->is_global == 0)) return failed(EINVAL);
  auto* const made = make_object<AddressHandle>();
  if (made == nullptr) return nullptr;
  made->ah.context = pd->context;
  made->ah.pd = pd;
  made->to = a->grh.dgid;
  ++of(pd)->users;
  return &made->ah;
}

LOCO_EXPORT int ibv_init_ah_from_wc(ibv_context*, std::uint8_t port, ibv_wc* wc, ibv_grh* grh, ibv_ah_attr* out) {
  std::memset(out, 0, sizeof(*out));
  out->port_num = port;
  out->dlid = wc->slid;
  out->sl = wc->sl;
  if ((wc->wc_flags & IBV_WC_GRH) != 0 || (channel() != nullptr && channel()->facts.infiniband == 0)) {
    out->is_global = 1;
    if (grh != nullptr) out->grh.dgid = grh->sgid;
    out->grh.hop_limit = 0xff;
  }
  return 0;
}

LOCO_EXPORT ibv_ah* ibv_create_ah_from_wc(ibv_pd* pd, ibv_wc* wc, ibv_grh* grh, std::uint8_t port) {
  ibv_ah_attr a;
  ibv_init_ah_from_wc(pd->context, port, wc, grh, &a);
  return ibv_create_ah(pd, &a);
}

namespace {

int change_group(ibv_qp* qp, const ibv_gid* gid, bool attach) {
  if (channel() == nullptr) return EIO;
  if (qp->qp_type != IBV_QPT_UD || gid->raw[0] != 0xff) {
    // a group's GID is an IPv6 multicast address, or a mapped IPv4 one
    static constexpr std::uint8_t kMapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    if (qp->qp_type != IBV_QPT_UD || std::memcmp(gid->raw, kMapped, sizeof(kMapped)) != 0 || gid->raw[12] >> 4U != 0xe)
      return refused(EINVAL);
  }
  const std::int64_t error =
      call(Request::multicast, of(qp)->number, attach ? 1 : 0, gid->global.subnet_prefix, gid->global.interface_id);
  return error == 0 ? 0 : int{refused(static_cast<int>(error))};
}

}  // namespace

LOCO_EXPORT int ibv_attach_mcast(ibv_qp* qp, const ibv_gid* gid, std::uint16_t) { return change_group(qp, gid, true); }
LOCO_EXPORT int ibv_detach_mcast(ibv_qp* qp, const ibv_gid* gid, std::uint16_t) { return change_group(qp, gid, false); }

LOCO_EXPORT int ibv_destroy_ah(ibv_ah* ah) {
  --of(ah->pd)->users;
  std::free(ah);
  return 0;
}

LOCO_EXPORT int ibv_resolve_eth_l2_from_gid(ibv_context*, ibv_ah_attr*, std::uint8_t mac[6], std::uint16_t* vlan) {
  std::memset(mac, 0, 6);
  if (vlan != nullptr) *vlan = 0xffff;
  return 0;
}
