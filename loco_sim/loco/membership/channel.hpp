// A channel endpoint: named, made of network memory regions and sub-channels, joined to the endpoints of the same
// name on other nodes (LOCO paper, Section 2.2 and App. A).
//
// Names: '/' separates a sub-channel from its parent ("bar/sst/ov0"), '.' a memory region from its channel
// ("bar/sst/ov0.val"). A derived class creates its regions and sub-channels in its constructor, says what it
// expects of its peers, and calls join() last. Peers need not take part: expect_num says how many must.
// Endpoints are found by address and therefore neither copied nor moved.
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

/// What an object of `nodes` nodes waits for: as many peers as the program says, or all.
[[nodiscard]] inline expect_num or_all(std::optional<expect_num> expected, std::uint32_t nodes) {
  return expected.value_or(expect_num{nodes - 1});
}

/// The terms of objects whose state is on one node: "home is node 2".
[[nodiscard]] inline std::string home_text(NodeId home) { return "home is node " + std::to_string(home); }

class channel;

/// Where a channel is made: in a manager, or as a part of another channel. Made of either without being named.
class within {
 public:
  within(networked_node& mgr) : manager_(mgr) {}
  within(channel& parent);

  [[nodiscard]] std::uint32_t num_nodes() const;

 private:
  friend class channel;
  networked_node& manager_;
  channel* parent_ = nullptr;  // null: in the manager itself
};

class channel {
 public:
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;
  virtual ~channel();

  [[nodiscard]] const std::string& full_name() const { return endpoint_.full_name(); }
  [[nodiscard]] NodeId my_node() const { return transport_.my_node(); }
  [[nodiscard]] std::uint32_t num_nodes() const { return transport_.num_nodes(); }
  /// Has this node given that one up since the endpoint was made? Also if it has taken it back since: over a new
  /// connection, which is not this endpoint's.
  [[nodiscard]] bool lost(NodeId node) const;
  /// Is any node lost, or given up by some other one?
  [[nodiscard]] bool any_lost() const;
  /// Enough peers are connected, and have been told what they need to be: the program may use the channel, and may
  /// end without leaving a peer waiting. So are its sub-channels.
  [[nodiscard]] bool ready() const;
  /// What it takes until it is ready: "'bar' has 2 peer(s); not joined by node(s) 1, 2".
  [[nodiscard]] std::string missing() const { return endpoint_.missing(); }
  /// Until it is ready; throws setup_error on a mismatch, operation_error when a node has ended that would have to
  /// join.
  void wait_for_ready();
  /// The same, or until `stop` is not 0: then false. For threads of the channel's own, which its destructor stops.
  [[nodiscard]] bool wait_for_ready(Flag stop);

 protected:
  using RegionIndex = endpoint_state::RegionIndex;
  using Callback = endpoint_state::Callback;

  channel(within where, std::string_view name, expect_num expected);

  /// This node, for the library's own objects; programs have the manager.
  [[nodiscard]] networked_node& here() const { return manager_; }
  [[nodiscard]] manager& mgr() const { return manager_.as_manager(); }
  [[nodiscard]] Transport& transport() const { return transport_; }

  enum class Where : std::uint8_t { host, device };
  /// A local region that peers may ask for; on the device, for NICs alone.
  RegionIndex create_region(std::string_view name, std::uint64_t size, Where where = Where::host);
  /// A region that each peer (or one peer) must provide.
  RegionIndex expect_region(std::string_view name, std::uint64_t size) { return endpoint_.expect_region(name, size); }
  RegionIndex expect_region(NodeId peer, std::string_view name, std::uint64_t size) {
    return endpoint_.expect_region(peer, name, size);
  }
  /// Throws setup_error when there is no such node: "'ring': node 7 is its writer, there are 3 nodes".
  void require_node(NodeId node, std::string_view role) const { endpoint_.require_node(node, role); }
  /// Both: one copy on every node, every node may reach every copy.
  RegionIndex symmetric_region(std::string_view name, std::uint64_t size, Where where = Where::host);

  [[nodiscard]] Region local(RegionIndex region) const { return endpoint_.local(region); }
  /// The local region as an array of words.
  template <typename T = std::uint64_t>
  [[nodiscard]] local_span<T> words_of(RegionIndex region) const {
    const Region mine = local(region);
    return {transport_, mine.base, round_up(mine.size, kWord) / kWord};
  }
  /// Throws ownership_error when the node has not connected that region.
  [[nodiscard]] Region remote(RegionIndex region, NodeId node) const;
  [[nodiscard]] bool reaches(RegionIndex region, NodeId node) const;
  /// Those that have connected the region until now, to be written to at once; throws setup_error before the channel is
  /// ready, when some may still be missing. More may come, where the channel does not wait for all.
  [[nodiscard]] std::vector<NodeId> all_peers(RegionIndex region) const;
  /// How many have connected any region: another number, other peers.
  [[nodiscard]] std::uint32_t connections() const { return endpoint_.connections(); }

  /// What this endpoint and those that join it must say alike besides the regions, in words: "owned by node 2".
  void set_terms(std::string terms) { endpoint_.set_terms(std::move(terms)); }
  void on_join(Callback callback) { endpoint_.on_join(std::move(callback)); }
  void on_connect(Callback callback) { endpoint_.on_connect(std::move(callback)); }
  /// Before join(): how many peers must connect, where the constructor could not say.
  void expect_peers(std::uint32_t peers) { endpoint_.expect_peers(peers); }
  /// How far it is joined, for who reconnects.
  [[nodiscard]] endpoint_state& joining() { return endpoint_; }

  /// Throws setup_error when the network lacks what the channel is built on: "'ring' needs ordered puts ...".
  void require_network(std::initializer_list<Capability> needs) const;
  /// One turn of waiting for something that others do: a pause, or operation_error when one of `nodes` is lost.
  void pause_for(std::span<const NodeId> nodes) const;
  /// Throws the operation_error of a wait for one of `nodes` that is lost.
  void require_answers(std::span<const NodeId> nodes) const;
  /// Tells the peers that this endpoint exists. Last act of a derived class's constructor.
  void join();
  /// No callback comes after. First act of a derived class's destructor when it has callbacks, unless nobody can join
  /// any more: what they use goes before this class's destructor.
  void leave();

 private:
  friend class within;
  friend class shared_region;

  /// A node's copy, once it is known.
  [[nodiscard]] std::optional<Region> copy_of(RegionIndex region, NodeId node) const;
  [[nodiscard]] Region zeroed_on_device(std::uint64_t size);

  networked_node& manager_;
  Transport& transport_;
  endpoint_state endpoint_;
};

}  // namespace loco
