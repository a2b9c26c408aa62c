// Polling: completions are fetched with one change of control, the next poll of an emptied queue is answered here, and
// a loop that polls in vain waits.
//
// The cycle consists of the completion queues that the thread's last calls found empty, in order. A thread that comes
// to the first of them again is in a polling loop, and the conductor resumes it at the turn of that loop which sees
// something new in any of them. Looks at descriptors in between belong to the loop; other calls end it.
#include <cstdlib>
#include <cstring>

#include "exec/shim/check.hpp"
#include "exec/shim/objects.hpp"

namespace loco::shim {

namespace {

constexpr std::uint32_t kCycleMax = 64;

struct Cycle {
  std::uint32_t queues[kCycleMax];
  std::uint32_t count;
  std::uint32_t looks;  ///< at descriptors
};
thread_local Cycle t_cycle __attribute__((tls_model("initial-exec")));

/// Looks at descriptors in a row without a change of control. A loop that does nothing else has turns that begin with a
/// microsecond and double, as repeated clock reads do, or it would not see time pass.
struct IdleLooks {
  std::uint32_t count;
  std::int64_t turn_ps;
};
thread_local IdleLooks t_idle_looks __attribute__((tls_model("initial-exec")));
constexpr std::uint32_t kLooksMax = 256;
constexpr std::int64_t kLooksTurn = 1'000'000;
constexpr std::int64_t kLooksTurnMax = 64 * kLooksTurn;

void found_empty(std::uint32_t queue) {
  Cycle& cycle = t_cycle;
  for (std::uint32_t i = 0; i < cycle.count; ++i)
    if (cycle.queues[i] == queue) return;
  if (cycle.count < kCycleMax) cycle.queues[cycle.count++] = queue;
}

bool is_receive(const Completion& c) {
  return c.operation == static_cast<std::uint32_t>(Operation::recv) ||
         c.operation == static_cast<std::uint32_t>(Operation::recv_with_imm);
}

/// Restores the kind of a request that the simulator has completed as another.
void name_operation(Qp& p, Completion& c) {
  while (p.specials != nullptr && static_cast<std::int32_t>(c.place - p.specials->place) >= 0) {
    Special* const gone = p.specials;
    if (gone->place == c.place) c.operation = static_cast<std::uint32_t>(gone->operation);
    p.specials = gone->next;
    std::free(gone);
  }
}

/// Reports it to --check.
void note_done(const Qp& p, const Completion& c, bool receive) {
  if (!receive) return check_sends_done(p.number, c.place);
  const bool shared = p.qp.qp_base.srq != nullptr || c.srq != kNoQueue;
  const std::uint32_t queue = c.srq != kNoQueue ? c.srq : shared ? of(p.qp.qp_base.srq)->number : p.number;
  check_receive_done(queue, shared, c.wr_id);
}

void take_notice(Completion& c) {
  if (c.srq != kNoQueue && srq_numbered(c.srq) != nullptr) --srq_numbered(c.srq)->outstanding;
  Qp* const p = qp_numbered(c.qp);
  if (p == nullptr) return;
  const bool receive = is_receive(c);
  if (checks()) note_done(*p, c, receive);
  if (!receive && p->specials != nullptr) name_operation(*p, c);
  if (c.status != 0)
    p->qp.qp_base.state =
        p->qp.qp_base.qp_type == IBV_QPT_RC || is_xrc(p->qp.qp_base.qp_type) || receive ? IBV_QPS_ERR : IBV_QPS_SQE;
  if (!receive) {
    if (static_cast<std::int32_t>(c.place + 1 - p->reaped) > 0) p->reaped = c.place + 1;
  } else if (p->qp.qp_base.srq != nullptr) {
    --of(p->qp.qp_base.srq)->outstanding;
  } else if (p->receives != 0) {
    --p->receives;
  }
}

/// Number of completions of the queue that are in the channel's data.
std::uint32_t poll(Cq& q, std::uint32_t entries) {
  Channel& c = *channel();
  if (q.known_empty) {
    q.known_empty = false;
    c.ahead_ps += c.facts.poll_empty_ps;
    clock_used_otherwise();
    found_empty(q.number);
    close_learnt_page();
    return 0;
  }
  Cycle& cycle = t_cycle;
  const bool again = cycle.count != 0 && cycle.queues[0] == q.number;
  const std::uint32_t watched = again ? cycle.count : 0;
  std::memcpy(c.data, cycle.queues, watched * sizeof(std::uint32_t));
  const auto found = static_cast<std::uint32_t>(
      call(Request::poll_cq, q.number, entries < kCompletionsMax ? entries : kCompletionsMax, watched, cycle.looks));
  if (found != 0 || again) break_cycle();
  if (found == 0) {
    found_empty(q.number);
    return 0;
  }
  q.known_empty = c.replies[1] == 0;
  auto* const completions = reinterpret_cast<Completion*>(c.data);
  for (std::uint32_t i = 0; i < found; ++i) take_notice(completions[i]);
  return found;
}

}  // namespace

void break_cycle() { t_cycle.count = t_cycle.looks = 0; }

void note_empty_look() {
  ++t_cycle.looks;
  IdleLooks& idle = t_idle_looks;
  if (++idle.count < kLooksMax) return;
  const std::int64_t turn = idle.turn_ps == 0 ? kLooksTurn : idle.turn_ps;
  call(Request::wait_io, static_cast<std::uint64_t>(program_time() + turn));
  idle.turn_ps = turn < kLooksTurnMax ? 2 * turn : turn;
}
void handed_over() { t_idle_looks = {}; }

ibv_wc_status status_of(const Completion& c) {
  static constexpr ibv_wc_status kStatus[] = {IBV_WC_SUCCESS,      IBV_WC_LOC_LEN_ERR,     IBV_WC_LOC_PROT_ERR,
                                              IBV_WC_WR_FLUSH_ERR, IBV_WC_REM_INV_REQ_ERR, IBV_WC_REM_ACCESS_ERR,
                                              IBV_WC_REM_OP_ERR,   IBV_WC_RETRY_EXC_ERR,   IBV_WC_RNR_RETRY_EXC_ERR};
  return kStatus[c.status];
}

ibv_wc_opcode opcode_of(const Completion& c) {
  static constexpr ibv_wc_opcode kOpcode[] = {IBV_WC_RDMA_WRITE,         IBV_WC_RDMA_READ, IBV_WC_COMP_SWAP,
                                              IBV_WC_FETCH_ADD,          IBV_WC_SEND,      IBV_WC_RECV,
                                              IBV_WC_RECV_RDMA_WITH_IMM, IBV_WC_BIND_MW,   IBV_WC_LOCAL_INV};
  return kOpcode[c.operation];
}

void fill(const Completion& from, ibv_wc& out) {
  out = {};
  out.wr_id = from.wr_id;
  out.status = status_of(from);
  out.opcode = opcode_of(from);
  out.byte_len = from.length;
  out.imm_data = from.imm;
  out.qp_num = from.qp + kFirstQpn;
  if (from.with_imm) out.wc_flags |= from.invalidated ? IBV_WC_WITH_INV : IBV_WC_WITH_IMM;
  if (from.srq != kNoQueue) out.src_qp = from.srq;
  if (from.source_qp != kNoQueue) {
    out.src_qp = from.source_qp + kFirstQpn;
    out.wc_flags |= IBV_WC_GRH;
    constexpr std::uint8_t kIpv4 = 2;  // kind of header, as in mlx5
    if (channel()->facts.infiniband == 0) out.sl = kIpv4;
  }
}

int poll_cq(ibv_cq* cq, int entries, ibv_wc* out) {
  if (channel() == nullptr || entries < 0) return -1;
  if (entries == 0) return 0;
  const std::uint32_t found = poll(*of(cq), static_cast<std::uint32_t>(entries));
  const auto* const completions = reinterpret_cast<const Completion*>(channel()->data);
  for (std::uint32_t i = 0; i < found; ++i) fill(completions[i], out[i]);
  return static_cast<int>(found);
}

bool poll_one(Cq& cq, Completion& out) {
  if (channel() == nullptr || poll(cq, 1) == 0) return false;
  std::memcpy(&out, channel()->data, sizeof(out));
  return true;
}

// --- extended completion queues --------------------------------------------------------------------------------------

namespace {

Cq& of_ex(ibv_cq_ex* cq) { return *reinterpret_cast<Cq*>(cq); }

int next_poll(ibv_cq_ex* cq) {
  Cq& q = of_ex(cq);
  if (!poll_one(q, q.current)) return ENOENT;
  cq->wr_id = q.current.wr_id;
  cq->status = status_of(q.current);
  return 0;
}

std::uint64_t clock_ns(ibv_cq_ex*) { return static_cast<std::uint64_t>(channel()->now_ps / 1000); }

}  // namespace

ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* wanted) {
  constexpr std::uint64_t kKnown =
      IBV_CREATE_CQ_SUP_WC_FLAGS &
      ~static_cast<std::uint64_t>(IBV_WC_EX_WITH_CVLAN | IBV_WC_EX_WITH_FLOW_TAG | IBV_WC_EX_WITH_TM_INFO);
  if ((wanted->wc_flags & ~kKnown) != 0 ||
      (wanted->comp_mask & ~static_cast<std::uint32_t>(IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD)) != 0)
    return unsupported("ibv_create_cq_ex with these attributes");
  ibv_cq* const made = create_cq_within(context, *wanted);
  if (made == nullptr) return nullptr;
  auto* const cq = reinterpret_cast<ibv_cq_ex*>(made);
  cq->start_poll = [](ibv_cq_ex* q, ibv_poll_cq_attr* a) { return a->comp_mask != 0 ? EINVAL : next_poll(q); };
  cq->next_poll = next_poll;
  cq->end_poll = [](ibv_cq_ex*) {};
  cq->read_opcode = [](ibv_cq_ex* q) { return opcode_of(of_ex(q).current); };
  cq->read_vendor_err = [](ibv_cq_ex*) { return std::uint32_t{0}; };
  cq->read_byte_len = [](ibv_cq_ex* q) { return of_ex(q).current.length; };
  cq->read_imm_data = [](ibv_cq_ex* q) { return static_cast<__be32>(of_ex(q).current.imm); };
  cq->read_qp_num = [](ibv_cq_ex* q) { return of_ex(q).current.qp + kFirstQpn; };
  cq->read_src_qp = [](ibv_cq_ex* q) { return of_ex(q).current.source_qp + kFirstQpn; };
  cq->read_wc_flags = [](ibv_cq_ex* q) {
    ibv_wc wc;
    fill(of_ex(q).current, wc);
    return wc.wc_flags;
  };
  cq->read_slid = [](ibv_cq_ex*) { return std::uint32_t{0}; };
  cq->read_sl = [](ibv_cq_ex* q) {
    ibv_wc wc;
    fill(of_ex(q).current, wc);
    return wc.sl;
  };
  cq->read_dlid_path_bits = [](ibv_cq_ex*) { return std::uint8_t{0}; };
  cq->read_completion_ts = clock_ns;
  cq->read_completion_wallclock_ns = clock_ns;
  return cq;
}

}  // namespace loco::shim
