// Records posted operations, so that a trace can name, at the end of a run, those of their subevents that had not
// begun: a put whose packets are lost has a remote write in every complete execution of the models (LOCO/Mowgli paper,
// Appendix G.2: stamps of Put).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "nic_model/verbs.hpp"
#include "trace/trace.hpp"

namespace loco::hosts {

/// The method of the memory models for a work request; a SEND is a put to the receive buffer.
[[nodiscard]] trace::Method method_of(nic::Opcode opcode);
/// The value that an atomic adds or would write; 0 for all other operations.
[[nodiscard]] std::uint64_t argument_of(const nic::Wqe& wqe);

/// A one-sided operation as it was posted, or a remote fence.
struct PostedOperation {
  trace::Method method = trace::Method::put;
  nic::NodeId peer = 0;
  std::uint32_t connection = 0;  ///< number of the connection with that node
  std::uint64_t local = 0;       ///< first byte on the thread's node
  std::uint64_t remote = 0;      ///< first byte, on `peer`
  std::uint32_t bytes = 8;       ///< length on either side; 8 for remote atomics
  std::uint64_t compare = 0;     ///< remote_cas: the value to compare with
};

/// A connection with a node.
struct Link {
  nic::NodeId peer = 0;
  std::uint32_t connection = 0;
  friend auto operator<=>(const Link&, const Link&) = default;
};

/// Contains no two-sided messages, whose target is unknown before they arrive.
class PostedOperations {
 public:
  void add(trace::CallId call, const PostedOperation& operation) { posted_.emplace_back(call, operation); }
  /// Operations of a thread (by its number in the trace) over a link fail; this is known from `seq` on.
  void failed(std::uint32_t thread, Link over, trace::Seq seq) { failed_.try_emplace({thread, over}, seq); }
  /// Appends the subevents that have not begun, in posting order. Of a message these are the words that something in
  /// the trace accesses, and the first word for all others (docs/trace-format.md). Asks `goes_on` now and then; once it
  /// returns false, the rest is left out and this returns false.
  bool record_unbegun(trace::Trace& trace, const std::function<bool()>& goes_on) const;

 private:
  std::vector<std::pair<trace::CallId, PostedOperation>> posted_;
  std::map<std::pair<std::uint32_t, Link>, trace::Seq> failed_;
};

}  // namespace loco::hosts
