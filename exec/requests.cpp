// Carries out the programs' requests, one at a time: time, waiting, threads, events. Queues and memory: queues.cpp.
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <sys/wait.h>
#include <utility>

#include "exec/conductor.hpp"
#include "exec/keys.hpp"
#include "exec/places.hpp"
#include "exec/system.hpp"

namespace loco::exec {

namespace {

sim::Duration argument_time(const Channel& c) { return {static_cast<std::int64_t>(c.arguments[0])}; }
std::int64_t deadline(const Channel& c) { return static_cast<std::int64_t>(c.arguments[0]); }

}  // namespace

void Conductor::handle(ProgramThread& thread, Request request) {
  Channel& c = *thread.channel;
  Program& program = thread.program;
  c.replies[0] = 0;
  switch (request) {
    case Request::none:
    case Request::sync:
      return;
    case Request::start:
      if (thread.index == 0 && std::exchange(program.running, true))
        between_steps(thread, [&] { begin_again(program); });
      break;
    case Request::sleep:
      thread.waits_for = "the end of its sleep";
      if (argument_time(c).ps > 0) wait(thread, Wait::sleep, (now() + argument_time(c)).ps);
      break;
    case Request::wait_io:
      thread.waits_for = "a socket, a pipe or an event";
      // A change since it last looked may be what it waits for.
      if (thread.io_seen == io_changes_) c.replies[0] = wait(thread, Wait::io, deadline(c)) ? 1 : 0;
      break;
    case Request::wait_process:
      thread.waits_for = "another thread of its process";
      if (thread.releases_seen == program.releases) c.replies[0] = wait(thread, Wait::process, deadline(c)) ? 1 : 0;
      break;
    case Request::yield:
      return compute(kYield);
    case Request::exit:
      return leave(thread);
    case Request::thread_start:
      return between_steps(thread, [&] { start_thread(thread); });
    case Request::process_start:
      return between_steps(thread, [&] { start_process(thread); });
    case Request::move:
      return move(thread);
    case Request::thread_exit:
      thread_ended(thread);
      thread.channel.let();
      after_step_.emplace_back([this, &thread] {
        while (thread_is_there(thread.program.process, thread.channel->thread)) wait_shortly();
        released(thread.program);
        if (thread.index != 0) forget(thread);
      });
      break;
    case Request::register_memory:
      return between_steps(thread, [&] { register_memory(thread); });
    case Request::deregister_memory:
      return between_steps(thread, [&] { system_.deregister_memory(static_cast<std::uint32_t>(c.arguments[0])); });
    case Request::change_memory:
      return between_steps(thread, [&] { change_memory(thread); });
    case Request::alloc_window:
      return between_steps(thread, [&] { alloc_window(thread); });
    case Request::alloc_device:
      return between_steps(thread, [&] { alloc_device(thread); });
    case Request::free_device:
      program.device_memory.at(c.arguments[0]).used = false;
      break;
    case Request::copy_device:
      return copy_device(thread);
    case Request::register_device:
      return between_steps(thread, [&] { register_device(thread); });
    case Request::create_cq:
      between_steps(thread, [&] {
        const nic::CqId cq = system_.create_cq(program.host, static_cast<std::uint32_t>(c.arguments[0]));
        cqs_.resize(cq + 1);
        cqs_[cq] = {.program = &program, .channel = static_cast<std::uint32_t>(c.arguments[1])};
        c.replies[0] = cq;
      });
      break;
    case Request::resize_cq: {
      compute(kCommand);
      const auto entries = static_cast<std::uint32_t>(c.arguments[1]);
      c.replies[0] = system_.resize_cq(static_cast<nic::CqId>(c.arguments[0]), entries) ? 0 : EINVAL;
      break;
    }
    case Request::create_srq:
      between_steps(thread, [&] {
        c.replies[0] = system_.create_srq(program.host, static_cast<std::uint32_t>(c.arguments[0]),
                                          static_cast<nic::CqId>(c.arguments[1]));
      });
      break;
    case Request::modify_srq:
      between_steps(thread, [&] {
        const auto srq = static_cast<nic::SrqId>(c.arguments[0]);
        system_.set_srq_limit(srq, static_cast<std::uint32_t>(c.arguments[1]));
        if (c.arguments[1] != 0) program.armed_srqs.insert(srq);
      });
      break;
    case Request::create_qp:
      return between_steps(thread, [&] { create_qp(thread); });
    case Request::modify_qp:
      return between_steps(thread, [&] { modify_qp(thread); });
    case Request::query_qp:
      c.replies[0] = static_cast<std::int64_t>(system_.qp_state(static_cast<nic::QpId>(c.arguments[0])));
      break;
    case Request::destroy:
      if (static_cast<Made>(c.arguments[0]) == Made::qp)
        between_steps(thread, [&] { reset(static_cast<nic::QpId>(c.arguments[1])); });
      break;
    case Request::poll_cq:
      return poll(thread);
    case Request::arm_cq:
      compute(hosts::ring_cost(profile(thread.program.host)));
      cqs_[c.arguments[0]].armed = true;
      cqs_[c.arguments[0]].solicited_only = c.arguments[1] != 0;
      break;
    case Request::get_cq_event:
      return get_cq_event(thread);
    case Request::get_async_event:
      return get_async_event(thread);
    case Request::wait_memory:
      return wait_memory(thread);
    case Request::spin:
      return spin(thread);
    case Request::access:
      return access(thread);
    case Request::multicast:
      compute(kCommand);
      return between_steps(thread, [&] { change_group(thread); });
    case Request::cm_listen:
      return listen(thread);
    case Request::cm_send:
      return send_message(thread);
    case Request::set_timer:
      return set_timer(thread);
    case Request::note: {
      const auto kind = static_cast<Note>(c.arguments[0]);
      if (kind == Note::race) return note_race(thread);
      auto& list = kind == Note::unsupported    ? result_.unsupported
                   : kind == Note::approximated ? result_.approximations
                                                : result_.not_deterministic;
      remember(list, fmt::format("host {}: {}", program.host, static_cast<const char*>(c.data)));
      break;
    }
  }
}

/// Records each pair of places once.
void Conductor::note_race(ProgramThread& thread) {
  const Channel& c = *thread.channel;
  Race race{.host = thread.program.host, .text = static_cast<const char*>(c.data)};
  const bool known = !races_seen_.emplace(race.host, c.arguments[1], c.arguments[2], race.text).second;
  if (known) return;
  race.where = code_place(thread.program.process, c.arguments[1]);
  race.request = code_place(thread.program.process, c.arguments[2]);
  result_.races.push_back(std::move(race));
}

/// The program's main has returned: it now ends, in real time.
void Conductor::leave(ProgramThread& thread) {
  Program& program = thread.program;
  thread.channel.let();
  int status = 0;
  constexpr int kPatience = 50'000;
  for (int waited = 0; !is_gone(program, status); ++waited) {
    if (waited == kPatience) kill(program.process, SIGKILL);
    outputs_.drain(false);
    wait_shortly();
  }
  ended(program, status);
}

/// The process runs another image after exec, without the objects of the previous one.
void Conductor::begin_again(Program& program) {
  for (const auto& thread : program.threads)
    if (thread->index != 0) thread_ended(*thread);
  for (const nic::QpId qp : program.queue_pairs) reset(qp);
  program.queue_pairs.clear();
  program.memory.forget();
  program.cq_events.clear();
  program.async_events.clear();
  program.messages.clear();
  program.news.clear();
  program.armed_srqs.clear();
  program.lists.clear();
  program.refused.clear();
  for (DeviceMemory& memory : program.device_memory) memory.used = false;
  for (const auto& [number, timer] : program.timers) timers_.erase(timer.pending);
  program.timers.clear();
  for (CqState& cq : cqs_)
    if (cq.program == &program) cq = {};
  std::erase_if(listeners_, [&](const auto& entry) { return entry.second == &program; });
}

void Conductor::start_thread(ProgramThread& parent) {
  Program& program = parent.program;
  begin_thread(program, ChannelEnd::of_thread(program.process, static_cast<int>(parent.channel->arguments[0])));
}

/// A child of fork continues as a further thread of its host, with memory of its own.
void Conductor::start_process(ProgramThread& maker) {
  const Channel& c = *maker.channel;
  Program& parent = maker.program;
  auto child = std::make_unique<Program>();
  child->parent = &parent;
  child->process = static_cast<pid_t>(c.arguments[1]);
  child->ports_down = parent.ports_down;
  child->memory.set_process(child->process);
  settle(*child, parent.host);
  ChannelEnd channel = ChannelEnd::of_thread(parent.process, static_cast<int>(c.arguments[0]));
  channel->facts.process = child->number;
  maker.channel->replies[0] = child->number;
  children_.push_back(std::move(child));
  begin_thread(*children_.back(), std::move(channel));
}

void Conductor::settle(Program& program, std::uint32_t host) {
  program.host = host;
  program.number = ++children_begun_[host];
  program.inline_slot = system_.allocate(host, kPostBytes);
  program.base = processes_[host]->add(program.memory);
}

/// Its thread is one of the other host's from now on.
void Conductor::move(ProgramThread& thread) {
  Channel& c = *thread.channel;
  Program& program = thread.program;
  const auto to = static_cast<std::uint32_t>(c.arguments[0]);
  const bool has_something = program.parent == nullptr || program.threads.size() != 1 || !program.queue_pairs.empty();
  if (to >= programs_.size() || has_something) {
    c.replies[0] = to >= programs_.size() ? EHOSTUNREACH : EINVAL;
    return;
  }
  if (to == program.host) return;
  between_steps(thread, [&] {
    threads_[thread.id] = nullptr;
    free_threads_[program.host].push_back(thread.id);
    settle(program, to);
    thread.id = machine_thread(to);
    threads_[thread.id] = &thread;
    if (tracing_) tracing_->begin_thread(thread.id, to, name_of(program));
    c.facts = facts_of(to);
    c.facts.process = program.number;
  });
}

void Conductor::begin_thread(Program& program, ChannelEnd channel) {
  auto thread = std::unique_ptr<ProgramThread>(new ProgramThread{program, program.threads_begun++, std::move(channel)});
  thread->id = machine_thread(program.host);
  threads_[thread->id] = thread.get();
  if (tracing_)
    tracing_->begin_thread(thread->id, program.host, fmt::format("{}, thread {}", name_of(program), thread->index));
  thread->fiber = pool_.create([this, t = thread.get()] {
    if (await(*t)) serve(*t);
  });
  program.threads.push_back(std::move(thread));
}

// --- connection managers ---------------------------------------------------------------------------------------------

void Conductor::listen(ProgramThread& thread) {
  const auto port = static_cast<std::uint32_t>(thread.channel->arguments[0]);
  const std::uint64_t key = std::uint64_t{thread.program.host} << 32U | port;
  if (thread.channel->arguments[1] == 0) {
    listeners_.erase(key);
  } else if (!listeners_.emplace(key, &thread.program).second) {
    thread.channel->replies[0] = EADDRINUSE;
  }
}

void Conductor::send_message(ProgramThread& thread) {
  CmMessage message;
  std::memcpy(&message, thread.channel->data, sizeof(message));
  message.from_host = thread.program.host;
  if (message.to_host >= programs_.size()) {
    thread.channel->replies[0] = EHOSTUNREACH;
    return;
  }
  deliver(message);
}

/// Null if nobody listens, or there is no such process.
Program* Conductor::receiver_of(const CmMessage& message) const {
  if (message.to_id == kListener) {
    const auto found = listeners_.find(std::uint64_t{message.to_host} << 32U | message.port);
    return found == listeners_.end() ? nullptr : found->second;
  }
  Program* out = nullptr;
  for_each_program([&](Program& p) {
    if (p.host == message.to_host && p.number == message.to_id >> kProcessBit) out = &p;
  });
  return out;
}

void Conductor::deliver(const CmMessage& message) {
  add_timer((now() + kCmMessage).ps, [this, message] {
    const bool asks = message.to_id == kListener;
    Program* const to = receiver_of(message);
    const bool there = to != nullptr && !to->ended;
    CmMessage answer = message;  // from the manager itself
    std::swap(answer.from_host, answer.to_host);
    std::swap(answer.from_id, answer.to_id);
    if (there) {
      to->messages.push_back(message);
      notify_io(to);
      answer.type = CmType::drep;
      if (message.type == CmType::dreq) deliver(answer);
    } else if (message.type == CmType::dreq) {  // its host knows that it has ended
      answer.type = CmType::drep;
      deliver(answer);
    } else if (asks) {
      constexpr std::uint32_t kInvalidServiceId = 8;  // IBTA volume 1, table 108
      answer.type = message.type == CmType::sidr_req ? CmType::sidr_rep : CmType::rej;
      answer.reason = kInvalidServiceId;
      answer.bytes = 0;
      deliver(answer);
    }
  });
}

}  // namespace loco::exec
