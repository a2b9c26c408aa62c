// The part of a trace that verbs programs have besides calls and subevents (trace/verbs.hpp): which request, receive,
// message, completion queue entry and poll belong together, as the machine announces them.
//
// The machine numbers a queue pair's requests in posting order, and a CQE names that number. A message names the call
// that it belongs to. Receives of a queue are used in the order in which the NIC learned of them, which may differ from
// the posting order if several threads post. Receive CQEs of a queue pair are written in the order in which its
// messages took receives.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nic_model/observer.hpp"
#include "nic_model/system.hpp"
#include "nic_model/verbs.hpp"
#include "trace/trace.hpp"

namespace loco::hosts {

class VerbsRecorder {
 public:
  explicit VerbsRecorder(trace::Verbs& verbs) : verbs_(verbs) {}

  /// Begins the run: takes the receives that exist already.
  void begin(const nic::System& system);
  /// Ends the run: takes what set-up has made.
  void end(const nic::System& system);

  /// The number of a source line; 0: unknown.
  std::uint32_t place(std::string_view file, std::uint32_t line);
  void set_place(trace::CallId call, std::uint32_t place);
  void set_flag(trace::CallId call) { verbs_.flag_calls.push_back(call); }
  void posted(trace::CallId call, nic::QpId qp, const nic::Wqe& wqe);
  /// A receive posted by a thread of the trace, or before the run (trace::Verbs::kNone). `after` is the number of calls
  /// begun so far.
  void posted_receive(std::uint32_t thread, std::uint32_t after, std::uint32_t place, std::uint32_t queue,
                      const nic::RecvWqe& wqe);
  /// The NIC knows of `count` more receives of the thread.
  void known(std::uint32_t thread, std::uint32_t queue, std::uint32_t count);
  void polled(trace::CallId call, nic::CqId cq, const nic::Cqe& cqe);

  /// A queue pair has gone to RESET: its completions that have not been polled, and the receives of a queue of its own,
  /// are lost.
  void reset(const nic::System& system, nic::QpId qp);

  void on_message(const nic::MessageArrival& message);
  void on_cqe(nic::CqId cq, const nic::Cqe& cqe);
  void on_overrun(nic::CqId cq) { verbs_.overruns.push_back(cq); }

 private:
  trace::Verbs& verbs_;
  std::map<std::pair<std::string_view, std::uint32_t>, std::uint32_t> places_;
  std::deque<std::string> files_;                             ///< the storage behind the names
  std::map<nic::QpId, std::vector<std::uint32_t>> requests_;  ///< by number in the send queue
  std::set<nic::OpId> refused_;                               ///< messages that have found no receive
  std::map<trace::CallId, std::uint32_t> request_of_;         ///< by call
  struct Posted {
    std::deque<std::uint32_t> receives;  ///< in order of use; those unknown to the NIC come last
    std::size_t known = 0;
  };
  std::map<std::uint32_t, Posted> receives_;                 ///< by queue, not taken yet
  std::map<nic::QpId, std::deque<std::uint32_t>> messages_;  ///< by responder, without a CQE yet
  std::map<nic::CqId, std::deque<std::uint32_t>> entries_;   ///< by completion queue, not polled yet
};

}  // namespace loco::hosts
