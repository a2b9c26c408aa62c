#include "loco_sim/verbs/machine.hpp"

#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <stdexcept>
#include <utility>

namespace loco::verbs {

nic::Cpu& Thread::cpu() const {
  if (machine_.cpu_ == nullptr) throw sim::FiberCancelled();  // a destructor, while the machine is taken down
  return *machine_.cpu_;
}

sim::SimTime Thread::now() const { return cpu().now(); }

void Thread::compute(sim::Duration time) {
  // Half of the time that there is: what is under way then ends before the other half has passed.
  constexpr std::int64_t kEnd = std::int64_t{1} << 62;
  if (time.ps < 0 || time.ps > kEnd - now().ps)
    throw std::invalid_argument(fmt::format(
        "compute: expected to end within {} ps of simulated time, found {} ps at {}", kEnd, time.ps, now().ps));
  cpu().resume_after(time);
  machine_.suspend();
}

void Thread::call_outside(const std::function<void()>& f) {
  machine_.outside_ = &f;
  machine_.suspend();
}

void Thread::store_buffer_room() {
  while (cpu().store_buffer_full()) {
    cpu().resume_when_room();
    machine_.suspend();
  }
}

void Thread::post_send(nic::QpId qp, const nic::Wqe& request) {
  compute(cpu().profile().cpu_post_wqe);
  store_buffer_room();
  switch (cpu().post_send(qp, {&request, 1})) {
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
  compute(cpu().profile().cpu_doorbell);
}

void Thread::post_recv(nic::QpId qp, const nic::RecvWqe& request) {
  store_buffer_room();
  if (cpu().post_recv(qp, {&request, 1}) != nic::PostResult::ok)
    throw VerbsError(fmt::format("post_recv: queue pair {} takes no more receives", qp));
  compute(cpu().profile().cpu_store);
}

std::optional<nic::Cqe> Thread::poll_cq(nic::CqId cq) {
  std::array<nic::Cqe, 1> taken;
  const bool found = cpu().poll_cq(cq, taken) != 0;
  compute(found ? cpu().profile().cpu_poll_cqe : cpu().profile().cpu_poll_empty);
  return found ? std::optional(taken[0]) : std::nullopt;
}

nic::Cqe Thread::wait_cq(nic::CqId cq) {
  std::array<nic::Cqe, 1> taken;
  cpu().forget_watched();
  while (cpu().poll_cq(cq, taken) == 0) {
    waits_for_ = fmt::format("a completion in completion queue {}", cq);
    cpu().pause(cpu().profile().cpu_poll_empty);
    machine_.suspend();
  }
  waits_for_.clear();
  compute(cpu().profile().cpu_poll_cqe);
  return taken[0];
}

std::uint64_t Thread::load(nic::Address address) {
  const std::uint64_t value = cpu().load(address);
  compute(cpu().profile().cpu_load);
  return value;
}

std::uint64_t Thread::wait_for_change(nic::Address address, std::uint64_t old) {
  cpu().forget_watched();
  std::uint64_t value = old;
  while ((value = cpu().load(address)) == old) {
    waits_for_ = fmt::format("a change of the word at {:#x}", address);
    cpu().pause(cpu().profile().cpu_load);
    machine_.suspend();
  }
  waits_for_.clear();
  compute(cpu().profile().cpu_load);
  return value;
}

void Thread::store(nic::Address address, std::uint64_t value) {
  store_buffer_room();
  cpu().store(address, value);
  compute(cpu().profile().cpu_store);
}

void Thread::fence() {
  while (!cpu().store_buffer_empty()) {
    cpu().resume_when_drained();
    machine_.suspend();
  }
  cpu().fence();
  compute(cpu().profile().cpu_fence);
}

Machine::~Machine() = default;

void Machine::spawn(nic::NodeId node, Program program) {
  const nic::ThreadId id = system_.create_thread(node);
  threads_.push_back(std::unique_ptr<Thread>(new Thread(*this, node, fmt::format("thread {} of host {}", id, node))));
  Thread& thread = *threads_.back();
  fibers_.push_back(pool_.create([&thread, program = std::move(program)] { program(thread); }));
}

void Machine::run(nic::Cpu& cpu) {
  struct Step {  // its end is told to the machine also when a program throws
    nic::Cpu*& current;
    ~Step() { current = nullptr; }
  };
  const sim::FiberId fiber = fibers_.at(cpu.thread());
  cpu_ = &cpu;
  const Step step{cpu_};
  pool_.resume(fiber);
  while (outside_ != nullptr) {
    (*std::exchange(outside_, nullptr))();
    pool_.resume(fiber);
  }
  if (pool_.finished(fiber)) cpu.stop();
}

void Machine::run(std::uint64_t events_max, const std::function<void()>& poll) {
  constexpr std::uint64_t kPollEvery = 1024;
  nic::Context context{*this};
  for (std::uint64_t events = 0; system_.step(context);) {
    if (poll && events % kPollEvery == 0) poll();
    if (++events == events_max) throw std::runtime_error(fmt::format("no end after {} events", events));
  }
  std::string waiting;
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    if (pool_.finished(fibers_[i])) continue;
    waiting +=
        fmt::format("{}{} waits for {}", waiting.empty() ? "" : "; ", threads_[i]->name_, threads_[i]->waits_for_);
  }
  if (!waiting.empty()) throw Stuck("nothing is left to happen: " + waiting);
}

}  // namespace loco::verbs
