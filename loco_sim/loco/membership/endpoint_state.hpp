// What a node knows of one of its endpoints and of those that join it: the name, the regions here and on the peers, how
// far the joining with each peer has come.
//
//   joining with a peer     connected   answered
//   begun (a join sent)     no          no
//   the peer's join came    no          yes         it was told where its regions are
//   the peer has answered   yes         no          it has said where its own regions are
//   met                     yes         yes         callbacks are called, the peer counts
//
// A channel has one and gives it to `setup`, which alone changes what it says of peers, under its lock. The channel's
// constructor alone adds regions, before it joins.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "loco_sim/loco/membership/setup_message.hpp"
#include "loco_sim/loco/memory/departures.hpp"
#include "loco_sim/loco/transport.hpp"

namespace loco {

/// How many peers must connect before a channel is ready.
struct expect_num {
  /// Among them each one that alone has what the others use, such as the home of an atomic_var; 0: not even that.
  std::uint32_t peers = 0;
  /// The one node that the endpoint is joined with, such as the writer for a reader of a ring; else it is joined with
  /// every node that has an endpoint of the name.
  std::optional<NodeId> only = std::nullopt;
};

/// A text in as much memory as it needs: of rings on many nodes there are many.
[[nodiscard]] inline std::string without_spare(std::string text) {
  text.shrink_to_fit();
  return text;
}

class endpoint_state {
 public:
  using RegionIndex = std::size_t;
  using Callback = std::function<void(NodeId peer)>;

  /// `parent`: the full name of the channel that this is a part of; empty: none. Throws setup_error for a name with
  /// separators in it.
  endpoint_state(Transport& transport, std::string_view parent, std::string_view name, expect_num expected);
  endpoint_state(const endpoint_state&) = delete;
  endpoint_state& operator=(const endpoint_state&) = delete;
  ~endpoint_state() = default;

  [[nodiscard]] const std::string& full_name() const { return name_; }
  [[nodiscard]] NodeId my_node() const { return transport_.my_node(); }
  [[nodiscard]] std::uint32_t num_nodes() const { return transport_.num_nodes(); }
  /// Its number among the endpoints that this node has had; 0 until `setup` has it.
  [[nodiscard]] std::uint32_t life() const { return life_; }
  void begin_life(std::uint32_t life) { life_ = life; }

  // What the channel says of it, before it joins.
  [[nodiscard]] const std::string& terms() const { return terms_; }
  void set_terms(std::string terms) { terms_ = without_spare(std::move(terms)); }
  void on_join(Callback callback) { callbacks().join = std::move(callback); }
  void on_connect(Callback callback) { callbacks().connect = std::move(callback); }
  void expect_peers(std::uint32_t peers) { expected_.peers = peers; }
  /// Throws setup_error when it expects more peers than it can have.
  void require_peers() const;
  /// Throws setup_error when there is no such node: "'ring': node 7 is its writer, there are 3 nodes".
  void require_node(NodeId node, std::string_view role) const;

  // Regions. Each throws setup_error for one that is made twice, or in two sizes.
  /// One that this node is to provide; until provide() it has no place.
  RegionIndex new_region(std::string_view name, std::uint64_t size);
  void provide(RegionIndex index, Region region, bool on_device);
  RegionIndex expect_region(std::string_view name, std::uint64_t size);
  RegionIndex expect_region(NodeId peer, std::string_view name, std::uint64_t size);
  void shrink_to_fit() { regions_.shrink_to_fit(); }
  [[nodiscard]] const std::string& name_of(RegionIndex index) const { return regions_[index].name; }
  [[nodiscard]] Region local(RegionIndex index) const { return regions_[index].local.value(); }
  /// A node's copy, once it is known; over which connection it is reached the caller says.
  [[nodiscard]] std::optional<Region> copy_of(RegionIndex index, NodeId node) const;
  /// What it has of this node's memory.
  [[nodiscard]] std::vector<departures::piece> pieces() const;

  // Peers.
  /// Is this endpoint joined with that node's?
  [[nodiscard]] bool joins(NodeId node) const {
    return node != my_node() && node < num_nodes() && expected_.only.value_or(node) == node;
  }
  /// All that it is joined with are from the first of these on, before the second.
  [[nodiscard]] std::pair<NodeId, NodeId> peers_joined() const {
    return expected_.only ? std::pair(*expected_.only, *expected_.only + 1) : std::pair(NodeId{0}, num_nodes());
  }
  /// How many have connected any region: another number, other peers.
  [[nodiscard]] std::uint32_t connections() const { return connections_.load(std::memory_order_acquire); }
  /// What it takes until it is ready: "'bar' has 2 peer(s); not joined by node(s) 1, 2".
  [[nodiscard]] std::string missing() const;
  /// A node that has ended without having joined, if that keeps this endpoint from ever being ready.
  [[nodiscard]] std::optional<NodeId> lost_joiner() const;
  /// Ready, sub-channels apart.
  [[nodiscard]] bool connected() const {
    return met_ >= expected_.peers && (expected_.peers == 0 || met_all_providers());
  }

  // For `setup`, under its lock.
  [[nodiscard]] bool has_joined() const { return joined_; }
  void note_joined() { joined_ = true; }
  /// Has that peer answered this endpoint's join?
  [[nodiscard]] bool answered_by(NodeId peer) const { return joins(peer) && peers_[place_of(peer)].connected; }
  /// The peers' endpoints that have said where regions are.
  [[nodiscard]] std::vector<departures::reached> reached() const;
  [[nodiscard]] std::vector<region_request> requests_to(NodeId peer) const;
  /// Empty when this endpoint provides what a join asks for, else what is wrong.
  [[nodiscard]] std::string mismatch(NodeId peer, const setup_message& join) const;
  [[nodiscard]] std::vector<region_offer> offers(const std::vector<region_request>& requests) const;
  /// All of its regions.
  [[nodiscard]] std::vector<region_offer> offers() const;
  /// How many endpoints of peers know where regions of this one are, and may not be gone.
  [[nodiscard]] std::uint32_t offered() const { return offered_; }
  void note_offered() { ++offered_; }
  void note_peer_gone() {
    if (offered_ != 0) --offered_;
  }
  /// A peer has said where its regions are.
  void accept(NodeId from, const setup_message& connect);
  /// A peer's endpoint, perhaps another one than before, has these regions and knows those of this one. Had it met?
  [[nodiscard]] bool meet_again(NodeId from, const setup_message& again);
  /// A peer's join has been answered. Is that news?
  [[nodiscard]] bool note_answered(NodeId peer);
  /// One of the two messages that a peer's joining takes has come: if both have, the peer counts. Has it called back?
  [[nodiscard]] bool note_met(NodeId peer);
  /// Has it called back?
  [[nodiscard]] bool tell_connected(NodeId peer);

 private:
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

  /// Those of which a region is expected that no other peer provides, such as the home of a lock.
  [[nodiscard]] bool met_all_providers() const;
  /// Where what is kept by peer has a node that this endpoint is joined with.
  [[nodiscard]] std::size_t place_of(NodeId node) const { return expected_.only ? 0 : node; }
  [[nodiscard]] std::size_t places() const { return expected_.only ? 1 : num_nodes(); }
  [[nodiscard]] Peer& peer(NodeId node) { return peers_[place_of(node)]; }
  [[nodiscard]] Callbacks& callbacks() {
    if (!callbacks_) callbacks_ = std::make_unique<Callbacks>();
    return *callbacks_;
  }
  RegionIndex region_named(std::string_view name, std::uint64_t size);

  Transport& transport_;
  std::string name_;
  expect_num expected_;
  std::string terms_;
  std::vector<NamedRegion> regions_;
  std::vector<Peer> peers_;  ///< by place_of(node)
  std::uint32_t life_ = 0;
  std::uint32_t met_ = 0;  ///< peers
  std::uint32_t offered_ = 0;
  std::atomic<std::uint32_t> connections_ = 0;
  bool joined_ = false;
  std::unique_ptr<Callbacks> callbacks_;
};

}  // namespace loco
