#include "loco_sim/transport/program_threads.hpp"

#include <algorithm>
#include <functional>
#include <new>
#include <numeric>
#include <utility>

#include "sim/prefetch.hpp"

namespace loco {

namespace {
/// Programs have deep library calls below them; only the pages touched cost anything.
constexpr std::size_t kStackBytes = 256U << 10U;
}  // namespace

ProgramThreads::ProgramThreads(nic::System& system, const nic::HardwareProfile& profile, bool timed)
    : system_(system), profile_(profile), timed_(timed), pool_({.stack_bytes = kStackBytes}) {}

ProgramThreads::~ProgramThreads() { unwind(); }

void ProgramThreads::unwind() {
  closing_ = true;
  // Last come, first to go: a thread uses what those that started it hold on their stacks.
  std::vector<std::size_t> order(fibers_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, std::ranges::greater{}, [this](std::size_t id) { return threads_[id]->start; });
  for (const std::size_t id : order) {
    failing_ = pool_.throwing(fibers_[id]);
    try {
      pool_.cancel(fibers_[id]);
    } catch (...) {  // NOLINT(bugprone-empty-catch): an error while unwinding has nowhere to go
    }
  }
  fibers_.clear();
}

nic::ThreadId ProgramThreads::add(NodeId node, std::uint32_t index, std::string name, std::function<void()> body,
                                  bool service) {
  const nic::ThreadId id = system_.create_thread(node, system_.now());
  threads_.push_back(std::make_unique<SimThread>(*this, node, index));
  fibers_.emplace_back();
  start(id, std::move(name), std::move(body), service);
  return id;
}

void ProgramThreads::start_again(nic::ThreadId id, std::string name, std::function<void()> body, bool service) {
  threads_[id] = std::make_unique<SimThread>(*this, threads_[id]->node, threads_[id]->index);
  system_.wake(id, system_.now());
  start(id, std::move(name), std::move(body), service);
}

void ProgramThreads::start(nic::ThreadId id, std::string name, std::function<void()> body, bool service) {
  SimThread& thread = *threads_[id];
  thread.name = std::move(name);
  thread.service = service;
  thread.body = std::move(body);
  thread.start = ++starts_;
  if (!service) ++unfinished_;
  fibers_[id] = pool_.create([this, id] { thread_main(id); });
}

bool ProgramThreads::has_ended(nic::ThreadId id) const {
  return threads_[id]->ended && !threads_[id]->halted && system_.thread_stopped(id) && system_.thread_drained(id);
}

void ProgramThreads::thread_main(nic::ThreadId id) {
  SimThread& thread = *threads_[id];
  try {
    thread.body();
    if (closing_) throw sim::FiberCancelled{};                   // swallowed by a destructor that was waiting
    if (thread.time.offset().ps > 0) thread.time.synchronise();  // the last accesses take their time too
  } catch (const sim::FiberCancelled&) {
    throw;
  } catch (...) {
    if (!failure_ && (!closing_ || failing_)) {
      failure_ = std::current_exception();
      failed_thread_ = id;
    }
  }
  if (closing_) return;  // it had failed, too, when the run ended with another one's failure
  finish(thread);
  cpu_->stop();
}

void ProgramThreads::finish(SimThread& thread) {
  thread.ended = true;
  if (!thread.service && --unfinished_ == 0) ended_ = system_.now();
}

void ProgramThreads::halt(NodeId node) {
  for (const auto& thread : threads_) {
    if (thread->node != node || thread->halted) continue;
    thread->halted = true;
    if (!thread->ended && !thread->service) finish(*thread);
  }
}

void ProgramThreads::run(nic::Cpu& cpu) {
  cpu_ = &cpu;
  current_ = cpu.thread();
  running_ = threads_[current_].get();
  if (running_->halted) {
    cpu.stop();
    cpu_ = nullptr;
    return;
  }
  pool_.resume(fibers_[current_]);
  while (outside_ != nullptr) {
    try {
      (*std::exchange(outside_, nullptr))();
    } catch (...) {
      outside_failure_ = std::current_exception();
    }
    pool_.resume(fibers_[current_]);
  }
  cpu_ = nullptr;
}

void ProgramThreads::prefetch(nic::ThreadId thread) {
  sim::prefetch(threads_[thread].get(), sizeof(SimThread));
  pool_.prefetch(fibers_[thread]);
}

void ProgramThreads::call_outside(const std::function<void()>& f) {
  static_cast<void>(current());
  outside_ = &f;
  pool_.suspend();
  if (outside_failure_) std::rethrow_exception(std::exchange(outside_failure_, nullptr));
}

void ProgramThreads::refuse() const {
  if (closing_) throw sim::FiberCancelled{};
  throw std::logic_error("a transport is used outside of its cluster's run");
}

void ProgramThreads::suspend() {
  SimThread& thread = *running_;
  pool_.suspend();
  if (closing_) throw sim::FiberCancelled{};  // in a destructor of a program that has failed, the pool only goes on
  thread.time.begin_step();
}

void ProgramThreads::throw_failure() const {
  const SimThread& thread = *threads_[failed_thread_];
  try {
    std::rethrow_exception(failure_);
  } catch (const std::bad_alloc&) {
    std::throw_with_nested(ProgramError(thread.node, thread.name, "out of memory"));
  } catch (const std::exception& error) {
    std::throw_with_nested(ProgramError(thread.node, thread.name, error.what()));
  } catch (...) {
    std::throw_with_nested(ProgramError(thread.node, thread.name, "an exception that is not a std::exception"));
  }
}

}  // namespace loco
