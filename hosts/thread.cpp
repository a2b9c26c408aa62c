#include "hosts/thread.hpp"

#include <vector>

#include "hosts/costs.hpp"
#include "hosts/fibers.hpp"
#include "hosts/verbs_calls.hpp"

namespace loco::hosts {

nic::Cpu& Thread::cpu() const { return fibers_.cpu(); }
const nic::HardwareProfile& Thread::profile() const { return fibers_.profile(); }

sim::SimTime Thread::now() const { return fibers_.machine_time() + time.offset(); }

trace::CallId Thread::begin_operation(trace::Method method, std::uint64_t argument, std::uint64_t work_id) {
  Recorder* const recorder = fibers_.recorder();
  if (recorder == nullptr) return 0;
  return recorder->begin_operation(fibers_.current_id(), method, argument, work_id, fibers_.system().seq(), now().ps);
}

void Thread::finish_operation(trace::CallId call, std::uint64_t result) {
  if (call != 0 && fibers_.recorder() != nullptr)
    fibers_.recorder()->finish(call, result, fibers_.system().seq(), now().ps);
}

VerbsRecorder* Thread::verbs() const {
  Recorder* const recorder = fibers_.recorder();
  return recorder == nullptr ? nullptr : recorder->verbs();
}

void Thread::record_reset(nic::QpId qp) {
  if (verbs() != nullptr) verbs()->reset(fibers_.system(), qp);
}

/// Precondition: a verbs program is being recorded.
Caller Thread::caller() const {
  Recorder& recorder = *fibers_.recorder();
  return {recorder, fibers_.current_id(), recorder.verbs()->place(file_, line_), fibers_.system(), now().ps};
}

void Thread::place(trace::CallId call, bool flag) {
  VerbsRecorder* const record = verbs();
  if (record == nullptr || call == 0) return;
  record->set_place(call, record->place(file_, line_));
  if (flag) record->set_flag(call);
}

// --- memory ----------------------------------------------------------------------------------------------------------

std::uint64_t Thread::load(nic::Address address, bool flag) {
  look(Access::look, Look::What::word, address);
  const trace::CallId call = begin_operation(trace::Method::read);
  place(call, flag);
  const std::uint64_t value = cpu().load(address, call);
  finish_operation(call, value);
  time.advance(profile().cpu_load);
  saw(value);
  return value;
}

void Thread::store(nic::Address address, std::uint64_t value) {
  change(Access::buffered_change);
  time.make_room();
  const trace::CallId call = begin_operation(trace::Method::write, value);
  place(call);
  cpu().store(address, value, call, time.ahead());
  finish_operation(call, 0);
  time.advance(profile().cpu_store);
  if (!fibers_.strong()) return;
  settle();
  time.drain();
}

std::uint64_t Thread::compare_swap(nic::Address address, std::uint64_t expected, std::uint64_t desired) {
  change(Access::change);
  time.drain();
  const trace::CallId call = begin_operation(trace::Method::cas, desired);
  place(call, true);
  const std::uint64_t old = cpu().compare_swap(address, expected, desired, call);
  finish_operation(call, old);
  time.advance(profile().cpu_atomic);
  return old;
}

void Thread::fence() {
  change(Access::change);
  time.drain();
  const trace::CallId call = begin_operation(trace::Method::mfence);
  place(call);
  cpu().fence(call);
  finish_operation(call, 0);
  time.advance(profile().cpu_fence);
}

std::uint64_t Thread::flag_value(Access access, std::uint32_t flag) {
  look(access, Look::What::flag, flag);
  const std::uint64_t value = cpu().flag_load(flag);
  time.advance(profile().cpu_load);
  saw(value);
  return value;
}

// --- verbs -----------------------------------------------------------------------------------------------------------

void Thread::build(std::size_t count) { time.advance(build_cost(profile(), count)); }

nic::PostResult Thread::ring(nic::QpId qp, std::span<const nic::Wqe> wqes) {
  const nic::PostResult result = cpu().post_send(qp, wqes, time.ahead());
  if (result != nic::PostResult::ok) return result;
  for (const nic::Wqe& wqe : wqes) finish_operation(wqe.op, 0);
  time.advance(ring_cost(profile()));
  const bool waits = std::ranges::all_of(wqes, [](const nic::Wqe& wqe) {
    return wqe.opcode != nic::Opcode::send && !wqe.with_imm;
  });  // no other thread's turn
  if (fibers_.strong() && waits) settle_queue_pair(qp);
  return result;
}

/// Config::strong: waits until everything posted is done, in memory on both sides, or the queue pair has failed.
void Thread::settle_queue_pair(nic::QpId qp) {
  constexpr sim::Duration kTurn{100'000};  // 100 ns
  nic::System& system = fibers_.system();
  settle();
  while (!system.qp_settled(qp) && system.qp_state(qp) == nic::QpState::rts) {
    time.advance(kTurn);
    settle();
  }
}

nic::PostResult Thread::post_send(nic::QpId qp, std::span<const nic::Wqe> wqes) {
  build(wqes.size());
  change(Access::change);
  time.make_room();
  if (verbs() == nullptr) return ring(qp, wqes);
  std::vector<nic::Wqe> recorded(wqes.begin(), wqes.end());
  for (nic::Wqe& wqe : recorded) begin_request(caller(), wqe);
  const nic::PostResult result = ring(qp, recorded);
  if (result == nic::PostResult::ok)
    for (const nic::Wqe& wqe : recorded) verbs()->posted(wqe.op, qp, wqe);
  return result;
}

void Thread::receives_posted(std::uint32_t queue, std::span<const nic::RecvWqe> wqes) {
  if (verbs() == nullptr) return;
  for (const nic::RecvWqe& wqe : wqes) posted_receive(caller(), queue, wqe);
}

nic::PostResult Thread::post_recv(nic::QpId qp, std::span<const nic::RecvWqe> wqes, sim::Duration cost) {
  change(Access::change);
  time.make_room();
  const nic::PostResult result = cpu().post_recv(qp, wqes);
  if (result != nic::PostResult::ok) return result;
  receives_posted(fibers_.system().queue_pair(qp).receives, wqes);
  time.advance(cost);
  return result;
}

nic::PostResult Thread::post_srq_recv(nic::SrqId srq, std::span<const nic::RecvWqe> wqes, sim::Duration cost) {
  change(Access::change);
  time.make_room();
  const nic::PostResult result = cpu().post_srq_recv(srq, wqes);
  if (result != nic::PostResult::ok) return result;
  receives_posted(srq, wqes);
  time.advance(cost);
  return result;
}

void Thread::polled(nic::CqId cq, std::span<const nic::Cqe> cqes) {
  if (verbs() == nullptr) return;
  for (const nic::Cqe& cqe : cqes) took_completion(caller(), cpu(), cq, cqe);
}

std::size_t Thread::poll_all(nic::CqId cq, std::span<nic::Cqe> out) {
  look(Access::look, Look::What::completions, cq);
  const std::size_t taken = cpu().poll_cq(cq, out);
  polled(cq, out.first(taken));
  time.after_whole_poll(taken);
  return taken;
}

nic::Cqe Thread::wait_cq(nic::CqId cq) {
  std::array<nic::Cqe, 1> taken;
  change(Access::change);
  cpu().forget_watched();
  while (cpu().poll_cq(cq, taken) == 0) {
    note({Look::What::completions, cq, 0});
    cpu().pause(poll_cost(profile(), 0));
    fibers_.suspend();
  }
  polled(cq, taken);
  looked_count = 0;
  time.advance(poll_cost(profile(), 1));
  return taken[0];
}

std::uint64_t Thread::wait_for_change(nic::Address address, std::uint64_t old) {
  change(Access::change);
  cpu().forget_watched();
  while (true) {
    const trace::CallId call = begin_operation(trace::Method::read);
    place(call, true);
    const std::uint64_t value = cpu().load(address, call);
    finish_operation(call, value);
    if (value != old) {
      looked_count = 0;
      time.advance(profile().cpu_load);
      return value;
    }
    note({Look::What::word, address, value});
    cpu().pause(profile().cpu_load);
    fibers_.suspend();
  }
}

std::size_t Thread::poll(nic::CqId cq, std::span<nic::Cqe> out) {
  look(cpu().cq_empty(cq) ? Access::early_look : Access::poll, Look::What::completions, cq);
  const std::size_t taken = cpu().poll_cq(cq, out.first(time.poll_limit(out.size())));
  polled(cq, out.first(taken));
  time.after_poll(taken);
  return taken;
}

}  // namespace loco::hosts
