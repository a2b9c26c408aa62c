// One run of a program of model verbs on the machine, as a trace: what hosts/thread.hpp records of programs with
// fibers, of a litmus test. Private to loco_sim/explore.
#pragma once

#include "hosts/recorder.hpp"
#include "loco_sim/explore/machine.hpp"

namespace loco::explore {

class Recording {
 public:
  Recording(const Machine& machine, const nic::System& system);

  [[nodiscard]] nic::Observer* observer() { return &recorder_; }
  /// A step begins.
  void now(const nic::System& system) { seq_ = system.seq(); }
  /// A thread makes a call, from the program's line; it returns within its step.
  trace::CallId call(const nic::Cpu& cpu, const model::litmus::Instruction& i, trace::Method method,
                     std::uint64_t argument = 0, std::uint64_t work_id = 0);
  void returns(trace::CallId call, std::uint64_t result = 0) { recorder_.finish(call, result, seq_); }
  void posted(trace::CallId call, nic::QpId qp, const nic::Wqe& wqe) { recorder_.verbs()->posted(call, qp, wqe); }
  void posted_receive(const nic::Cpu& cpu, const model::litmus::Instruction& i, std::uint32_t queue,
                      const nic::RecvWqe& wqe);
  void polled(trace::CallId call, nic::CqId cq, const nic::Cqe& cqe) { recorder_.verbs()->polled(call, cq, cqe); }
  /// The run has ended.
  [[nodiscard]] trace::Trace take(const nic::System& system);

 private:
  std::uint32_t place(const model::litmus::Instruction& i);

  const Machine& machine_;
  hosts::Recorder recorder_;
  trace::Seq seq_ = 0;
};

}  // namespace loco::explore
