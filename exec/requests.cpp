// What programs ask for, one request at a time: time, waiting, threads, events. Queues and memory are in queues.cpp.
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
      break;
    case Request::start:
      if (thread.index == 0 && std::exchange(program.running, true))
        between_steps(thread, [&] { begin_again(program); });
      break;
    case Request::sleep:
      thread.waits_for = "the end of its sleep";
      if (argument_time(c).ps > 0) wait(thread, Wait::sleep, (system_.now() + argument_time(c)).ps);
      break;
    case Request::wait_io:
      thread.waits_for = "a socket, a pipe or an event";
      // what has changed since it looked may be what it waits for
      if (thread.io_seen == io_changes_) c.replies[0] = wait(thread, Wait::io, deadline(c)) ? 1 : 0;
      break;
    case Request::wait_process:
      thread.waits_for = "another thread of its process";
      if (thread.releases_seen == program.releases) c.replies[0] = wait(thread, Wait::process, deadline(c)) ? 1 : 0;
      break;
    case Request::yield:
      compute(kYield);
      break;
    case Request::exit:
      leave(thread);
      break;
    case Request::thread_start:
      between_steps(thread, [&] { start_thread(thread); });
      break;
    case Request::thread_exit:
      thread_ended(thread);
      thread.channel.let();
      after_step_.emplace_back([this, &thread] {
        while (thread_is_there(thread.program.process, thread.channel->thread)) wait_shortly();
        released(thread.program);
      });
      break;
    case Request::register_memory:
      between_steps(thread, [&] { register_memory(thread); });
      break;
    case Request::deregister_memory:
      between_steps(thread, [&] { system_.deregister_memory(static_cast<std::uint32_t>(c.arguments[0])); });
      break;
    case Request::change_memory:
      between_steps(thread, [&] { change_memory(thread); });
      break;
    case Request::alloc_window:
      between_steps(thread, [&] { alloc_window(thread); });
      break;
    case Request::alloc_device:
      between_steps(thread, [&] { alloc_device(thread); });
      break;
    case Request::free_device:
      program.device_memory.at(c.arguments[0]).used = false;
      break;
    case Request::copy_device:
      copy_device(thread);
      break;
    case Request::register_device:
      between_steps(thread, [&] { register_device(thread); });
      break;
    case Request::create_cq:
      between_steps(thread, [&] {
        const nic::CqId cq = system_.create_cq(program.host, static_cast<std::uint32_t>(c.arguments[0]));
        cqs_.resize(cq + 1);
        cqs_[cq] = {.program = &program, .channel = static_cast<std::uint32_t>(c.arguments[1])};
        c.replies[0] = cq;
      });
      break;
    case Request::resize_cq: {
      compute(kResize);
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
      between_steps(thread, [&] { create_qp(thread); });
      break;
    case Request::modify_qp:
      between_steps(thread, [&] { modify_qp(thread); });
      break;
    case Request::query_qp:
      c.replies[0] = static_cast<std::int64_t>(system_.qp_state(static_cast<nic::QpId>(c.arguments[0])));
      break;
    case Request::destroy:
      if (static_cast<Made>(c.arguments[0]) == Made::qp)
        between_steps(thread, [&] { system_.modify_qp(static_cast<nic::QpId>(c.arguments[1]), nic::QpState::reset); });
      break;
    case Request::poll_cq:
      poll(thread);
      break;
    case Request::arm_cq:
      compute(hosts::ring_cost(profile()));
      cqs_[c.arguments[0]].armed = true;
      cqs_[c.arguments[0]].solicited_only = c.arguments[1] != 0;
      break;
    case Request::get_cq_event:
      get_cq_event(thread);
      break;
    case Request::get_async_event:
      get_async_event(thread);
      break;
    case Request::wait_memory:
      wait_memory(thread);
      break;
    case Request::spin:
      spin(thread);
      break;
    case Request::cm_listen:
      listen(thread);
      break;
    case Request::cm_send:
      send_message(thread);
      break;
    case Request::set_timer:
      set_timer(thread);
      break;
    case Request::note: {
      const auto kind = static_cast<Note>(c.arguments[0]);
      auto& list = kind == Note::unsupported    ? result_.unsupported
                   : kind == Note::approximated ? result_.approximations
                                                : result_.not_deterministic;
      remember(list, fmt::format("host {}: {}", program.host, static_cast<const char*>(c.data)));
      break;
    }
  }
}

/// Its main has returned: it ends now, in real time.
void Conductor::leave(ProgramThread& thread) {
  Program& program = thread.program;
  thread.channel.let();
  int status = 0;
  constexpr int kPatience = 50'000;
  for (int waited = 0; waitpid(program.process, &status, WNOHANG) == 0; ++waited) {
    if (waited == kPatience) kill(program.process, SIGKILL);
    outputs_.drain(false);
    wait_shortly();
  }
  ended(program, status);
}

/// It has become another image by exec, with nothing of what the one before had made.
void Conductor::begin_again(Program& program) {
  for (const auto& thread : program.threads)
    if (thread->index != 0) thread_ended(*thread);
  for (const nic::QpId qp : program.queue_pairs) system_.modify_qp(qp, nic::QpState::reset);
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
  std::erase_if(listeners_, [&](std::uint64_t key) { return key >> 32U == program.host; });
}

void Conductor::start_thread(ProgramThread& parent) {
  Program& program = parent.program;
  const auto file = static_cast<int>(parent.channel->arguments[0]);
  auto thread = std::unique_ptr<ProgramThread>(new ProgramThread{
      program, static_cast<std::uint32_t>(program.threads.size()), ChannelEnd::of_thread(program.process, file)});
  thread->id = system_.create_thread(program.host, system_.now());
  threads_.resize(thread->id + 1);
  threads_[thread->id] = thread.get();
  thread->fiber = pool_.create([this, t = thread.get()] {
    if (await(*t)) serve(*t);
  });
  program.threads.push_back(std::move(thread));
}

// --- events ----------------------------------------------------------------------------------------------------------

/// A program to which others write, or whose words they change, may look at its memory between its polls: from the
/// first of them on, a loop that polls in vain has another turn when NICs have written to it.
void Conductor::on_packet(nic::PacketStep step, const fabric::Packet& packet, sim::SimTime) {
  if (step != nic::PacketStep::received) {
    if (packet.opcode == fabric::Opcode::nak) refused(packet);
    return;
  }
  if ((packet.opcode != fabric::Opcode::write || packet.total == 0) && !is_atomic(packet.opcode)) return;
  Program* const program = packet.destination < programs_.size() ? programs_[packet.destination].get() : nullptr;
  if (program == nullptr || program->written_to) return;
  program->written_to = true;
}

/// A responder that refuses a request is in ERROR, and says so by an event of its queue pair (IBTA volume 1, 11.6.3.2).
void Conductor::refused(const fabric::Packet& nak) {
  const bool access = nak.nak == fabric::NakCode::remote_access_error;
  if (!access && nak.nak != fabric::NakCode::invalid_request) return;
  Program* const program = nak.source < programs_.size() ? programs_[nak.source].get() : nullptr;
  if (program == nullptr || program->ended || !program->refused.insert(nak.source_qp).second) return;
  const AsyncEvent event = access ? AsyncEvent::qp_access_error : AsyncEvent::qp_request_error;
  after_step_.emplace_back([this, program, event, qp = nak.source_qp] { tell(*program, event, qp); });
}

/// The queue pair whose completion is lost cannot go on (IBTA volume 1, 11.6.3.1, 11.6.3.2).
void Conductor::on_cq_overrun(nic::NodeId, nic::CqId cq, const nic::Cqe& cqe, sim::SimTime) {
  if (cq >= cqs_.size() || cqs_[cq].program == nullptr) return;
  Program& program = *cqs_[cq].program;
  const bool first = !std::exchange(cqs_[cq].overrun, true);
  if (!program.refused.insert(cqe.qp).second && !first) return;
  after_step_.emplace_back([this, &program, cq, qp = cqe.qp, first] {
    if (first) tell(program, AsyncEvent::cq_error, cq);
    system_.modify_qp(qp, nic::QpState::error);
    tell(program, AsyncEvent::qp_fatal, qp);
  });
}

/// Ports go down and come back with their cables.
void Conductor::watch_ports() {
  for (const PortChange& change : options_.ports) {
    Program* const program = change.host < programs_.size() ? programs_[change.host].get() : nullptr;
    if (program == nullptr) continue;
    add_timer(change.at.ps, [this, program, up = change.up] {
      program->port_down = !up;
      if (!program->ended) tell(*program, up ? AsyncEvent::port_active : AsyncEvent::port_error, 1);
    });
  }
}

void Conductor::on_message(const nic::MessageArrival& message) {
  if (message.found && message.qp < is_xrc_.size() && is_xrc_[message.qp])
    xrc_messages_[message.qp].push_back(message.queue);
  if (!message.found || system_.queue_pair(message.qp).type != nic::QpType::ud) return;
  Program* const program = programs_[system_.qp_node(message.qp)].get();
  if (program != nullptr) program->datagrams[message.qp].push_back(message.receive);
}

/// The GRH in front of a datagram: with RoCE v2 over IPv4 the second half of it is the IP header (IBTA annex A17).
void Conductor::write_header(Program& program, const nic::Cqe& cqe) {
  std::deque<nic::RecvWqe>& waiting = program.datagrams[cqe.qp];
  if (waiting.empty()) return;
  const nic::RecvWqe receive = waiting.front();
  waiting.pop_front();
  if (cqe.status != nic::Status::success || cqe.source_qp == nic::kNone) return;
  std::array<std::byte, kGrhBytes> grh{};
  fill_grh(grh, system_.qp_node(cqe.source_qp), program.host, cqe.length - kGrhBytes, options_.infiniband);
  program.memory.write(receive.address, std::span(grh).first(std::min<std::size_t>(grh.size(), receive.length)));
}

void Conductor::on_cqe(nic::NodeId, nic::CqId cq, const nic::Cqe& cqe, sim::SimTime) {
  idle_pauses_ = 0;
  if (cq >= cqs_.size() || cqs_[cq].program == nullptr) return;
  CqState& state = cqs_[cq];
  Program& program = *state.program;
  if (cqe.with_imm && !invalidations_.empty() && cqe.status == nic::Status::success) {
    const auto key = invalidations_.find({cqe.qp, cqe.imm});
    if (key != invalidations_.end()) {
      invalidate(program.host, cqe.imm);
      invalidated_.insert(*key);
      invalidations_.erase(key);
    }
  }
  if (!program.datagrams.empty() && is_receive(cqe.opcode) && program.datagrams.contains(cqe.qp))
    write_header(program, cqe);
  if (!program.armed_srqs.empty() && is_receive(cqe.opcode))
    after_step_.emplace_back([this] { add_timer(system_.now().ps, [] {}); });  // for look_at_srqs
  const bool failed = cqe.status != nic::Status::success && cqe.status != nic::Status::wr_flush_err;
  if (failed && cqe.qp < shares_receives_.size() && shares_receives_[cqe.qp])
    after_step_.emplace_back([this, &program, qp = cqe.qp] { tell(program, AsyncEvent::last_wqe, qp); });
  if (state.armed && (!state.solicited_only || cqe.status != nic::Status::success || is_receive(cqe.opcode))) {
    state.armed = false;
    after_step_.emplace_back([this, cq] {
      add_timer((system_.now() + kInterrupt).ps, [this, cq] {
        CqState& armed = cqs_[cq];
        armed.program->cq_events[armed.channel].push_back(cq);
        armed.program->news.push_back(armed.channel);
        for (const auto& thread : armed.program->threads)
          if (thread->wait == Wait::cq_event && thread->wait_channel == armed.channel) wake(*thread);
        notify_io();
      });
    });
  }
}

void Conductor::notify_io() {
  ++io_changes_;
  wake_for_io();
}

void Conductor::wake_for_io() {
  for (std::uint32_t host = 0; host < programs_.size(); ++host) system_.notify(host, kIoKey);
  wake_all(Wait::io);
}

void Conductor::get_cq_event(ProgramThread& thread) {
  Channel& c = *thread.channel;
  thread.wait_channel = static_cast<std::uint32_t>(c.arguments[0]);
  std::deque<nic::CqId>& events = thread.program.cq_events[thread.wait_channel];
  const bool blocks = c.arguments[1] != 0;
  while (events.empty() && blocks) {
    thread.waits_for = fmt::format("an event of completion channel {}", thread.wait_channel);
    wait(thread, Wait::cq_event, -1);
  }
  c.replies[0] = -1;
  if (events.empty()) return;
  c.replies[0] = events.front();
  events.pop_front();
  compute(kWakeup);
}

void Conductor::tell(Program& program, AsyncEvent event, std::uint32_t object) {
  program.async_events.push_back({event, object});
  program.news.push_back(kAsyncNews);
  wake_all(Wait::async_event, &program);
  notify_io();
}

/// Limits of shared receive queues that have been reached: in a step of the clock, which sees all hosts.
void Conductor::look_at_srqs(nic::Cpu& cpu) {
  for (const auto& program : programs_) {
    if (!program) continue;
    std::erase_if(program->armed_srqs, [&](nic::SrqId srq) {
      if (!cpu.srq_limit_reached(srq)) return false;
      after_step_.emplace_back([this, p = program.get(), srq] { tell(*p, AsyncEvent::srq_limit, srq); });
      return true;
    });
  }
  cpu.forget_watched();
}

void Conductor::arm_timer(Program& program, std::uint32_t number, std::int64_t at) {
  program.timers[number].pending = add_timer(at, [this, &program, number, at] {
    ProgramTimer& timer = program.timers[number];
    timer.pending = {};
    program.news.push_back(kTimerNews + number);
    if (timer.again_ps > 0) arm_timer(program, number, at + timer.again_ps);
    notify_io();
  });
}

void Conductor::set_timer(ProgramThread& thread) {
  const Channel& c = *thread.channel;
  const auto number = static_cast<std::uint32_t>(c.arguments[0]);
  const auto at = static_cast<std::int64_t>(c.arguments[1]);
  ProgramTimer& timer = thread.program.timers[number];
  if (timer.pending.second != 0) timers_.erase(timer.pending);
  timer.pending = {};
  timer.again_ps = static_cast<std::int64_t>(c.arguments[2]);
  if (at != 0) arm_timer(thread.program, number, at);
}

void Conductor::get_async_event(ProgramThread& thread) {
  Channel& c = *thread.channel;
  std::deque<AsyncNews>& events = thread.program.async_events;
  while (events.empty() && c.arguments[0] != 0) {
    thread.waits_for = "an asynchronous event";
    wait(thread, Wait::async_event, -1);
  }
  c.replies[0] = -1;
  if (events.empty()) return;
  c.replies[0] = static_cast<std::int64_t>(events.front().event);
  c.replies[1] = events.front().object;
  events.pop_front();
}

// --- connection managers ---------------------------------------------------------------------------------------------

void Conductor::listen(ProgramThread& thread) {
  const auto port = static_cast<std::uint32_t>(thread.channel->arguments[0]);
  const std::uint64_t key = std::uint64_t{thread.program.host} << 32U | port;
  if (thread.channel->arguments[1] == 0) {
    listeners_.erase(key);
  } else if (!listeners_.insert(key).second) {
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

void Conductor::deliver(const CmMessage& message) {
  add_timer((system_.now() + kCmMessage).ps, [this, message] {
    const bool asks = message.to_id == kListener;
    const std::uint64_t listener = std::uint64_t{message.to_host} << 32U | message.port;
    Program* const to = programs_[message.to_host].get();
    const bool there = to != nullptr && !to->ended && (!asks || listeners_.contains(listener));
    CmMessage answer = message;  // by the manager itself
    std::swap(answer.from_host, answer.to_host);
    std::swap(answer.from_id, answer.to_id);
    if (there) {
      to->messages.push_back(message);
      notify_io();
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
