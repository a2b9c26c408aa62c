// Turns a running system's events and its programs' library calls into a trace::Trace.
//
// The recorder observes the machine (nic::Observer) and is told about calls: begin and end of library calls, which
// nest, and the innermost ones, such as a load or a put, which the transport makes. Subevents name their innermost call
// by the op id that the call was given. A subevent's number in the machine is its number in the trace. Nothing here can
// change a run, and a run without a recorder does not pay for one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hosts/posted.hpp"
#include "hosts/renewed_memory.hpp"
#include "hosts/verbs_recorder.hpp"
#include "nic_model/observer.hpp"
#include "trace/call_info.hpp"
#include "trace/trace.hpp"

namespace loco::hosts {

class Recorder final : public nic::Observer {
 public:
  /// `activities`: also records what happens between accesses to memory (packets, TLPs, doorbells, CQEs).
  explicit Recorder(std::uint32_t nodes, bool activities = false) : with_activities_(activities) {
    trace_.nodes = nodes;
  }

  /// Adds a thread. The order is that of the numbers in the machine, which the other functions take.
  void add_thread(nic::NodeId node, std::string name);
  /// A thread of the machine whose program has ended runs another program; in the trace it becomes a new thread.
  void restart_thread(std::uint32_t thread, std::string name);

  /// Begins a library call of a thread, at order stamp `seq` and at `ps` picoseconds of the thread's clock; calls nest
  /// within their lane. Lanes other than 0 become threads of their own in the trace, which make library calls only.
  trace::CallId begin(std::uint32_t thread, const trace::CallInfo& call, trace::Seq seq, std::int64_t ps = 0);
  /// Ends the innermost open call of the lane.
  void end(std::uint32_t thread, std::uint32_t lane, std::uint64_t result, trace::Seq seq, std::int64_t ps = 0);

  /// Marks the innermost open call of the lane as one that never returns.
  void abandon(std::uint32_t thread, std::uint32_t lane, std::int64_t ps = 0);

  /// An endpoint of the named object is made, or goes. Once one has gone, the next one begins another incarnation of
  /// the name: it and everything below it ("r/cells" below "r") are new objects in the trace, "r#2/cells".
  void object_begins(std::string_view name);
  void object_ends(std::string_view name);

  /// Begins a call that the machine executes; it stays open until finish(). Its id is the op id of its subevents.
  trace::CallId begin_operation(std::uint32_t thread, trace::Method method, std::uint64_t argument,
                                std::uint64_t work_id, trace::Seq seq, std::int64_t ps = 0);
  /// Begins a message, which is a put in the models. Each queue pair of a thread's messages gets a lane: messages on it
  /// are ordered with each other, but not with the thread's one-sided operations.
  trace::CallId begin_message(std::uint32_t thread, std::uint32_t queue_pair, trace::Seq seq, std::int64_t ps = 0);
  void finish(trace::CallId call, std::uint64_t result, trace::Seq seq, std::int64_t ps = 0);

  /// Zeroed memory is reused.
  void renewed(nic::NodeId node, std::uint64_t base, std::uint64_t size) { memory_.renew(node, base, size); }

  /// Describes what the operation or remote fence of a call will do when the NIC executes it.
  void posted(trace::CallId call, const PostedOperation& operation);
  /// A completion has told the thread's node that its operations over a link fail from now on.
  void failed(std::uint32_t thread, Link over, trace::Seq seq) { posted_.failed(threads_[thread], over, seq); }
  /// Ends the run: subevents of posted operations that have not begun are added to the trace.
  bool end_run(const std::function<bool()>& goes_on = [] { return true; }) {
    return posted_.record_unbegun(trace_, goes_on);
  }

  /// Records verbs programs' further parts from now on. Call it before the run.
  void record_verbs(const nic::System& system);
  /// Null: not recording them.
  [[nodiscard]] VerbsRecorder* verbs() { return verbs_ ? &*verbs_ : nullptr; }

  /// The number of a thread in the trace, and the number of calls so far.
  [[nodiscard]] std::uint32_t thread_in_trace(std::uint32_t thread) const { return threads_[thread]; }
  [[nodiscard]] std::uint32_t calls() const { return static_cast<std::uint32_t>(trace_.calls.size()); }

  /// The innermost open call of a thread; 0 if there is none.
  [[nodiscard]] trace::CallId open_call(std::uint32_t thread) const;

  void on_subevent(const nic::Subevent& subevent) override;
  void on_subevent_finish(const nic::SubeventFinish& finish) override;
  void on_subevent_repeated(const nic::Subevent& subevent) override;
  void on_packet(nic::PacketStep step, const fabric::Packet& packet, sim::SimTime at) override;
  void on_tlp(const nic::TlpEvent& tlp) override;
  void on_cqe(nic::NodeId node, nic::CqId cq, const nic::Cqe& cqe, sim::SimTime at) override;
  void on_cq_overrun(nic::NodeId, nic::CqId cq, const nic::Cqe&, sim::SimTime) override {
    if (verbs_) verbs_->on_overrun(cq);
  }
  void on_message(const nic::MessageArrival& message) override {
    if (verbs_) verbs_->on_message(message);
  }
  void on_receives_known(std::uint32_t queue, nic::ThreadId thread, std::uint32_t count) override {
    if (verbs_) verbs_->known(threads_[thread], queue, count);
  }

  [[nodiscard]] trace::Trace& trace() { return trace_; }

 private:
  /// Number in the trace of a thread's lane.
  std::uint32_t lane(std::uint32_t thread, std::uint32_t lane);
  /// Removes the innermost open call from the lane.
  trace::CallId close(std::uint32_t thread, std::uint32_t lane, sim::SimTime now);
  std::uint32_t object(std::string_view name);
  [[nodiscard]] std::string name_in_trace(std::string_view name) const;
  std::uint32_t node_set(std::span<const nic::NodeId> nodes);

  struct Life {
    std::uint32_t number = 1;
    bool ends = false;  ///< some endpoint of the name has gone
  };

  /// The other subevent if it belongs to the same use of the memory; otherwise 0, which stands for the initial value.
  [[nodiscard]] trace::SubeventId of_same_use(trace::SubeventId other, std::uint64_t address) const {
    return other == 0 || !memory_.any() || trace_.subevents[other - 1].address == address ? other : 0;
  }

  bool with_activities_;
  trace::Trace trace_;
  RenewedMemory memory_;
  PostedOperations posted_;
  std::optional<VerbsRecorder> verbs_;
  /// Packets in flight or lost: index of their activity, by serial number.
  std::map<std::uint32_t, std::size_t> under_way_;
  std::vector<std::uint32_t> threads_;  ///< number in the trace, by thread of the machine
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> lanes_;
  std::vector<std::vector<trace::CallId>> open_;               ///< by thread of the trace
  std::map<std::string, std::uint32_t, std::less<>> objects_;  ///< by name, for its present incarnation
  std::map<std::string, Life, std::less<>> lives_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> node_sets_;
};

}  // namespace loco::hosts
