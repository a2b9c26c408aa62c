// A run of foreign programs as a trace (trace/), which `loco-sim check` judges: requests and receives as programs post
// them, messages, completion queue entries, polls, and what NICs read and write, word by word, with its values.
//
// What programs load and store by themselves is in it where they tell of it (shim/check.hpp), and of waits on memory
// that the conductor sees. Else a read's source is the last write that was seen: a value that is another one than its
// source's was stored by the program unseen. Only looks: a run with it is the same run.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "exec/options.hpp"
#include "hosts/recorder.hpp"
#include "hosts/verbs_calls.hpp"
#include "nic_model/system.hpp"
#include "trace/trace.hpp"

namespace loco::exec {

class Tracing {
 public:
  Tracing(const nic::System& system, std::uint64_t seed);

  /// Of the machine, from now on a thread of this program.
  void begin_thread(nic::ThreadId thread, nic::NodeId host, const std::string& name);

  /// Who makes a call, and from which instruction; it is the one that comes next.
  struct Caller {
    nic::ThreadId thread = 0;
    pid_t process = 0;
    std::uint64_t code = 0;  ///< 0: not known
  };
  /// Requests are going to be posted: they get the numbers of their calls.
  void begin_requests(const Caller& by, std::span<nic::Wqe> wqes);
  /// They have been.
  void posted(nic::QpId qp, std::span<const nic::Wqe> wqes);
  void posted_receives(const Caller& by, std::uint32_t queue, std::span<const nic::RecvWqe> wqes);
  void polled(const Caller& by, nic::Cpu& cpu, nic::CqId cq, std::span<const nic::Cqe> cqes);
  /// A queue pair has gone to RESET.
  void reset(nic::QpId qp);
  /// The word is going to be read, or has been written, by a plain access or one by which something is told.
  void load(const Caller& by, nic::Cpu& cpu, nic::Address word, bool flag);
  void stored(const Caller& by, nic::Cpu& cpu, nic::Address word, bool flag);

  [[nodiscard]] nic::Observer& observer() { return recorder_; }
  /// Bytes that it takes by now, about.
  [[nodiscard]] std::uint64_t bytes();
  /// The whole; the run has ended. Its places are numbers of `code` until they are named.
  [[nodiscard]] trace::Trace take(std::vector<CodePlace>& code);

 private:
  [[nodiscard]] std::uint32_t place(const Caller& by);
  /// The call that comes next, as hosts/ records it.
  [[nodiscard]] hosts::Caller call_of(const Caller& by);
  [[nodiscard]] trace::CallId begin(const Caller& by, trace::Method method, std::uint64_t argument, bool flag);

  const nic::System& system_;
  hosts::Recorder recorder_;
  nic::ThreadId threads_ = 0;
  std::map<std::pair<pid_t, std::uint64_t>, std::uint32_t> places_{};
  std::vector<CodePlace> code_{};  ///< by place, from 1 on
};

/// Lines of source for the places of a trace; not while the time-stamp counter is trapped.
void name_places(trace::Trace& trace, const std::vector<CodePlace>& code);

}  // namespace loco::exec
