// What a trace says when a thread posts a request or a receive, and when it takes a completion: of programs on fibers
// (thread.hpp) and of litmus programs, whose threads are values (loco_sim/explore).
#pragma once

#include <cstdint>

#include "hosts/recorder.hpp"
#include "nic_model/system.hpp"
#include "nic_model/verbs/cpu.hpp"

namespace loco::hosts {

/// A thread that makes a call, from a line of its program, now.
struct Caller {
  Recorder& recorder;         ///< which records verbs
  std::uint32_t thread;       ///< its number in the machine
  std::uint32_t place;        ///< VerbsRecorder::place()
  const nic::System& system;  ///< whose order stamps count
  std::int64_t ps = 0;        ///< by the thread's clock

  /// A call begins; `flag`: the word that it accesses tells others something.
  [[nodiscard]] trace::CallId begin(trace::Method method, std::uint64_t argument = 0, std::uint64_t work_id = 0,
                                    bool flag = false) const;
  void finish(trace::CallId call, std::uint64_t result = 0) const { recorder.finish(call, result, system.seq(), ps); }
};

/// The request is going to be posted: its call begins. That of its fence flag has returned.
void begin_request(const Caller& by, nic::Wqe& wqe);
void posted_receive(const Caller& by, std::uint32_t queue, const nic::RecvWqe& wqe);
/// A wait for what it completes, which has ended.
void took_completion(const Caller& by, nic::Cpu& cpu, nic::CqId cq, const nic::Cqe& cqe);

}  // namespace loco::hosts
