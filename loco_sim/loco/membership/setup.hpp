// Finds the endpoints of channels by name and joins them (LOCO paper, App. A.2).
//
// An endpoint sends a join to each peer (or only to expect_num::only): its name, its terms (a text that must be equal
// on both sides, such as who owns a variable) and the regions it expects of that peer. A peer that has no endpoint of
// that name yet keeps the join. Otherwise it compares terms and regions, and answers with a connect that carries the
// addresses of the regions, or with a refuse.
//
// A join cannot be withdrawn. It may be answered after its sender's endpoint is gone, by a later incarnation of the
// name or by a node that never met the sender. Joins and answers therefore carry the incarnation number, and a stale
// answer is dropped. A join alone decides nothing: its sender counts as joined once it has answered in turn, and a
// mismatch is an error once the sender of the refused join reports it. Matching endpoints need no further message.
//
// Names may be reused in a loop, and nodes may be one incarnation apart, because a barrier between them releases some
// nodes earlier. A join is kept for the next incarnation if the peer's previous endpoint has already answered this one
// (messages from one node arrive in order, so that endpoint is gone), or if it does not match and comes from a node
// that has used the name more often. An endpoint that goes first answers all joins that came before, so that the next
// incarnation inherits none of them.
//
// When an endpoint that could reach regions of a peer is gone, that peer is told (gone), so that it can reclaim the
// memory: departures.hpp.
//
// A refused endpoint reports the failure to all nodes (fail), including the one that refused, because any of them may
// be waiting for it.
//
// An endpoint that is stale towards a peer (connections.hpp) does not answer it: the peer's joins are for the next
// incarnation.
//
// This object outlives managers: the next one of its node continues with the same names, incarnations and departures.
//
// The manager's polling thread calls handle_next(); program threads construct endpoints and wait. Callbacks run under
// the lock, on the polling thread or on a thread that destroys an endpoint, and must not wait.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "loco_sim/loco/membership/endpoint_table.hpp"
#include "loco_sim/loco/membership/setup_message.hpp"
#include "loco_sim/loco/memory/departures.hpp"
#include "loco_sim/loco/operations/connections.hpp"
#include "loco_sim/loco/transport.hpp"

namespace loco {

class endpoint_state;

/// Interval at which a waiting thread looks again, about as long as a message is in flight.
inline constexpr std::int64_t kLookAgainPs = 1'000'000;

class setup {
 public:
  setup(Transport& transport, network_memory& memory, const connections& present);

  /// Throws setup_error if the name is malformed, or used by another endpoint of this node.
  void add(endpoint_state& endpoint);
  void remove(const endpoint_state& endpoint);
  /// The object of a removed endpoint is destroyed: see departures::destroyed.
  void destroyed(std::uint32_t life, std::vector<departures::piece> memory, std::vector<departures::use> uses);
  /// The calling thread's operations towards these nodes are done. Returns the incarnations of endpoints that are gone
  /// and whose last operations have completed since the last call.
  [[nodiscard]] std::vector<std::uint32_t> note_fenced(std::span<const NodeId> nodes);
  /// Sends the endpoint's join to the peers that it joins with.
  void join(endpoint_state& endpoint);

  /// Handles one message, if one has arrived. Errors are kept for wait_for_ready().
  bool handle_next();

  /// Waits until every endpoint of this node is connected as it expects. Throws setup_error on a mismatch.
  void wait_for_ready();
  /// Waits for one endpoint and its sub-channels.
  void wait_for_ready(const endpoint_state& endpoint);
  /// Waits likewise, or until `stop` is not 0, and then returns false.
  [[nodiscard]] bool wait_for_ready(const endpoint_state& endpoint, Flag stop);
  [[nodiscard]] bool ready(const endpoint_state& endpoint) const;
  /// Number of endpoints that take memory here: living ones, those known only by early joins, and those that are gone
  /// but not reclaimed.
  [[nodiscard]] std::size_t endpoints() const;
  /// The number of endpoints so far, which is the latest incarnation number.
  [[nodiscard]] std::uint32_t lives() const { return endpoints_.lives(); }

  /// Starts a manager: drops the failure that an earlier one ended with.
  void begin();
  /// Sets the handler of messages of Kind::again. It runs under the lock.
  using Again = std::function<void(NodeId from, const setup_message& message)>;
  void on_again(Again again) { again_ = std::move(again); }
  /// Lets a callback defer work that takes time until the lock is released, on the same thread.
  void when_free(std::function<void()> rest) { later_.push_back(std::move(rest)); }
  void send(NodeId to, const setup_message& message);
  /// Ignores joins from a node, because they concern endpoints of a connection that has ended.
  void ignore_joins(NodeId from);
  /// Accepts joins from the node again, and drops those kept so far, which concerned the old connection.
  void heed_joins(NodeId from);
  /// Connects the endpoint with a peer's after a rejoin. The peer's endpoint may be a later incarnation; its message
  /// has its regions.
  void meet(endpoint_state& endpoint, NodeId from, const setup_message& again);
  /// Waits until `ready` returns true; it is called under the lock after each message. Returns false at the time
  /// `until_ps`.
  [[nodiscard]] bool wait_for(const std::function<bool()>& ready, const std::string& what,
                              std::optional<std::int64_t> until_ps);

  /// Nobody joins while the caller holds this lock.
  [[nodiscard]] std::unique_lock<std::recursive_mutex> holding() const { return std::unique_lock(mutex_); }

 private:
  void handle(const ControlMessage& message);
  /// Handles all messages that have arrived, without waiting.
  void catch_up();
  void handle_join(NodeId from, const setup_message& message);
  /// Answers a join, or keeps it for the endpoint's next incarnation.
  void consider(endpoint_state& endpoint, NodeId from, const setup_message& join);
  [[nodiscard]] std::uint32_t use_of(std::string_view name) const;
  void answer(endpoint_state& endpoint, NodeId from, const setup_message& join, const std::string& problem);
  void handle_connect(NodeId from, const setup_message& message);
  void handle_refuse(const setup_message& message);
  void handle_gone(const setup_message& message);
  /// The endpoint that an answer is for; null if that incarnation is gone.
  [[nodiscard]] endpoint_state* answered(const setup_message& message) const;
  /// Call this after either of the two messages of joining; counts the peer if both have come.
  void note_met(endpoint_state& endpoint, NodeId peer);
  /// Keeps an error for wait_for_ready() and reports it to the other nodes.
  void fail(const std::string& channel, const std::string& reason);
  void keep(const std::string& reason);
  /// Runs `work` under the lock, then wakes waiting threads if it changed what they wait for.
  template <typename Work>
  void work_and_tell(Work work);
  void send_join(endpoint_state& endpoint, NodeId to);
  [[nodiscard]] bool wait_for_part(const endpoint_state& endpoint, std::optional<Flag> stop);
  /// Waits until `ready` returns true; it is called under the lock after each message. Returns false once `stop` is
  /// set, or at the time `until_ps`. `what` describes the wait in the report of a deadlock.
  template <typename Ready>
  bool wait(Ready ready, std::function<std::string()> what, std::optional<Flag> stop,
            std::optional<std::int64_t> until_ps);
  /// Throws operation_error if the endpoint waits for a node that has ended. Null: nothing to check. wait_for_joins()
  /// waits like wait(). It throws setup_error once joining has failed, and operation_error once a node that has to join
  /// has ended.
  void require_joiners(const endpoint_state* endpoint) const;
  template <typename Ready>
  bool wait_for_joins(Ready ready, const std::function<const endpoint_state*()>& missing, std::optional<Flag> stop);

  Transport& transport_;
  Flag changed_;  ///< counts changes, so that pause() wakes a waiting thread
  mutable std::recursive_mutex mutex_;
  endpoint_table endpoints_;
  std::map<std::string, std::map<NodeId, setup_message>> early_;  ///< joins for which there is no matching endpoint yet
  std::set<NodeId> ignored_;                                      ///< nodes whose joins are ignored
  const connections& present_;
  Again again_;
  std::vector<std::function<void()>> later_;              ///< work that callbacks have deferred
  std::unordered_map<std::size_t, std::uint32_t> ended_;  ///< by hash of a name: how many of its endpoints are gone
  std::string failure_;
  departures departures_;
  bool news_ = false;  ///< the current message made an endpoint ready, ran a callback, or failed
};

}  // namespace loco
