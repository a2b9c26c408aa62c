// Finds the endpoints of channels by name and joins them (LOCO paper, App. A.2).
//
// An endpoint sends each peer (or the only one it is joined with: expect_num) a join: its name, its terms (what both
// must say alike, such as who owns a variable) and the regions it expects of that peer. A peer without an endpoint of
// that name keeps the join until it has one. A peer with one compares terms and regions and answers with a connect
// (where the regions are) or, when they do not fit, with a refuse.
//
// A join may be answered when the endpoint that sent it is gone, in a later life of its name and by nodes that had no
// part in this one: nobody takes it back. So joins and their answers name the life, and an answer to one that is over
// is dropped. Of a join alone nothing follows: its sender has joined once it has answered in its turn, and what is
// refused is an error of both once its sender says so. That costs no message where endpoints fit.
//
// A name in a loop: a node may be in the next life while another one is still in this one, for a barrier that separates
// them lets some go before others. A join from a peer whose former endpoint has answered this one (messages come in
// order: that one is gone) is kept for the next life, and so is one that does not fit from a node that has had the name
// more often. An endpoint that goes answers all joins that have come before: none of them is left to the next life.
//
// Once an endpoint that knew where regions of a peer were is gone, the peer hears of it (gone), for its memory's sake:
// departures.hpp.
//
// Who is refused tells all nodes (fail), the one that has refused among them: any of them may be waiting for it.
//
// An endpoint of before a peer was taken back (connections.hpp) does not answer that peer: its joins are for the next
// life.
//
// It outlives managers: the next one of its node goes on with the same names, lives and departures.
//
// The manager's service thread calls handle(); program threads construct endpoints and wait. Callbacks run under
// the lock, on the service thread or on one that destroys an endpoint, and must not wait for anything.
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

/// How often one looks again for what others do: about as long as what is under way takes.
inline constexpr std::int64_t kLookAgainPs = 1'000'000;

class setup {
 public:
  setup(Transport& transport, network_memory& memory, const connections& present);

  /// Throws setup_error when this node already has an endpoint of that name, or the name is malformed.
  void add(endpoint_state& endpoint);
  void remove(const endpoint_state& endpoint);
  /// An endpoint that has been removed is gone: see departures::destroyed.
  void destroyed(std::uint32_t life, std::vector<departures::piece> memory, std::vector<departures::use> uses);
  /// The calling thread's operations towards these nodes are done. The endpoints that are gone and whose operations are
  /// done since this was asked last.
  [[nodiscard]] std::vector<std::uint32_t> note_fenced(std::span<const NodeId> nodes);
  /// Sends the join messages of an endpoint to the peers that it is joined with.
  void join(endpoint_state& endpoint);

  /// Takes one message from a peer, if one has come, and acts on it; errors are kept for wait_for_ready().
  bool handle_next();

  /// Until every endpoint of this node is connected as it expects. Throws setup_error on a mismatch.
  void wait_for_ready();
  /// The same for one endpoint and its sub-channels.
  void wait_for_ready(const endpoint_state& endpoint);
  /// The same, or until `stop` is not 0: then false.
  [[nodiscard]] bool wait_for_ready(const endpoint_state& endpoint, Flag stop);
  [[nodiscard]] bool ready(const endpoint_state& endpoint) const;
  /// Endpoints of this node: those that live, those that others have and this one does not, and those that are gone and
  /// whose memory is still needed.
  [[nodiscard]] std::size_t endpoints() const;
  /// Endpoints that this node has had until now: the life of the latest one.
  [[nodiscard]] std::uint32_t lives() const { return endpoints_.lives(); }

  /// A manager begins: what went wrong under the one before is over.
  void begin();
  /// Calls that with each message of Kind::again, under the lock.
  using Again = std::function<void(NodeId from, const setup_message& message)>;
  void on_again(Again again) { again_ = std::move(again); }
  /// For callbacks: what is to be done once the lock is free, on the same thread, since it takes time there.
  void when_free(std::function<void()> rest) { later_.push_back(std::move(rest)); }
  void send(NodeId to, const setup_message& message);
  /// Joins of a node are about endpoints that will not reach this one, until told otherwise.
  void ignore_joins(NodeId from);
  /// And so were those that have come until now.
  void heed_joins(NodeId from);
  /// A peer's endpoint, perhaps another one than before, has these regions and knows those of this node's endpoint.
  void meet(endpoint_state& endpoint, NodeId from, const setup_message& again);
  /// Until `ready`, asked under the lock after each message, says yes; or, false, until that time of the clock.
  [[nodiscard]] bool wait_for(const std::function<bool()>& ready, const std::string& what,
                              std::optional<std::int64_t> until_ps);

  /// As long as it is held nobody joins.
  [[nodiscard]] std::unique_lock<std::recursive_mutex> holding() const { return std::unique_lock(mutex_); }

 private:
  void handle(const ControlMessage& message);
  /// Acts on all that has come, on a thread that waits for nothing.
  void catch_up();
  void handle_join(NodeId from, const setup_message& message);
  /// Answers a join, or keeps it for the endpoint's next life.
  void consider(endpoint_state& endpoint, NodeId from, const setup_message& join);
  [[nodiscard]] std::uint32_t use_of(std::string_view name) const;
  void answer(endpoint_state& endpoint, NodeId from, const setup_message& join, const std::string& problem);
  void handle_connect(NodeId from, const setup_message& message);
  void handle_refuse(const setup_message& message);
  void handle_gone(const setup_message& message);
  /// The endpoint that an answer is for; null when its life is over.
  [[nodiscard]] endpoint_state* answered(const setup_message& message) const;
  /// One of the two messages that a peer's joining takes has come: have both?
  void note_met(endpoint_state& endpoint, NodeId peer);
  /// Keeps an error for wait_for_ready(), and tells the others of it.
  void fail(const std::string& channel, const std::string& reason);
  void keep(const std::string& reason);
  /// Under the lock; then lets waiting threads look again when there is news.
  template <typename Work>
  void work_and_tell(Work work);
  void send_join(endpoint_state& endpoint, NodeId to);
  [[nodiscard]] bool wait_for_part(const endpoint_state& endpoint, std::optional<Flag> stop);
  /// Until `ready`, asked under the lock after each message, says yes. False when the wait has ended because of `stop`
  /// or at that time of the clock. `what`: what is waited for, for who asks why nothing goes on.
  template <typename Ready>
  bool wait(Ready ready, std::function<std::string()> what, std::optional<Flag> stop,
            std::optional<std::int64_t> until_ps);
  /// The same for endpoints: throws setup_error once joining has failed, operation_error once a node has ended that has
  /// to join.
  /// Throws operation_error when an endpoint, if there is one, waits for a node that has ended.
  void require_joiners(const endpoint_state* endpoint) const;
  template <typename Ready>
  bool wait_for_joins(Ready ready, const std::function<const endpoint_state*()>& missing, std::optional<Flag> stop);

  Transport& transport_;
  Flag changed_;  ///< counts what a waiting thread may wait for, so that it can watch
  mutable std::recursive_mutex mutex_;
  endpoint_table endpoints_;
  std::map<std::string, std::map<NodeId, setup_message>> early_;  ///< joins without an endpoint here yet
  std::set<NodeId> ignored_;                                      ///< whose joins are
  const connections& present_;
  Again again_;
  std::vector<std::function<void()>> later_;              ///< what callbacks have left to do
  std::unordered_map<std::size_t, std::uint32_t> ended_;  ///< by a name's hash: its endpoints that are gone
  std::string failure_;
  departures departures_;
  bool news_ = false;  ///< the message being handled has made an endpoint ready, called back, or failed
};

}  // namespace loco
