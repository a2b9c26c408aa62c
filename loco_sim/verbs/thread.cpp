#include "loco_sim/verbs/thread.hpp"

#include <array>
#include <fmt/format.h>

#include "hosts/costs.hpp"
#include "rdma/status.hpp"

namespace loco::verbs {

hosts::Thread& Thread::core(Where where) {
  hosts::Thread& core = fibers_.current();
  core.at(where.file, where.line);
  return core;
}

sim::SimTime Thread::now() const { return fibers_.current().now(); }

void Thread::compute(sim::Duration time) {
  // Half of all representable time; what is then in flight ends within the other half.
  constexpr std::int64_t kEnd = std::int64_t{1} << 62;
  if (time.ps < 0 || time.ps > kEnd - now().ps)
    throw std::invalid_argument(fmt::format(
        "compute: expected to end within {} ps of simulated time, found {} ps at {}", kEnd, time.ps, now().ps));
  core().time.compute(time.ps);
}

void Thread::post_send(nic::QpId qp, const nic::Wqe& request, Where where) {
  post_sends(qp, std::span(&request, 1), where);
}

void Thread::post_sends(nic::QpId qp, std::span<const nic::Wqe> requests, Where where) {
  hosts::Thread& thread = core(where);
  switch (thread.post_send(qp, requests)) {
    case nic::PostResult::ok:
      break;
    case nic::PostResult::queue_full:
      throw VerbsError(fmt::format("post_send: the send queue of queue pair {} is full: poll its completions", qp));
    case nic::PostResult::bad_request:
      throw VerbsError(
          fmt::format("post_send: queue pair {} does not take this request (not ready to send, an inline "
                      "payload too long, or not of this transport)",
                      qp));
  }
  thread.settle();
}

void Thread::post_recv(nic::QpId qp, const nic::RecvWqe& request, Where where) {
  post_recvs(qp, std::span(&request, 1), where);
}

void Thread::post_recvs(nic::QpId qp, std::span<const nic::RecvWqe> requests, Where where) {
  hosts::Thread& thread = core(where);
  if (thread.post_recv(qp, requests, hosts::receive_cost(fibers_.profile(), requests.size())) != nic::PostResult::ok)
    throw VerbsError(fmt::format("post_recv: queue pair {} takes no more receives", qp));
  thread.settle();
}

void Thread::post_srq_recv(nic::SrqId srq, const nic::RecvWqe& request, Where where) {
  post_srq_recvs(srq, std::span(&request, 1), where);
}

void Thread::post_srq_recvs(nic::SrqId srq, std::span<const nic::RecvWqe> requests, Where where) {
  hosts::Thread& thread = core(where);
  if (thread.post_srq_recv(srq, requests, hosts::receive_cost(fibers_.profile(), requests.size())) !=
      nic::PostResult::ok)
    throw VerbsError(fmt::format("post_srq_recv: shared receive queue {} takes no more receives", srq));
  thread.settle();
}

bool Thread::srq_limit_reached(nic::SrqId srq) {
  static_cast<void>(core());
  return fibers_.cpu().srq_limit_reached(srq);
}

std::string_view name(AsyncEvent::Type type) { return type == AsyncEvent::Type::cq_err ? "CQ_ERR" : "QP_FATAL"; }

std::optional<AsyncEvent> Thread::get_async_event() {
  static_cast<void>(core());
  const nic::System& system = fibers_.system();
  std::optional<AsyncEvent> first;
  const auto happened = [&](AsyncEvent event) {
    if (!taken_->contains(event) && (!first || event < *first)) first = event;
  };
  for (nic::QpId qp = 0; qp < system.made().queue_pairs; ++qp) {
    if (system.qp_node(qp) != node_) continue;
    const auto made = system.queue_pair(qp);
    bool lost = false;
    for (const nic::CqId cq : {made.send_cq, made.recv_cq}) {
      if (!system.cq_overrun(cq)) continue;
      lost = true;
      happened({AsyncEvent::Type::cq_err, cq});
    }
    if (lost && system.qp_state(qp) == nic::QpState::error) happened({AsyncEvent::Type::qp_fatal, qp});
  }
  if (first) taken_->insert(*first);
  return first;
}

std::optional<nic::Cqe> Thread::poll_cq(nic::CqId cq, Where where) {
  std::array<nic::Cqe, 1> taken;
  hosts::Thread& thread = core(where);
  const bool found = thread.poll_all(cq, taken) != 0;
  thread.settle();
  return found ? std::optional(taken[0]) : std::nullopt;
}

nic::Cqe Thread::wait_cq(nic::CqId cq, Where where) {
  hosts::Thread& thread = core(where);
  const nic::Cqe taken = thread.wait_cq(cq);
  thread.settle();
  return taken;
}

std::uint64_t Thread::load(nic::Address address, Where where) {
  hosts::Thread& thread = core(where);
  const std::uint64_t value = thread.load(address);
  thread.settle();
  return value;
}

std::uint64_t Thread::load_flag(nic::Address address, Where where) {
  hosts::Thread& thread = core(where);
  const std::uint64_t value = thread.load(address, true);
  thread.settle();
  return value;
}

std::uint64_t Thread::wait_for_change(nic::Address address, std::uint64_t old, Where where) {
  hosts::Thread& thread = core(where);
  const std::uint64_t value = thread.wait_for_change(address, old);
  thread.settle();
  return value;
}

void Thread::store(nic::Address address, std::uint64_t value, Where where) {
  hosts::Thread& thread = core(where);
  thread.store(address, value);
  thread.settle();
}

std::uint64_t Thread::compare_swap(nic::Address address, std::uint64_t expected, std::uint64_t desired, Where where) {
  hosts::Thread& thread = core(where);
  const std::uint64_t old = thread.compare_swap(address, expected, desired);
  thread.settle();
  return old;
}

void Thread::fence(Where where) {
  hosts::Thread& thread = core(where);
  thread.fence();
  thread.settle();
}

void Thread::modify_qp(nic::QpId qp, nic::QpState to, const nic::QpAttributes& attributes) {
  hosts::Thread& thread = core();
  switch (fibers_.system().modify_qp(qp, to, attributes)) {
    case nic::ModifyResult::ok:
      if (to == nic::QpState::reset) thread.record_reset(qp);
      return;
    case nic::ModifyResult::invalid_transition:
      throw VerbsError(fmt::format("modify_qp: queue pair {} cannot go to that state from the one that it is in", qp));
    case nic::ModifyResult::invalid_attribute:
      throw VerbsError(fmt::format("modify_qp: an attribute that queue pair {} does not take there", qp));
  }
}

}  // namespace loco::verbs
