// For the report of a deadlock: who holds which lock, and on which nodes an object is gone, derived from library calls.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "loco_sim/loco/transport.hpp"
#include "nic_model/verbs.hpp"

namespace loco {

class HeldLocks {
 public:
  void call_begins(const CallInfo& call) {
    if (is(call, "release")) holders_.erase({std::string(call.object), call.argument});
  }
  /// The call has succeeded.
  void call_ends(const CallInfo& call, nic::ThreadId thread) {
    if (is(call, "acquire")) holders_[{std::string(call.object), call.argument}] = thread;
  }
  /// The holder of the lock that a thread in this call waits for.
  [[nodiscard]] std::optional<nic::ThreadId> waits_for(const CallInfo& call) const {
    if (!is(call, "acquire")) return std::nullopt;
    const auto found = holders_.find({std::string(call.object), call.argument});
    return found == holders_.end() ? std::nullopt : std::optional(found->second);
  }

  void object_begins(std::string_view name, NodeId node) {
    if (const auto found = gone_.find(name); found != gone_.end()) found->second.erase(node);
  }
  void object_ends(std::string_view name, NodeId node) { gone_[std::string(name)].insert(node); }
  [[nodiscard]] std::set<NodeId> gone(std::string_view name) const {
    const auto found = gone_.find(name);
    return found == gone_.end() ? std::set<NodeId>{} : found->second;
  }

 private:
  static bool is(const CallInfo& call, std::string_view method) {
    const auto& [library, called, object, work_id, argument, nodes, lane, element] = call;
    return called == method && library == "lock";
  }

  std::map<std::pair<std::string, std::uint64_t>, nic::ThreadId> holders_;
  std::map<std::string, std::set<NodeId>, std::less<>> gone_;
};

}  // namespace loco
