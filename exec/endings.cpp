// How programs and runs end.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <sys/wait.h>

#include "exec/conductor.hpp"
#include "exec/system.hpp"

namespace loco::exec {

void Conductor::look_for_deaths() {
  for (const auto& program : programs_) {
    int status = 0;
    if (program && !program->ended && waitpid(program->process, &status, WNOHANG) == program->process)
      ended(*program, status);
  }
}

/// By the user.
void Conductor::interrupted() {
  result_.interrupted = true;
  if (result_.failure.empty()) result_.failure = fmt::format("interrupted at {}", time_text(system_.now()));
}

/// Its host has no power any more: nobody hears of the program again.
void Conductor::stop_host(std::uint32_t host) {
  system_.power_off(host);
  Program* const program = host < programs_.size() ? programs_[host].get() : nullptr;
  if (program == nullptr || program->ended) return;
  program->stopped = true;
  kill(program->process, SIGKILL);
  int status = 0;
  while (waitpid(program->process, &status, 0) < 0 && errno == EINTR) {
  }
  ended(*program, status);
}

void Conductor::thread_ended(ProgramThread& thread) {
  thread.ended = true;
  thread.wait = Wait::nothing;
}

void Conductor::ended(Program& program, int wait_status) {
  if (InterruptNoted::seen()) interrupted();  // a terminal sends it to programs, too
  program.ended = true;
  program.memory.leave();
  ProgramResult& r = result_.programs.emplace_back();
  r.host = program.host;
  r.command = options_.programs[program.host].command;
  r.ended = system_.now();
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
                    strsignal(r.signal), kRequestNames[static_cast<std::size_t>(last)], time_text(system_.now()));
  }
  after_step_.emplace_back([this, &program] {
    for (const nic::QpId qp : program.queue_pairs) system_.modify_qp(qp, nic::QpState::reset);
    notify_io();
  });
}

std::string Conductor::deadlock() const {
  std::string text = fmt::format("nothing is left to happen at {}: ", time_text(system_.now()));
  bool first = true;
  for (const auto& program : programs_) {
    if (!program || program->ended) continue;
    for (const auto& thread : program->threads) {
      if (thread->ended) continue;
      text += fmt::format("{}host {} ({}){} waits for {}", first ? "" : "; ", program->host,
                          options_.programs[program->host].command[0],
                          thread->index == 0 ? "" : fmt::format(", thread {},", thread->index),
                          thread->waits_for.empty() ? "its turn" : thread->waits_for);
      first = false;
    }
  }
  return text;
}

void Conductor::finish(Result& result) {
  for (const auto& program : programs_) {
    if (!program || program->ended) continue;
    kill(program->process, SIGKILL);
    int status = 0;
    while (waitpid(program->process, &status, 0) < 0 && errno == EINTR) {
    }
    ended(*program, status);
  }
  outputs_.drain(true);
  recorder_.end();
  result.simulated = system_.now();
  result.counters = system_.counters();
  for (std::size_t i = 0; i < kRequests; ++i) {
    if (requests_[i] == 0) continue;
    result.changes.emplace_back(kRequestNames[i], requests_[i]);
    result.changes_of_control += requests_[i];
  }
  result.fingerprint = recorder_.fingerprint();
  result.difference = recorder_.difference();
  outputs_.take(result);
  std::ranges::stable_sort(result.programs, {}, &ProgramResult::host);
}

}  // namespace loco::exec
