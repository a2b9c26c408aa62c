// Records a run of a program of model verbs on the machine as a trace, as hosts/thread.hpp does for programs with
// fibers. Private to loco_sim/explore.
#pragma once

#include "hosts/verbs_calls.hpp"
#include "loco_sim/explore/machine.hpp"

namespace loco::explore {

class Recording {
 public:
  Recording(const Machine& machine, const nic::System& system);

  [[nodiscard]] nic::Observer* observer() { return &recorder_; }
  /// A step begins.
  void now(const nic::System& system) { system_ = &system; }
  /// The thread making a call, at the program's line; the call returns within its step.
  [[nodiscard]] hosts::Caller caller(const nic::Cpu& cpu, const model::litmus::Instruction& i);
  void returns(trace::CallId call, std::uint64_t result) { recorder_.finish(call, result, system_->seq()); }
  void posted(trace::CallId call, nic::QpId qp, const nic::Wqe& wqe) { recorder_.verbs()->posted(call, qp, wqe); }
  /// Takes the trace at the end of the run.
  [[nodiscard]] trace::Trace take(const nic::System& system);

 private:
  const Machine& machine_;
  hosts::Recorder recorder_;
  const nic::System* system_ = nullptr;  ///< the machine that takes the step
};

}  // namespace loco::explore
