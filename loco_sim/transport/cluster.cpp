#include "loco_sim/transport/cluster.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "fabric/disconnect.hpp"
#include "loco_sim/transport/flow_driver.hpp"
#include "loco_sim/transport/virtual_transport.hpp"
#include "sim/prefetch.hpp"

namespace loco {

namespace {
ClusterConfig checked(ClusterConfig config) {
  if (!config.stops.empty() && config.schedule != Schedule::timed)
    throw std::invalid_argument("nodes stop at a time, which only the timed schedule has");
  std::ranges::stable_sort(config.stops, {}, &NodeStop::at);
  return config;
}

nic::SystemConfig system_config(const ClusterConfig& config) {
  fabric::Config network = config.network;
  network.nodes = config.nodes;
  network.topology = config.profile.link_ideal ? fabric::Topology::ideal : config.topology;
  for (const NodeStop& stop : config.stops) fabric::disconnect(network, stop.node, stop.at);
  return {.profile = config.profile,
          .topology = config.topology,
          .network = network,
          .nodes = config.nodes,
          .witness = config.record};
}

/// Programs have deep library calls below them; only the pages touched cost anything.
constexpr std::size_t kStackBytes = 256U << 10U;
}  // namespace

SimulatedCluster::SimulatedCluster(ClusterConfig config)
    : config_(checked(std::move(config))),
      system_(system_config(config_)),
      scheduler_(config_.schedule, config_.seed),
      recorder_(config_.record ? std::make_unique<Recorder>(config_.nodes, config_.record_activities) : nullptr),
      pool_({.stack_bytes = kStackBytes}) {
  if (recorder_) recorder_->trace().seed = config_.seed;
  if (config_.series_interval.ps > 0 && config_.schedule == Schedule::timed) {
    series_.emplace(config_.series_interval);
  }
  for (NodeId n = 0; n < config_.nodes; ++n) nodes_.push_back(std::make_unique<VirtualTransport>(*this, n));
}

SimulatedCluster::~SimulatedCluster() { unwind(); }

void SimulatedCluster::unwind() {
  closing_ = true;
  // Last come, first to go: a thread uses what those that started it hold on their stacks.
  while (!fibers_.empty()) {
    const sim::FiberId last = fibers_.back();
    fibers_.pop_back();
    failing_ = pool_.throwing(last);
    try {
      pool_.cancel(last);
    } catch (...) {  // NOLINT(bugprone-empty-catch): an error while unwinding has nowhere to go
    }
  }
}

Transport& SimulatedCluster::node(NodeId node) { return *nodes_.at(node); }

std::uint32_t SimulatedCluster::add_thread(NodeId node, std::string name, std::function<void()> body, bool service) {
  VirtualTransport& transport = *nodes_.at(node);
  const nic::ThreadId id = system_.create_thread(node, system_.now());
  auto thread = std::make_unique<SimThread>();
  thread->node = node;
  thread->index = static_cast<std::uint32_t>(transport.threads_.size());
  transport.add_thread(id);
  thread->name = std::move(name);
  thread->service = service;
  thread->body = std::move(body);
  if (recorder_) recorder_->add_thread(node, thread->name);
  if (!service) ++unfinished_;
  threads_.push_back(std::move(thread));
  fibers_.push_back(pool_.create([this, id] { thread_main(id); }));
  return id;
}

void SimulatedCluster::spawn(NodeId node, std::string name, Program program) {
  if (node >= config_.nodes)
    throw std::out_of_range("thread '" + name + "' on node " + std::to_string(node) + " of " +
                            std::to_string(config_.nodes));
  Transport& transport = *nodes_[node];
  add_thread(
      node, std::move(name), [&transport, program = std::move(program)] { program(transport); }, false);
}

void SimulatedCluster::spawn_everywhere(const Program& program) {
  for (NodeId n = 0; n < config_.nodes; ++n) spawn(n, "main", program);
}

void SimulatedCluster::thread_main(std::uint32_t id) {
  SimThread& thread = *threads_[id];
  try {
    thread.body();
    if (closing_) throw sim::FiberCancelled{};   // swallowed by a destructor that was waiting
    if (thread.ahead.ps + thread.owed.ps > 0) {  // the last accesses take their time too
      cpu_->resume_after(thread.ahead + thread.owed);
      suspend();
    }
  } catch (const sim::FiberCancelled&) {
    throw;
  } catch (...) {
    if (!failure_ && (!closing_ || failing_)) {
      failure_ = std::current_exception();
      failed_thread_ = id;
    }
  }
  if (closing_) return;  // it had failed, too, when the run ended with another one's failure
  thread.ended = true;
  if (!thread.service && --unfinished_ == 0) ended_ = system_.now();
  cpu_->stop();
}

void SimulatedCluster::run(nic::Cpu& cpu) {
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

void SimulatedCluster::prefetch(nic::ThreadId thread) {
  sim::prefetch(threads_[thread].get(), sizeof(SimThread));
  pool_.prefetch(fibers_[thread]);
}

void SimulatedCluster::call_outside(const std::function<void()>& f) {
  static_cast<void>(current());
  outside_ = &f;
  pool_.suspend();
  if (outside_failure_) std::rethrow_exception(std::exchange(outside_failure_, nullptr));
}

void SimulatedCluster::refuse() const {
  if (closing_) throw sim::FiberCancelled{};
  throw std::logic_error("a transport is used outside of its cluster's run");
}

void SimulatedCluster::suspend() {
  SimThread& thread = *running_;
  pool_.suspend();
  if (closing_) throw sim::FiberCancelled{};  // in a destructor of a program that has failed, the pool only goes on
  thread.ahead = {};
  thread.owed = {};
  thread.looks = 0;
  thread.acted = false;
  thread.polling = {};
}

void SimulatedCluster::run() {
  nic::Context context{.runner = *this, .observer = recorder_.get()};
  std::uint64_t events = 0;
  std::uint64_t check_at = check_progress(events);
  const bool things_happen_between = series_ || !config_.stops.empty();
  const auto step = [&] {
    if (things_happen_between) before_step();
    if (!scheduler_.step(system_, context)) return false;
    if (failure_) throw_program_error();
    if (++events == check_at) check_at = check_progress(events);
    return true;
  };
  if (config_.network.flow.enabled) {
    run_on_flows(system_, step);
  } else {
    while (step()) {
    }
  }
  if (unfinished_ == 0) return;
  const std::string waiting = waiting_report();
  unwind();
  if (failure_) throw_program_error();  // it was on its way, and what it destroyed waited for the others
  throw Deadlock("deadlock: nothing is left to happen" + waiting);
}

void SimulatedCluster::stop_nodes() {
  if (system_.idle()) return;
  for (; stopped_ < config_.stops.size() && config_.stops[stopped_].at <= system_.next_time(); ++stopped_) {
    const NodeId node = config_.stops[stopped_].node;
    system_.power_off(node);
    for (const auto& thread : threads_) {
      if (thread->node != node || thread->halted) continue;
      thread->halted = true;
      if (thread->ended || thread->service) continue;
      thread->ended = true;
      if (--unfinished_ == 0) ended_ = system_.now();
    }
  }
}

void SimulatedCluster::before_step() {
  if (series_ && !system_.idle()) series_->until(system_.network(), system_.next_time());
  if (stopped_ < config_.stops.size()) stop_nodes();
}

std::uint64_t SimulatedCluster::check_progress(std::uint64_t events) {
  constexpr std::uint64_t kAskEvery = 4096;
  if (events > config_.events_max)
    throw EventLimit("the run has taken " + std::to_string(config_.events_max) + " events and has not ended" +
                     waiting_report());
  if (events != 0 && config_.interrupted && config_.interrupted()) throw RunInterrupted("interrupted");
  return std::min(events + kAskEvery, std::max(config_.events_max, events) + 1);
}

void SimulatedCluster::throw_program_error() {
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

model::Trace SimulatedCluster::take_trace() {
  if (!recorder_) return {};
  if (cpu_ != nullptr) throw std::logic_error("a trace is taken during its cluster's run");
  const std::unique_ptr<Recorder> recorder = std::move(recorder_);
  return std::move(recorder->trace());
}

}  // namespace loco
