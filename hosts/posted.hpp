// What has been posted, so that a trace can say at the end of a run what of it had not begun: a put whose packets are
// lost has a remote write in every complete execution of the models (LOCO/Mowgli paper, Appendix G.2: stamps of Put).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "nic_model/verbs.hpp"
#include "trace/trace.hpp"

namespace loco::hosts {

/// What the memory models call a work request; a SEND is a put to where it arrives.
[[nodiscard]] trace::Method method_of(nic::Opcode opcode);
/// What an atomic adds, or would write; 0 of all others.
[[nodiscard]] std::uint64_t argument_of(const nic::Wqe& wqe);

/// A one-sided operation as it was posted, or a remote fence.
struct PostedOperation {
  trace::Method method = trace::Method::put;
  nic::NodeId peer = 0;
  std::uint32_t connection = 0;  ///< which of those with that node
  std::uint64_t local = 0;       ///< first byte, on the node of the thread
  std::uint64_t remote = 0;      ///< first byte, on `peer`
  std::uint32_t bytes = 8;       ///< of either; remote atomics: 8
  std::uint64_t compare = 0;     ///< remote_cas: what it compares with
};

/// A node, and which of the connections with it.
struct Link {
  nic::NodeId peer = 0;
  std::uint32_t connection = 0;
  friend auto operator<=>(const Link&, const Link&) = default;
};

/// Two-sided messages are not among them: where one goes is not known before it arrives.
class PostedOperations {
 public:
  void add(trace::CallId call, const PostedOperation& operation) { posted_.emplace_back(call, operation); }
  /// Operations of a thread (by its number in the trace) over a link fail, which is known from `seq` on.
  void failed(std::uint32_t thread, Link over, trace::Seq seq) { failed_.try_emplace({thread, over}, seq); }
  /// Appends the subevents that have not begun, in the order in which their operations were posted: of a message the
  /// words that something in the trace accesses, and its first one for all others (docs/trace-format.md). `goes_on` is
  /// asked now and then; once it says no, the rest is left out and this returns false.
  bool record_unbegun(trace::Trace& trace, const std::function<bool()>& goes_on) const;

 private:
  std::vector<std::pair<trace::CallId, PostedOperation>> posted_;
  std::map<std::pair<std::uint32_t, Link>, trace::Seq> failed_;
};

}  // namespace loco::hosts
