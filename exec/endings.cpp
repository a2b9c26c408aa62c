// How programs and runs end.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <sys/wait.h>

#include "exec/conductor.hpp"
#include "exec/system.hpp"
#include "sim/budget.hpp"
#include "sim/host_memory.hpp"

namespace loco::exec {

/// A child's parent waits for it; for the conductor it is gone as soon as it is a zombie.
bool Conductor::is_gone(const Program& program, int& wait_status) {
  if (waitpid(program.process, &wait_status, WNOHANG) == program.process) return true;
  if (program.parent == nullptr || !has_ended(program.process)) return false;
  wait_status = 0;
  return true;
}

void Conductor::look_for_deaths() {
  std::vector<std::pair<Program*, int>> gone;
  for_each_program([&](Program& program) {
    int status = 0;
    if (!program.ended && is_gone(program, status)) gone.emplace_back(&program, status);
  });
  for (const auto& [program, status] : gone) ended(*program, status);
}

/// Children do not keep a run going, except those that their program has left behind (daemons).
bool Conductor::all_ended() const {
  bool all = true;
  for_each_program([&](const Program& p) {
    const bool counts = p.parent == nullptr || p.threads[0]->channel->daemon != 0;
    all = all && (p.ended || !counts);
  });
  return all;
}

std::string Conductor::name_of(const Program& program) const {
  const Program* first = &program;  // a child may be on a host that has no program of its own
  while (first->parent != nullptr) first = first->parent;
  return fmt::format("host {} ({}{})", program.host, options_.programs[first->host].command[0],
                     program.number == 0 ? "" : fmt::format(", child {}", program.number));
}

/// Ends the run when it has passed a limit. Real time is WallTime's, since a Budget reads the counter, which is
/// trapped.
void Conductor::look_at_limits() {
  std::string what;
  if (options_.wall_seconds_max > 0 && began_.seconds() > options_.wall_seconds_max)
    what = fmt::format("the run has taken {} s (limits.wall_time) and has not ended", options_.wall_seconds_max);
  if (options_.memory_max != 0 && sim::used_memory() > memory_before_ + options_.memory_max)
    what = fmt::format("the run has taken {} of memory (limits.memory) and has not ended",
                       sim::bytes_text(options_.memory_max));
  if (counters().events > options_.events_max)
    what = fmt::format("the run has taken {} events (limits.events) and has not ended", options_.events_max);
  if (tracing_ && tracing_->bytes() > options_.trace_bytes_max)
    what = fmt::format("the trace takes more memory than there is for it, {} MiB", options_.trace_bytes_max >> 20U);
  if (!what.empty()) result_.failure = fmt::format("{}, at {}", what, time_text(now()));
}

nic::Counters Conductor::counters() const {
  nic::Counters all = system_.counters();
  if (leaps_)
    for (const nic::NamedCounter& counter : nic::kCounters) all.*counter.member += leaps_->left_out().*counter.member;
  return all;
}

/// The user has interrupted the run.
void Conductor::interrupted() {
  result_.interrupted = true;
  if (result_.failure.empty()) result_.failure = fmt::format("interrupted at {}", time_text(now()));
}

/// The host loses power: nothing is heard of its programs any more.
void Conductor::stop_host(std::uint32_t host) {
  system_.power_off(host);
  for_each_program([&](Program& program) {
    if (program.host != host || program.ended) return;
    program.stopped = true;
    kill_now(program);
  });
}

void Conductor::kill_now(Program& program) {
  kill(program.process, SIGKILL);
  int status = 0;
  while (!is_gone(program, status)) wait_shortly();
  ended(program, status);
}

void Conductor::thread_ended(ProgramThread& thread) {
  thread.ended = true;
  thread.wait = Wait::nothing;
}

void Conductor::forget(ProgramThread& thread) {
  Program& program = thread.program;
  result_.accesses_told = result_.accesses_told || thread.channel->accesses_told != 0;
  threads_[thread.id] = nullptr;
  free_threads_[program.host].push_back(thread.id);
  std::erase_if(program.threads, [&](const auto& one) { return one.get() == &thread; });
}

/// The number for a thread that begins now.
nic::ThreadId Conductor::machine_thread(std::uint32_t host) {
  std::vector<nic::ThreadId>& free = free_threads_[host];
  if (free.empty()) {
    const nic::ThreadId made = system_.create_thread(host, system_.now());
    threads_.resize(made + 1);
    return made;
  }
  const nic::ThreadId again = free.back();
  free.pop_back();
  system_.wake(again, system_.now());
  return again;
}

void Conductor::ended(Program& program, int wait_status) {
  if (InterruptNoted::seen()) interrupted();  // a terminal signals the programs as well
  program.ended = some_ended_ = true;
  for (const auto& thread : program.threads)
    result_.accesses_told = result_.accesses_told || thread->channel->accesses_told != 0;
  program.memory.leave();
  after_step_.emplace_back([this, &program] {
    for (const nic::QpId qp : program.queue_pairs) reset(qp);
    notify_io();
  });
  if (program.parent != nullptr) {  // its ending is reported to its parent
    for (const auto& thread : program.threads) thread_ended(*thread);
    return;
  }
  ProgramResult& r = result_.programs.emplace_back();
  r.host = program.host;
  r.command = options_.programs[program.host].command;
  r.ended = now();
  if (WIFSIGNALED(wait_status)) r.signal = WTERMSIG(wait_status);
  if (WIFEXITED(wait_status)) r.status = WEXITSTATUS(wait_status);
  Request last = Request::none;
  for (const auto& thread : program.threads) {
    if (!thread->ended) last = thread->last;
    thread_ended(*thread);
  }
  r.stopped = program.stopped;
  if (r.signal != 0 && !program.stopped && !options_.keep_going && result_.failure.empty() && !ending_) {
    result_.failure =
        fmt::format("host {} ({}) ended by signal {} ({}) after {} at {}", program.host, r.command[0], r.signal,
                    strsignal(r.signal), kRequestNames[static_cast<std::size_t>(last)], time_text(now()));
  }
}

std::string Conductor::deadlock() const {
  std::string text = fmt::format("nothing is left to happen at {}: ", time_text(now()));
  bool first = true;
  for_each_program([&](const Program& program) {
    if (program.ended) return;
    for (const auto& thread : program.threads) {
      if (thread->ended) continue;
      text += fmt::format("{}{}{} waits for {}", first ? "" : "; ", name_of(program),
                          thread->index == 0 ? "" : fmt::format(", thread {},", thread->index),
                          thread->waits_for.empty() ? "its turn" : thread->waits_for);
      first = false;
    }
  });
  return text;
}

void Conductor::finish(Result& result) {
  for_each_program([&](Program& program) {
    if (!program.ended) kill_now(program);
  });
  outputs_.drain(true);
  recorder_.end();
  result.simulated = now();
  result.counters = counters();
  if (leaps_) result.packets_left_out = leaps_->left_out().packets_sent;
  for (std::size_t i = 0; i < kRequests; ++i) {
    if (requests_[i] == 0) continue;
    result.changes.emplace_back(kRequestNames[i], requests_[i]);
    result.changes_of_control += requests_[i];
  }
  if (tracing_) result.trace = tracing_->take(result.trace_places);
  result.fingerprint = recorder_.fingerprint();
  result.difference = recorder_.difference();
  outputs_.take(result);
  std::ranges::stable_sort(result.programs, {}, &ProgramResult::host);
}

}  // namespace loco::exec
