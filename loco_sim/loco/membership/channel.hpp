// A channel endpoint: a named object made of network memory regions and sub-channels, joined to the endpoints of the
// same name on other nodes (LOCO paper, Section 2.2 and App. A).
//
// Names: '/' separates a sub-channel from its parent ("bar/sst/ov0"), '.' a memory region from its channel
// ("bar/sst/ov0.val"). A derived class creates its regions and sub-channels in its constructor, declares what it
// expects of its peers, and calls join() last. Peers need not take part: expect_num says how many must. Endpoints are
// registered by address, so they are neither copied nor moved.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "loco_sim/loco/membership/endpoint_state.hpp"
#include "loco_sim/loco/memory/local_span.hpp"
#include "loco_sim/loco/operations/networked_node.hpp"
#include "loco_sim/loco/transport.hpp"

namespace loco {

class manager;

/// How many peers an object on `nodes` nodes waits for: as many as the program says, by default all.
[[nodiscard]] inline expect_num or_all(std::optional<expect_num> expected, std::uint32_t nodes) {
  return expected.value_or(expect_num{nodes - 1});
}

/// The terms of objects whose state lies on one node, such as "home is node 2".
[[nodiscard]] inline std::string home_text(NodeId home) { return "home is node " + std::to_string(home); }

class channel;

/// Where a channel is made: in a manager, or as a part of another channel. Both convert to it implicitly.
class within {
 public:
  within(networked_node& mgr) : manager_(mgr) {}
  within(channel& parent);

  [[nodiscard]] NodeId my_node() const;
  [[nodiscard]] std::uint32_t num_nodes() const;

 private:
  friend class channel;
  networked_node& manager_;
  channel* parent_ = nullptr;  // null: in the manager
};

class channel {
 public:
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;
  virtual ~channel();

  [[nodiscard]] const std::string& full_name() const { return endpoint_.full_name(); }
  [[nodiscard]] NodeId my_node() const { return transport_.my_node(); }
  [[nodiscard]] std::uint32_t num_nodes() const { return transport_.num_nodes(); }
  /// True if this node has given up `node` since the endpoint was made. It stays true after a rejoin, because the new
  /// connection does not serve this endpoint.
  [[nodiscard]] bool lost(NodeId node) const;
  /// True if this node has lost any node, or knows that some node has given up another.
  [[nodiscard]] bool any_lost() const;
  /// True if the channel and its sub-channels are connected to enough peers and have sent those peers what they need.
  /// The program may then use the channel, and may end without leaving a peer waiting.
  [[nodiscard]] bool ready() const;
  /// What the channel still waits for, such as "'bar' has 2 peer(s); not joined by node(s) 1, 2".
  [[nodiscard]] std::string missing() const { return endpoint_.missing(); }
  /// Waits until the channel is ready. Throws setup_error on a mismatch, and operation_error if a node that had to join
  /// has ended.
  void wait_for_ready();
  /// Waits like wait_for_ready(), or until `stop` is not 0, and then returns false. For threads that the channel owns
  /// and its destructor stops.
  [[nodiscard]] bool wait_for_ready(Flag stop);

 protected:
  using RegionIndex = endpoint_state::RegionIndex;
  using Callback = endpoint_state::Callback;

  channel(within where, std::string_view name, expect_num expected);

  /// This node as the library's own objects see it. Programs use the manager.
  [[nodiscard]] networked_node& here() const { return manager_; }
  [[nodiscard]] manager& mgr() const { return manager_.as_manager(); }
  [[nodiscard]] Transport& transport() const { return transport_; }

  enum class Where : std::uint8_t { host, device };
  /// Creates a local region that peers may ask for. A region on the device is accessed by NICs only.
  RegionIndex create_region(std::string_view name, std::uint64_t size, Where where = Where::host);
  /// Declares a region that every peer, or one named peer, must provide.
  RegionIndex expect_region(std::string_view name, std::uint64_t size) { return endpoint_.expect_region(name, size); }
  RegionIndex expect_region(NodeId peer, std::string_view name, std::uint64_t size) {
    return endpoint_.expect_region(peer, name, size);
  }
  /// Throws setup_error if there is no such node, such as "'ring': node 7 is its writer, there are 3 nodes".
  void require_node(NodeId node, std::string_view role) const { endpoint_.require_node(node, role); }
  /// Creates and expects a region: every node has a copy, and every node can reach every copy.
  RegionIndex symmetric_region(std::string_view name, std::uint64_t size, Where where = Where::host);

  [[nodiscard]] Region local(RegionIndex region) const { return endpoint_.local(region); }
  /// The local region as an array of words.
  template <typename T = std::uint64_t>
  [[nodiscard]] local_span<T> words_of(RegionIndex region) const {
    const Region mine = local(region);
    return {transport_, mine.base, round_up(mine.size, kWord) / kWord};
  }
  /// The region on another node. Throws ownership_error if that node has not connected it.
  [[nodiscard]] Region remote(RegionIndex region, NodeId node) const;
  [[nodiscard]] bool reaches(RegionIndex region, NodeId node) const;
  /// The peers that have connected the region so far, for a broadcast. Throws setup_error before the channel is ready,
  /// because peers may then be missing. More may come later if the channel does not wait for all.
  [[nodiscard]] std::vector<NodeId> all_peers(RegionIndex region) const;
  /// Counts connections so far, so that a caller can notice new peers.
  [[nodiscard]] std::uint32_t connections() const { return endpoint_.connections(); }

  /// Sets the text, besides the regions, that must be equal on all endpoints that join, such as "owned by node 2".
  void set_terms(std::string terms) { endpoint_.set_terms(std::move(terms)); }
  void on_join(Callback callback) { endpoint_.on_join(std::move(callback)); }
  void on_connect(Callback callback) { endpoint_.on_connect(std::move(callback)); }
  /// Sets the number of peers that must connect, if the constructor could not. Call it before join().
  void expect_peers(std::uint32_t peers) { endpoint_.expect_peers(peers); }
  /// The state of joining, for reconnection.
  [[nodiscard]] endpoint_state& joining() { return endpoint_; }

  /// Throws setup_error if the network lacks a capability that the channel needs, such as "'ring' needs ordered puts
  /// ...".
  void require_network(std::initializer_list<Capability> needs) const;
  /// One turn of a loop that waits for other nodes: pauses, or throws operation_error if one of `nodes` is lost.
  void pause_for(std::span<const NodeId> nodes) const;
  /// Throws the operation_error of a wait if one of `nodes` is lost.
  void require_answers(std::span<const NodeId> nodes) const;
  /// Announces this endpoint to the peers. The last act of a derived class's constructor.
  void join();
  /// Ends all callbacks. A derived class with callbacks calls it first in its destructor, because the members that they
  /// use are destroyed before this class's destructor runs. It may omit the call if nobody can join any more.
  void leave();

 private:
  friend class within;
  friend class shared_region;

  /// A node's copy of the region; nothing until its address is known.
  [[nodiscard]] std::optional<Region> copy_of(RegionIndex region, NodeId node) const;
  [[nodiscard]] Region zeroed_on_device(std::uint64_t size);

  networked_node& manager_;
  Transport& transport_;
  endpoint_state endpoint_;
};

}  // namespace loco
