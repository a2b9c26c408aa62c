#include "hosts/fibers.hpp"

#include <algorithm>
#include <functional>
#include <new>
#include <numeric>
#include <utility>

#include "sim/prefetch.hpp"

namespace loco::hosts {

namespace {
/// Programs make deep library calls; stack pages that are never touched cost nothing.
constexpr std::size_t kStackBytes = 256U << 10U;
}  // namespace

Fibers::Fibers(nic::System& system, bool timed, const std::unique_ptr<Recorder>& recorder)
    : system_(system),
      profile_(&system.config().profile),
      recorder_(recorder),
      timed_(timed),
      pool_({.stack_bytes = kStackBytes}) {}

Fibers::~Fibers() { unwind(); }

void Fibers::unwind() {
  closing_ = true;
  // In reverse order of starting: a thread may use objects on the stacks of those that started it.
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

nic::ThreadId Fibers::add(nic::NodeId node, std::uint32_t index, std::string name, std::function<void()> body,
                          bool service) {
  const nic::ThreadId id = system_.create_thread(node, system_.now());
  threads_.push_back(std::make_unique<Thread>(*this, node, index));
  fibers_.emplace_back();
  start(id, std::move(name), std::move(body), service);
  return id;
}

void Fibers::start_again(nic::ThreadId id, std::string name, std::function<void()> body, bool service) {
  threads_[id] = std::make_unique<Thread>(*this, threads_[id]->node, threads_[id]->index);
  system_.wake(id, system_.now());
  start(id, std::move(name), std::move(body), service);
}

void Fibers::start(nic::ThreadId id, std::string name, std::function<void()> body, bool service) {
  Thread& thread = *threads_[id];
  thread.name = std::move(name);
  thread.service = service;
  thread.body = std::move(body);
  thread.start = ++starts_;
  if (!service && system_.has(thread.node)) ++unfinished_;  // else it is another part's (nic_model/parts.hpp)
  fibers_[id] = pool_.create([this, id] { thread_main(id); });
}

bool Fibers::has_ended(nic::ThreadId id) const {
  return threads_[id]->ended && !threads_[id]->halted && system_.thread_stopped(id) && system_.thread_drained(id);
}

void Fibers::thread_main(nic::ThreadId id) {
  Thread& thread = *threads_[id];
  try {
    thread.body();
    if (closing_) throw sim::FiberCancelled{};                   // a waiting destructor has swallowed it
    if (thread.time.offset().ps > 0) thread.time.synchronise();  // the time of the last accesses has to pass as well
  } catch (const sim::FiberCancelled&) {
    throw;
  } catch (...) {
    if (!failure_ && (!closing_ || failing_)) {
      failure_ = std::current_exception();
      failed_thread_ = id;
    }
  }
  if (closing_) return;  // it had failed, too, when another failure ended the run
  finish(thread);
  cpu_->stop();
}

void Fibers::finish(Thread& thread) {
  thread.ended = true;
  if (!thread.service && --unfinished_ == 0) ended_ = system_.now();
}

void Fibers::halt(nic::NodeId node) {
  for (const auto& thread : threads_) {
    if (thread->node != node || thread->halted) continue;
    thread->halted = true;
    if (!thread->ended && !thread->service) finish(*thread);
  }
}

void Fibers::run(nic::Cpu& cpu) {
  cpu_ = &cpu;
  current_ = cpu.thread();
  running_ = threads_[current_].get();
  profile_ = &cpu.profile();
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

void Fibers::prefetch(nic::ThreadId thread) {
  sim::prefetch(threads_[thread].get(), sizeof(Thread));
  pool_.prefetch(fibers_[thread]);
}

void Fibers::call_outside(const std::function<void()>& f) {
  static_cast<void>(current());
  outside_ = &f;
  pool_.suspend();
  if (outside_failure_) std::rethrow_exception(std::exchange(outside_failure_, nullptr));
}

void Fibers::refuse() const {
  if (closing_) throw sim::FiberCancelled{};
  throw std::logic_error("a thread is used outside of its machine's run");
}

void Fibers::suspend() {
  Thread& thread = *running_;
  pool_.suspend();
  if (closing_) throw sim::FiberCancelled{};  // in a destructor of a failed program; only the pool continues
  thread.time.begin_step();
}

void Fibers::throw_failure() const {
  const Thread& thread = *threads_[failed_thread_];
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

}  // namespace loco::hosts
