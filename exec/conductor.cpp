#include "exec/conductor.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <system_error>
#include <time.h>
#include <unistd.h>

#include "exec/keys.hpp"
#include "exec/launch.hpp"
#include "exec/run.hpp"
#include "exec/system.hpp"
#include "sim/host_memory.hpp"

namespace loco::exec {

namespace {

constexpr std::uint64_t kIdlePausesMax = 100'000;
constexpr std::int64_t kLookEveryUs = 2'000;
constexpr std::int64_t kSilenceUs = 4'000;
constexpr std::int64_t kSilenceMaxUs = 1'000'000;

nic::SystemConfig timed(nic::SystemConfig config, bool witness) {
  config.timed = true;
  config.witness = witness;
  config.timers = true;
  return config;
}

}  // namespace

Conductor::Conductor(const Options& options)
    : options_(options),
      memory_before_(sim::used_memory()),
      system_(timed(options.system, options.trace)),
      requests_(kRequests),
      recorder_(options.record, options.compare),
      outputs_(options),
      pool_({.stack_bytes = 256U << 10U}) {
  network_lock_ = lock_network(network_);
  board_ = memfd_create("loco-sim-board", 0);
  if (board_ < 0 || ftruncate(board_, sizeof(Board)) != 0)
    throw std::system_error(errno, std::generic_category(), "exec");
  clock_ = system_.create_thread(0);
  threads_.assign(clock_ + 1, nullptr);
  if (!options.trace) {
    if (options.every_packet || !may_leap(system_.config())) return;
    const auto copy = [this](nic::NodeId from, nic::Address source, nic::NodeId to, nic::Address target,
                             std::uint64_t bytes) { processes_[to]->take(target, *processes_[from], source, bytes); };
    leaps_ = std::make_unique<Leaps>(system_, copy);
    return;
  }
  tracing_ = std::make_unique<Tracing>(system_, options.seed);
  tracing_->begin_thread(clock_, 0, "conductor");
}

Conductor::~Conductor() {
  for_each_program([](const Program& program) {
    if (program.ended || program.process <= 0) return;
    kill(program.process, SIGKILL);
    waitpid(program.process, nullptr, 0);
  });
  if (board_ >= 0) close(board_);
  if (network_lock_ >= 0) close(network_lock_);
}

// --- starting --------------------------------------------------------------------------------------------------------

HostFacts Conductor::facts_of(std::uint32_t host) const {
  const nic::HardwareProfile& p = profile(host);
  HostFacts f{};
  f.host = host;
  f.hosts = static_cast<std::uint32_t>(programs_.size());
  f.nics = std::min(system_.config().hosts.nics(nic::HostId(host)), kNicsMax);
  f.mtu = static_cast<std::uint32_t>(p.link_mtu.count);
  f.max_rd_atomic = p.nic_max_rd_atomic;
  f.inline_max = static_cast<std::uint32_t>(p.nic_inline_max.count);
  f.max_qp_wr = kQueueEntriesMax;
  f.max_srq_wr = kQueueEntriesMax;
  f.max_cqe = 1U << 20U;
  f.infiniband = options_.infiniband ? 1 : 0;
  f.device_memory = p.nic_device_memory.count == 0 ? kDeviceMemory : p.nic_device_memory.count;
  f.atomics = p.nic_atomic_cap == nic::AtomicCap::none ? 0 : 1;
  f.lockstep = options_.lockstep ? 1 : 0;
  f.checks = options_.checks ? 1 : 0;
  f.terminal = options_.terminal ? 1 : 0;
  f.traced = options_.trace ? 1 : 0;
  f.conductor = static_cast<std::uint32_t>(getpid());
  f.network = network_;
  f.board = board_;
  f.seed = options_.seed;
  set_port_speed(p.link_rate.value, f);
  set_costs(p, f);
  return f;
}

void Conductor::start_programs() {
  const std::vector<ProgramSpec>& specs = options_.programs;
  std::vector<std::string> paths;
  for (const ProgramSpec& spec : specs) paths.push_back(spec.command.empty() ? "" : find_program(spec.command[0]));
  programs_.resize(specs.size());
  written_to_.resize(specs.size());
  children_begun_.resize(specs.size());
  for (std::size_t host = 0; host < specs.size(); ++host) processes_.push_back(std::make_unique<HostProcesses>());
  for (std::uint32_t host = 0; host < specs.size(); ++host) {
    if (specs[host].command.empty()) continue;
    auto program = std::make_unique<Program>();
    program->host = host;
    program->inline_slot = system_.allocate(host, kPostBytes);
    int file = -1;
    ChannelEnd channel = ChannelEnd::make(facts_of(host), file);
    program->process = launch(paths[host], specs[host], options_.shim_folder, file, outputs_.of(host));
    outputs_.started(host);
    close(file);
    program->memory.set_process(program->process);
    program->base = processes_[host]->add(program->memory);
    system_.set_foreign_memory(host, processes_[host].get());
    const sim::SimTime start = sim::SimTime{} + specs[host].after.value_or(kStartGap * host);
    auto thread =
        std::unique_ptr<ProgramThread>(new ProgramThread{*program, program->threads_begun++, std::move(channel)});
    thread->id = system_.create_thread(host, start);
    threads_.resize(thread->id + 1);
    threads_[thread->id] = thread.get();
    if (tracing_) tracing_->begin_thread(thread->id, host, name_of(*program));
    thread->fiber = pool_.create([this, t = thread.get()] { serve(*t); });
    program->threads.push_back(std::move(thread));
    programs_[host] = std::move(program);
    if (!await(*programs_[host]->threads[0])) {
      result_.failure = fmt::format("host {} ({}) ended before it was ready", host, specs[host].command[0]);
      return;
    }
    if (options_.debug == host) await_debugger(*programs_[host]);
  }
}

// --- the run ---------------------------------------------------------------------------------------------------------

void Conductor::run(nic::Cpu& cpu) {
  if (leaps_) leaps_->disturbed();
  if (cpu.thread() == clock_) {  // due timers are called between steps
    look_at_srqs(cpu);
    return cpu.stop();
  }
  ProgramThread* const thread = threads_[cpu.thread()];
  if (thread == nullptr || thread->ended) return cpu.stop();
  cpu_ = &cpu;
  pool_.resume(thread->fiber);
  if (pool_.finished(thread->fiber) || thread->ended) cpu.stop();
  cpu_ = nullptr;
}

Result Conductor::run() {
  const InterruptNoted noted;
  const PinnedToOneCore pinned;
  const OrphansAdopted adopted;
  start_programs();
  const CounterTrapped trapped;  // trapped here too, because switching between tasks with and without the trap is slow
  watch_ports();
  for (const auto& [host, at] : options_.stops) add_timer(at.ps, [this, host = host] { stop_host(host); });
  if (result_.failure.empty()) main_loop();
  ending_ = true;
  result_.wall_seconds = began_.seconds();
  finish(result_);
  return std::move(result_);
}

void Conductor::main_loop() {
  constexpr std::uint64_t kLookAt = 4096;  // steps
  nic::Context context{*this, this, leaps_ ? this : nullptr};
  std::uint64_t steps = 0;
  while (result_.failure.empty()) {
    while (!after_step_.empty()) {
      const auto calls = std::exchange(after_step_, {});
      for (const auto& f : calls) f();
    }
    if (++steps % kLookAt == 0) {
      if (InterruptNoted::seen()) interrupted();
      if (death_seen()) look_for_deaths();
      look_at_limits();
    }
    if (some_ended_ && all_ended()) return;
    if (!timers_.empty()) {
      const sim::SimTime at = machine_time(timers_.begin()->first.first);
      if ((system_.idle() || at <= system_.next_time()) && system_.thread_stopped(clock_))
        system_.wake(clock_, std::max(at, system_.now()));
    }
    if (system_.step(context)) {
      while (!timers_.empty() && timers_.begin()->first.first <= now().ps) {
        if (leaps_) leaps_->disturbed();
        const auto due = timers_.extract(timers_.begin());
        due.mapped()();
      }
      if (idle_pauses_ > kIdlePausesMax) result_.failure = deadlock();
      continue;
    }
    if (!after_step_.empty()) continue;
    if (!wait_for_the_world()) {
      if (std::ranges::all_of(programs_, [](const auto& p) { return !p || p->ended; }))
        return;  // children wait for nothing
      result_.failure = deadlock();
    }
  }
}

/// No simulated event is left, but something may happen outside. Returns false if it does not.
bool Conductor::wait_for_the_world() {
  bool children = false;
  for_each_program([&](const Program& p) {
    for (const auto& t : p.threads) children = children || (!p.ended && t->channel->forked != 0);
  });
  constexpr int kPatience = 20;
  constexpr int kPatienceForChildren = 10'000;
  static_assert(kPatience < kPatienceForChildren);
  if (idle_waits_ >= (children ? kPatienceForChildren : kPatience)) return false;
  ++idle_waits_;
  usleep(1000);
  look_for_deaths();
  wake_all(Wait::io);
  return true;
}

void Conductor::serve(ProgramThread& thread) {
  while (true) {
    Channel& c = *thread.channel;
    const Request request = c.request;
    thread.last = request;
    ++requests_[static_cast<std::size_t>(request)];
    if (request != Request::wait_io && request != Request::poll_cq && request != Request::wait_memory &&
        request != Request::spin && request != Request::access)
      idle_pauses_ = 0;
    if (request != Request::poll_cq) thread.polls_paid = 0;
    if (request != Request::wait_io) idle_waits_ = 0;
    recorder_.note(thread.program.host, thread.program.number << 16U | thread.index, c);
    if (thread.program.spinning != 0 && request != Request::spin) {
      after_step_.emplace_back([this, host = thread.program.host] { system_.notify(host, kThreadsKey); });
    }
    if (std::exchange(c.io, 0) != 0) {
      const bool up_to_date = thread.io_seen == io_changes_;
      ++io_changes_;
      if (up_to_date) thread.io_seen = io_changes_;  // it has seen what it caused itself
      after_step_.emplace_back([this] {
        if (!children_.empty()) look_for_deaths();  // one may have killed another
        wake_for_io();
      });
    }
    if (std::exchange(c.released, 0) != 0) released(thread.program);
    replay_posts(thread);
    handle(thread, request);
    if (thread.ended || !give_turn(thread)) return;
  }
}

/// Runs the program until it hands over. Returns false if its thread has ended.
bool Conductor::give_turn(ProgramThread& thread) {
  Channel& c = *thread.channel;
  static_cast<void>(system_.counters());  // applies pending accesses, so that the program's loads see them
  c.now_ps = now().ps;
  c.threads = thread.program.threads_begun > 1 ? 1 : 0;
  c.ports_down = thread.program.ports_down;
  thread.io_seen = io_changes_;
  thread.releases_seen = thread.program.releases;
  c.ahead_ps = 0;
  std::vector<std::uint32_t>& news = thread.program.news;
  c.news_count = static_cast<std::uint32_t>(std::min<std::size_t>(news.size(), kNewsMax));
  std::copy_n(news.begin(), c.news_count, c.news);
  news.erase(news.begin(), news.begin() + c.news_count);
  std::deque<CmMessage>& mail = thread.program.messages;
  for (c.mail_count = 0; c.mail_count < kMailMax && !mail.empty(); mail.pop_front())
    c.mail[c.mail_count++] = mail.front();
  thread.waits_for.clear();
  thread.channel.let();
  return await(thread);
}

bool Conductor::await(ProgramThread& thread) {
  Program& program = thread.program;
  thread.silent_from_us = -1;
  thread.silence_us = kSilenceUs;
  while (!thread.channel.wait(kLookEveryUs)) {
    if (int status = 0; is_gone(program, status)) {
      ended(program, status);
      return false;
    }
    outputs_.drain(false);
    if (InterruptNoted::seen()) {
      interrupted();
      return false;
    }
    look_at_limits();
    if (!result_.failure.empty() || (program.started && blocked(thread))) return false;
    if (program.started) break_silence(thread);
  }
  program.started = true;
  outputs_.drain(false);
  return true;
}

/// Waits until a debugger traces the program, which stands still at its start.
void Conductor::await_debugger(Program& program) {
  program.debugged = true;
  remember(result_.not_deterministic, fmt::format("host {}: a debugger", program.host));
  fmt::print(stderr,
             "loco-sim exec: host {} waits for a debugger: gdb -p {} -ex 'handle SIGSEGV nostop noprint pass', then "
             "set breakpoints and continue\n",
             program.host, program.process);
  while (!is_traced(program.process) && thread_is_there(program.process, static_cast<std::uint32_t>(program.process)))
    wait_shortly();
}

/// True if a thread has the turn but waits for a lock in a system call of its own: it would wait for ever, because all
/// others stand still.
bool Conductor::blocked(ProgramThread& thread) {
  constexpr int kLooksMax = 1'500;  // 3 s
  const Program& program = thread.program;
  const bool waits =
      !computes(program.process, thread.channel->thread) && waits_for_futex(program.process, thread.channel->thread);
  thread.blocked_looks = waits ? thread.blocked_looks + 1 : 0;
  if (thread.blocked_looks < kLooksMax || program.debugged) return false;
  result_.failure = fmt::format("{}, thread {}, waits by a system call of its own (futex), which is not seen, at {}",
                                name_of(program), thread.index, time_text(now()));
  return true;
}

/// A thread that has used much processor time without a call may be polling a word of memory.
void Conductor::break_silence(ProgramThread& thread) {
  const std::int64_t used = processor_time_us(thread.program.process);
  if (thread.silent_from_us < 0) {
    thread.silent_from_us = used;
    return;
  }
  if (used - thread.silent_from_us < thread.silence_us || thread.program.debugged) return;
  if (thread.channel->watches == 0 && thread.channel->threads == 0) return;
  if (!computes(thread.program.process, thread.channel->thread)) return;
  thread.silent_from_us = used;
  thread.silence_us = std::min(2 * thread.silence_us, kSilenceMaxUs);
  syscall(SYS_tgkill, thread.program.process, thread.channel->thread, silence_signal());
}

// --- time and waiting
// --------------------------------------------------------------------------------------------------

void Conductor::compute(sim::Duration time) {
  if (time.ps <= 0) return;
  cpu_->resume_after(time);
  pool_.suspend();
}

void Conductor::between_steps(ProgramThread& thread, const std::function<void()>& f) {
  after_step_.emplace_back([this, &thread, &f] {
    f();
    system_.wake(thread.id, system_.now());
  });
  cpu_->stop();
  pool_.suspend();
}

Conductor::Timer Conductor::add_timer(std::int64_t at, std::function<void()> f) {
  const Timer timer{std::max(at, now().ps), timer_number_++};
  timers_.emplace(timer, std::move(f));
  return timer;
}

bool Conductor::alarm_is_due(const ProgramThread& thread) const {
  return thread.channel->alarm_ps != 0 && thread.channel->alarm_ps <= now().ps;
}

bool Conductor::wait(ProgramThread& thread, Wait what, std::int64_t deadline_ps) {
  thread.wait = what;
  thread.over = false;
  Timer timer{};
  const std::int64_t alarm = thread.channel->alarm_ps;
  const bool alarmed = alarm != 0 && (deadline_ps < 0 || alarm < deadline_ps);
  if (alarmed) deadline_ps = alarm;
  if (deadline_ps >= 0)
    timer = add_timer(deadline_ps, [this, &thread, alarmed] {
      thread.over = !alarmed;
      wake(thread);
    });
  cpu_->stop();
  pool_.suspend();
  if (deadline_ps >= 0) timers_.erase(timer);
  return thread.over;
}

void Conductor::pause(ProgramThread& thread, sim::Duration turn) {
  const std::uint64_t key = kPauseKey + thread.id;
  cpu_->watch(key);
  const std::int64_t most = (now() + kPauseMax).ps;
  const std::int64_t alarm = thread.channel->alarm_ps;
  const Timer timer = add_timer(alarm != 0 && alarm < most ? alarm : most, [this, key, host = thread.program.host] {
    ++idle_pauses_;
    system_.notify(host, key);
  });
  cpu_->pause(turn);
  pool_.suspend();
  timers_.erase(timer);
}

/// Wakes the threads that wait for another thread of the process.
void Conductor::released(Program& program) {
  ++program.releases;
  after_step_.emplace_back([this, &program] { wake_all(Wait::process, &program); });
}

void Conductor::wake(ProgramThread& thread) {
  if (thread.wait == Wait::nothing) return;
  thread.wait = Wait::nothing;
  system_.wake(thread.id, system_.now());
}

void Conductor::wake_all(Wait what, const Program* program) {
  for (ProgramThread* thread : threads_)
    if (thread != nullptr && thread->wait == what && (program == nullptr || &thread->program == program)) wake(*thread);
}

void Conductor::remember(std::vector<std::string>& list, std::string line) const {
  if (std::ranges::find(list, line) == list.end()) list.push_back(std::move(line));
}

}  // namespace loco::exec
