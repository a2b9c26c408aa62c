// The calls that a trace has for posting a request or a receive and for taking a completion. Used for programs on
// fibers (thread.hpp) and for litmus programs, whose threads are values (loco_sim/explore).
#pragma once

#include <cstdint>

#include "hosts/recorder.hpp"
#include "nic_model/system.hpp"
#include "nic_model/verbs/cpu.hpp"

namespace loco::hosts {

/// A thread that makes a call now, with the source line.
struct Caller {
  Recorder& recorder;         ///< records verbs
  std::uint32_t thread;       ///< number in the machine
  std::uint32_t place;        ///< VerbsRecorder::place()
  const nic::System& system;  ///< gives the order stamps
  std::int64_t ps = 0;        ///< the thread's clock

  /// Begins a call; `flag`: the word that it accesses signals something to other threads.
  [[nodiscard]] trace::CallId begin(trace::Method method, std::uint64_t argument = 0, std::uint64_t work_id = 0,
                                    bool flag = false) const;
  void finish(trace::CallId call, std::uint64_t result = 0) const { recorder.finish(call, result, system.seq(), ps); }
};

/// Begins the call of a request before it is posted. The call of its fence flag has returned.
void begin_request(const Caller& by, nic::Wqe& wqe);
void posted_receive(const Caller& by, std::uint32_t queue, const nic::RecvWqe& wqe);
/// Records a `wait` call that has returned because of this completion.
void took_completion(const Caller& by, nic::Cpu& cpu, nic::CqId cq, const nic::Cqe& cqe);

}  // namespace loco::hosts
