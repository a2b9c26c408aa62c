// Events that programs do not request: completion events, asynchronous events, headers of datagrams, timers.
#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <utility>

#include "exec/conductor.hpp"
#include "exec/keys.hpp"
#include "exec/system.hpp"

namespace loco::exec {

/// A program whose memory others write, or change with atomics, may look at it between its polls. From their first
/// access on, a loop that polls in vain gets another turn when NICs have written to it.
void Conductor::on_packet(nic::PacketStep step, const fabric::Packet& packet, sim::SimTime at) {
  if (leaps_) leaps_->packet(step, packet, at);
  if (step != nic::PacketStep::received) {
    if (packet.opcode == fabric::Opcode::nak) refused(packet);
    return;
  }
  if ((packet.opcode != fabric::Opcode::write || packet.total == 0) && !is_atomic(packet.opcode)) return;
  if (packet.destination_qp < owners_.size() && owners_[packet.destination_qp] != nullptr)
    written_to_[owners_[packet.destination_qp]->host] = true;
}

void Conductor::on_placed(nic::OpId message, std::uint32_t bytes, sim::SimTime at) {
  if (leaps_->placed(message, bytes, at)) after_step_.emplace_back([this] { leap(); });
}

/// A leap ends before the next timer.
void Conductor::leap() {
  const sim::SimTime end = timers_.empty() ? sim::SimTime::max() : machine_time(timers_.begin()->first.first);
  left_out_ += leaps_->look(end);
}

/// A responder that refuses a request goes to ERROR and raises an event of its queue pair (IBTA volume 1, 11.6.3.2).
void Conductor::refused(const fabric::Packet& nak) {
  const bool access = nak.nak == fabric::NakCode::remote_access_error;
  if (!access && nak.nak != fabric::NakCode::invalid_request) return;
  Program* const program = nak.source_qp < owners_.size() ? owners_[nak.source_qp] : nullptr;
  if (program == nullptr || program->ended || !program->refused.insert(nak.source_qp).second) return;
  const AsyncEvent event = access ? AsyncEvent::qp_access_error : AsyncEvent::qp_request_error;
  after_step_.emplace_back([this, program, event, qp = nak.source_qp] { tell(*program, event, qp); });
}

/// A queue pair whose completion is lost cannot continue (IBTA volume 1, 11.6.3.1, 11.6.3.2).
void Conductor::on_cq_overrun(nic::NodeId node, nic::CqId cq, const nic::Cqe& cqe, sim::SimTime at) {
  if (tracing_) tracing_->observer().on_cq_overrun(node, cq, cqe, at);
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
    add_timer(change.at.ps, [this, host = change.host, nic = change.nic, up = change.up] {
      for_each_program([&](Program& program) {
        if (program.host != host) return;
        const std::uint32_t bit = nic < kNicsMax ? 1U << nic : 0;
        program.ports_down = up ? program.ports_down & ~bit : program.ports_down | bit;
        if (!program.ended && bit != 0) tell(program, up ? AsyncEvent::port_active : AsyncEvent::port_error, nic);
      });
    });
  }
}

void Conductor::on_message(const nic::MessageArrival& message) {
  if (tracing_) tracing_->observer().on_message(message);
  if (message.found && message.qp < is_xrc_.size() && is_xrc_[message.qp])
    xrc_messages_[message.qp].push_back(message.queue);
  if (!message.found || system_.queue_pair(message.qp).type != nic::QpType::ud) return;
  datagrams_[message.qp].push_back(message.receive);
}

/// Writes the GRH before a datagram: with RoCE v2 over IPv4 its second half is the IP header (IBTA annex A17).
void Conductor::write_header(nic::NodeId host, const nic::Cqe& cqe) {
  std::deque<nic::RecvWqe>& waiting = datagrams_[cqe.qp];
  if (waiting.empty()) return;
  const nic::RecvWqe receive = waiting.front();
  waiting.pop_front();
  if (cqe.status != nic::Status::success || cqe.source_qp == nic::kNone) return;
  std::array<std::byte, kGrhBytes> grh{};
  fill_grh(grh, system_.qp_node(cqe.source_qp), host, cqe.length - kGrhBytes, options_.infiniband);
  processes_[host]->write(receive.address, std::span(grh).first(std::min<std::size_t>(grh.size(), receive.length)));
}

void Conductor::on_cqe(nic::NodeId node, nic::CqId cq, const nic::Cqe& cqe, sim::SimTime at) {
  if (tracing_) tracing_->observer().on_cqe(node, cq, cqe, at);
  idle_pauses_ = 0;
  if (leaps_) leaps_->disturbed();
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
  if (!datagrams_.empty() && is_receive(cqe.opcode) && datagrams_.contains(cqe.qp)) write_header(program.host, cqe);
  if (!program.armed_srqs.empty() && is_receive(cqe.opcode))
    after_step_.emplace_back([this] { add_timer(now().ps, [] {}); });  // triggers look_at_srqs
  const bool failed = cqe.status != nic::Status::success && cqe.status != nic::Status::wr_flush_err;
  if (failed && cqe.qp < shares_receives_.size() && shares_receives_[cqe.qp])
    after_step_.emplace_back([this, &program, qp = cqe.qp] { tell(program, AsyncEvent::last_wqe, qp); });
  if (state.armed && (!state.solicited_only || cqe.status != nic::Status::success || is_receive(cqe.opcode))) {
    state.armed = false;
    after_step_.emplace_back([this, cq] {
      add_timer((now() + kInterrupt).ps, [this, cq] {
        CqState& armed = cqs_[cq];
        armed.program->cq_events[armed.channel].push_back(cq);
        armed.program->news.push_back(armed.channel);
        for (const auto& thread : armed.program->threads)
          if (thread->wait == Wait::cq_event && thread->wait_channel == armed.channel) wake(*thread);
        notify_io(armed.program);
      });
    });
  }
}

void Conductor::notify_io(const Program* only) {
  ++io_changes_;
  wake_for_io(only);
}

void Conductor::wake_for_io(const Program* only) {
  for (std::uint32_t host = 0; host < programs_.size(); ++host)
    if (only == nullptr || only->host == host) system_.notify(host, kIoKey);
  wake_all(Wait::io, only);
}

void Conductor::get_cq_event(ProgramThread& thread) {
  Channel& c = *thread.channel;
  thread.wait_channel = static_cast<std::uint32_t>(c.arguments[0]);
  std::deque<nic::CqId>& events = thread.program.cq_events[thread.wait_channel];
  const bool blocks = c.arguments[1] != 0;
  while (events.empty() && blocks && !alarm_is_due(thread)) {
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
  notify_io(&program);
}

/// Raises the limit events of shared receive queues, in a step of the clock, which sees all hosts.
void Conductor::look_at_srqs(nic::Cpu& cpu) {
  for_each_program([&](Program& program) {
    std::erase_if(program.armed_srqs, [&](nic::SrqId srq) {
      if (!cpu.srq_limit_reached(srq)) return false;
      after_step_.emplace_back([this, &program, srq] { tell(program, AsyncEvent::srq_limit, srq); });
      return true;
    });
  });
  cpu.forget_watched();
}

void Conductor::arm_timer(Program& program, std::uint32_t number, std::int64_t at) {
  program.timers[number].pending = add_timer(at, [this, &program, number, at] {
    ProgramTimer& timer = program.timers[number];
    timer.pending = {};
    program.news.push_back(kTimerNews + number);
    if (timer.again_ps > 0) arm_timer(program, number, at + timer.again_ps);
    notify_io(&program);
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
  while (events.empty() && c.arguments[0] != 0 && !alarm_is_due(thread)) {
    thread.waits_for = "an asynchronous event";
    wait(thread, Wait::async_event, -1);
  }
  c.replies[0] = -1;
  if (events.empty()) return;
  c.replies[0] = static_cast<std::int64_t>(events.front().event);
  c.replies[1] = events.front().object;
  events.pop_front();
}

}  // namespace loco::exec
