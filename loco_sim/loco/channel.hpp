// A channel endpoint: named, made of network memory regions and sub-channels, joined to the endpoints of the same
// name on other nodes (LOCO paper, Section 2.2 and App. A).
//
// Names: '/' separates a sub-channel from its parent ("bar/sst/ov0"), '.' a memory region from its channel
// ("bar/sst/ov0.val"). A derived class creates its regions and sub-channels in its constructor, says what it
// expects of its peers, and calls join() last. Peers need not take part: expect_num says how many must.
// Endpoints are found by address and therefore neither copied nor moved.
#pragma once

#include <atomic>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "loco_sim/loco/departures.hpp"
#include "loco_sim/loco/local_span.hpp"
#include "loco_sim/loco/setup_message.hpp"
#include "loco_sim/loco/transport.hpp"

namespace loco {

class manager;

/// How many peers must connect before a channel is ready.
struct expect_num {
  /// Among them each one that alone has what the others use, such as the home of an atomic_var; 0: not even that.
  std::uint32_t peers = 0;
  /// The one node that the endpoint is joined with, such as the writer for a reader of a ring; else it is joined with
  /// every node that has an endpoint of the name.
  std::optional<NodeId> only = std::nullopt;
};

/// What an object of `nodes` nodes waits for: as many peers as the program says, or all.
[[nodiscard]] inline expect_num or_all(std::optional<expect_num> expected, std::uint32_t nodes) {
  return expected.value_or(expect_num{nodes - 1});
}

/// The terms of objects whose state is on one node: "home is node 2".
[[nodiscard]] inline std::string home_text(NodeId home) { return "home is node " + std::to_string(home); }

/// A text in as much memory as it needs: of rings on many nodes there are many.
[[nodiscard]] inline std::string without_spare(std::string text) {
  text.shrink_to_fit();
  return text;
}

class channel;

/// Where a channel is made: in a manager, or as a part of another channel. Made of either without being named.
class within {
 public:
  within(manager& mgr) : manager_(mgr) {}
  within(channel& parent);

  [[nodiscard]] std::uint32_t num_nodes() const;

 private:
  friend class channel;
  manager& manager_;
  channel* parent_ = nullptr;  // null: in the manager itself
};

class channel {
 public:
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;
  virtual ~channel();

  [[nodiscard]] const std::string& full_name() const { return name_; }
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
  [[nodiscard]] std::string missing() const;
  /// Until it is ready; throws setup_error on a mismatch.
  void wait_for_ready();
  /// The same, or until `stop` is not 0: then false. For threads of the channel's own, which its destructor stops.
  [[nodiscard]] bool wait_for_ready(Flag stop);

 protected:
  using RegionIndex = std::size_t;
  using Callback = std::function<void(NodeId peer)>;

  channel(within where, std::string_view name, expect_num expected);

  [[nodiscard]] manager& mgr() const { return manager_; }
  [[nodiscard]] Transport& transport() const { return transport_; }

  enum class Where : std::uint8_t { host, device };
  /// A local region that peers may ask for; on the device, for NICs alone.
  RegionIndex create_region(std::string_view name, std::uint64_t size, Where where = Where::host);
  /// A region that each peer (or one peer) must provide.
  RegionIndex expect_region(std::string_view name, std::uint64_t size);
  RegionIndex expect_region(NodeId peer, std::string_view name, std::uint64_t size);
  /// Throws setup_error when there is no such node: "'ring': node 7 is its writer, there are 3 nodes".
  void require_node(NodeId node, std::string_view role) const;
  /// Both: one copy on every node, every node may reach every copy.
  RegionIndex symmetric_region(std::string_view name, std::uint64_t size, Where where = Where::host);

  [[nodiscard]] Region local(RegionIndex region) const;
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
  [[nodiscard]] std::uint32_t connections() const { return connections_.load(std::memory_order_acquire); }

  /// What this endpoint and those that join it must say alike besides the regions, in words: "owned by node 2".
  void set_terms(std::string terms) { terms_ = without_spare(std::move(terms)); }
  void on_join(Callback callback) { callbacks().join = std::move(callback); }
  void on_connect(Callback callback) { callbacks().connect = std::move(callback); }
  /// Before join(): how many peers must connect, where the constructor could not say.
  void expect_peers(std::uint32_t peers) { expected_.peers = peers; }

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
  friend class endpoint_table;
  friend class reconnection;
  friend class setup;
  friend class shared_region;

  /// Where a peer's copy of a region is; what else a Region says is known.
  struct Copy {
    Address base = 0;
    std::uint32_t rkey = 0;
    bool known = false;
    bool operator==(const Copy&) const = default;
  };
  struct NamedRegion {
    std::string name;
    std::optional<Region> local{};
    bool expected = false;
    bool device = false;                ///< the local one is
    std::optional<NodeId> only_from{};  ///< expected of this peer only
    std::uint64_t size = 0;
    std::vector<Copy> remote;  ///< by place_of(node)
  };
  /// What this endpoint knows of a peer's.
  struct Peer {
    bool connected = false;  ///< it has answered this endpoint's join
    bool answered = false;   ///< its join
    std::uint32_t life = 0;  ///< of its endpoint, if that has said where regions are
    [[nodiscard]] bool met() const { return connected && answered; }
  };
  /// Few endpoints have any.
  struct Callbacks {
    Callback join;
    Callback connect;
  };

  /// Last act of the constructors.
  void enter();
  /// Ready, sub-channels apart.
  [[nodiscard]] bool connected() const {
    return met_ >= expected_.peers && (expected_.peers == 0 || met_all_providers());
  }
  /// Those of which a region is expected that no other peer provides, such as the home of a lock.
  [[nodiscard]] bool met_all_providers() const;
  /// Throws setup_error when the endpoint expects more peers than it can have.
  void require_peers() const;
  /// Is this endpoint joined with that node's?
  [[nodiscard]] bool joins(NodeId node) const {
    return node != my_node() && node < num_nodes() && expected_.only.value_or(node) == node;
  }
  /// All that it is joined with are from the first of these on, before the second.
  [[nodiscard]] std::pair<NodeId, NodeId> peers_joined() const {
    return expected_.only ? std::pair(*expected_.only, *expected_.only + 1) : std::pair(NodeId{0}, num_nodes());
  }
  /// Where what is kept by peer has a node that this endpoint is joined with.
  [[nodiscard]] std::size_t place_of(NodeId node) const { return expected_.only ? 0 : node; }
  [[nodiscard]] std::size_t places() const { return expected_.only ? 1 : num_nodes(); }
  [[nodiscard]] Peer& peer(NodeId node) { return peers_[place_of(node)]; }
  [[nodiscard]] Callbacks& callbacks() {
    if (!callbacks_) callbacks_ = std::make_unique<Callbacks>();
    return *callbacks_;
  }
  /// A node's copy, once it is known.
  [[nodiscard]] std::optional<Region> copy_of(const NamedRegion& region, NodeId node) const;
  RegionIndex region_named(std::string_view name, std::uint64_t size);
  [[nodiscard]] Region zeroed_on_device(std::uint64_t size);
  [[nodiscard]] std::vector<region_request> requests_to(NodeId peer) const;
  /// Empty when this endpoint provides what is asked for, else what is wrong.
  [[nodiscard]] std::string mismatch(NodeId peer, const setup_message& join) const;
  [[nodiscard]] std::vector<region_offer> offers(const std::vector<region_request>& requests) const;
  /// All of its regions.
  [[nodiscard]] std::vector<region_offer> offers() const;
  void accept(NodeId from, const setup_message& connect);
  /// What it has of this node's memory.
  [[nodiscard]] std::vector<departures::piece> pieces() const;

  manager& manager_;
  Transport& transport_;
  std::string name_;
  expect_num expected_;
  std::string terms_;
  std::vector<NamedRegion> regions_;
  std::vector<Peer> peers_;    ///< by place_of(node)
  std::uint32_t life_ = 0;     ///< its number among the endpoints that this node has had
  std::uint32_t met_ = 0;      ///< peers
  std::uint32_t offered_ = 0;  ///< endpoints of peers that know where regions of this one are, and may not be gone
  std::atomic<std::uint32_t> connections_ = 0;
  bool joined_ = false;
  std::unique_ptr<Callbacks> callbacks_;
};

}  // namespace loco
