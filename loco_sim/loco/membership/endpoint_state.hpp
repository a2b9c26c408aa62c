// What a node knows about one of its endpoints and the peers' endpoints that join it: the name, the regions here and
// there, and how far joining with each peer has got.
//
//   joining with a peer        connected   answered
//   begun: our join is sent    no          no
//   we answered its join       no          yes         it knows our regions
//   it answered our join       yes         no          we know its regions
//   met                        yes         yes         callbacks are called, and the peer counts
//
// A channel owns one and gives it to `setup`. Only `setup`, under its lock, changes the state of peers. Only the
// channel's constructor adds regions, and it does so before it joins.
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
  /// Number of peers to wait for. They include every peer that alone holds what the others use, such as the home of an
  /// atomic_var; with 0 even that one is not waited for.
  std::uint32_t peers = 0;
  /// The only node that the endpoint joins, such as the writer for a reader of a ring. Empty: every node with an
  /// endpoint of that name.
  std::optional<NodeId> only = std::nullopt;
};

/// Returns the text without spare capacity, because n rings on n nodes hold very many of them.
[[nodiscard]] inline std::string without_spare(std::string text) {
  text.shrink_to_fit();
  return text;
}

class endpoint_state {
 public:
  using RegionIndex = std::size_t;
  using Callback = std::function<void(NodeId peer)>;

  /// `parent` is the full name of the enclosing channel, empty if there is none. Throws setup_error if `name` contains
  /// a separator.
  endpoint_state(Transport& transport, std::string_view parent, std::string_view name, expect_num expected);
  endpoint_state(const endpoint_state&) = delete;
  endpoint_state& operator=(const endpoint_state&) = delete;
  ~endpoint_state() = default;

  [[nodiscard]] const std::string& full_name() const { return name_; }
  [[nodiscard]] NodeId my_node() const { return transport_.my_node(); }
  [[nodiscard]] std::uint32_t num_nodes() const { return transport_.num_nodes(); }
  /// The endpoint's incarnation number, unique on its node; 0 until `setup` has assigned it.
  [[nodiscard]] std::uint32_t life() const { return life_; }
  void begin_life(std::uint32_t life) { life_ = life; }

  // Set by the channel before it joins.
  [[nodiscard]] const std::string& terms() const { return terms_; }
  void set_terms(std::string terms) { terms_ = without_spare(std::move(terms)); }
  void on_join(Callback callback) { callbacks().join = std::move(callback); }
  void on_connect(Callback callback) { callbacks().connect = std::move(callback); }
  void expect_peers(std::uint32_t peers) { expected_.peers = peers; }
  /// Throws setup_error if the endpoint expects more peers than it can have.
  void require_peers() const;
  /// Throws setup_error if there is no such node, such as "'ring': node 7 is its writer, there are 3 nodes".
  void require_node(NodeId node, std::string_view role) const;

  // Regions. Each function throws setup_error for a region that is made twice, or with two sizes.
  /// Declares a region of this node. provide() gives it its memory.
  RegionIndex new_region(std::string_view name, std::uint64_t size);
  void provide(RegionIndex index, Region region, bool on_device);
  RegionIndex expect_region(std::string_view name, std::uint64_t size);
  RegionIndex expect_region(NodeId peer, std::string_view name, std::uint64_t size);
  void shrink_to_fit() { regions_.shrink_to_fit(); }
  [[nodiscard]] const std::string& name_of(RegionIndex index) const { return regions_[index].name; }
  [[nodiscard]] Region local(RegionIndex index) const { return regions_[index].local.value(); }
  /// A node's copy, or nothing until its address is known. The caller fills in the connection.
  [[nodiscard]] std::optional<Region> copy_of(RegionIndex index, NodeId node) const;
  /// This node's memory that the endpoint occupies.
  [[nodiscard]] std::vector<departures::piece> pieces() const;

  // Peers.
  /// True if this endpoint joins with that node's.
  [[nodiscard]] bool joins(NodeId node) const {
    return node != my_node() && node < num_nodes() && expected_.only.value_or(node) == node;
  }
  /// Bounds of the peers that it joins with: from the first, up to but excluding the second.
  [[nodiscard]] std::pair<NodeId, NodeId> peers_joined() const {
    return expected_.only ? std::pair(*expected_.only, *expected_.only + 1) : std::pair(NodeId{0}, num_nodes());
  }
  /// Counts connections so far, so that a caller can notice new peers.
  [[nodiscard]] std::uint32_t connections() const { return connections_.load(std::memory_order_acquire); }
  /// What the endpoint still waits for, such as "'bar' has 2 peer(s); not joined by node(s) 1, 2".
  [[nodiscard]] std::string missing() const;
  /// A node that ended before it joined, if the endpoint can now never become ready.
  [[nodiscard]] std::optional<NodeId> lost_joiner() const;
  /// True if this endpoint is ready, whatever its sub-channels are.
  [[nodiscard]] bool connected() const {
    return met_ >= expected_.peers && (expected_.peers == 0 || met_all_providers());
  }

  // The rest is for `setup`, under its lock.
  [[nodiscard]] bool has_joined() const { return joined_; }
  void note_joined() { joined_ = true; }
  /// True if that peer has answered this endpoint's join.
  [[nodiscard]] bool answered_by(NodeId peer) const { return joins(peer) && peers_[place_of(peer)].connected; }
  /// The peers' endpoints that have sent the addresses of their regions.
  [[nodiscard]] std::vector<departures::reached> reached() const;
  [[nodiscard]] std::vector<region_request> requests_to(NodeId peer) const;
  /// Empty if this endpoint can provide what a join asks for, otherwise the reason why not.
  [[nodiscard]] std::string mismatch(NodeId peer, const setup_message& join) const;
  [[nodiscard]] std::vector<region_offer> offers(const std::vector<region_request>& requests) const;
  /// All regions of this endpoint.
  [[nodiscard]] std::vector<region_offer> offers() const;
  /// Number of peers' endpoints that can reach regions of this one and are not known to be gone.
  [[nodiscard]] std::uint32_t offered() const { return offered_; }
  void note_offered() { ++offered_; }
  void note_peer_gone() {
    if (offered_ != 0) --offered_;
  }
  /// Records the addresses of a peer's regions.
  void accept(NodeId from, const setup_message& connect);
  /// Records the regions of a peer's endpoint after a rejoin, perhaps those of a later incarnation; it knows ours.
  /// Returns whether the two had met before.
  [[nodiscard]] bool meet_again(NodeId from, const setup_message& again);
  /// Records that we have answered a peer's join. Returns false if that was recorded already.
  [[nodiscard]] bool note_answered(NodeId peer);
  /// Call this after either of the two messages of joining. If both have come, the peer counts. Returns whether a
  /// callback ran.
  [[nodiscard]] bool note_met(NodeId peer);
  /// Returns whether a callback ran.
  [[nodiscard]] bool tell_connected(NodeId peer);

 private:
  /// The address of a peer's copy of a region. The rest of its Region is the same on all nodes.
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
    bool device = false;                ///< the local region lies on the NIC
    std::optional<NodeId> only_from{};  ///< the only peer that must provide it
    std::uint64_t size = 0;
    std::vector<Copy> remote;  ///< by place_of(node)
  };
  /// What this endpoint knows about a peer's.
  struct Peer {
    bool connected = false;  ///< it has answered our join
    bool answered = false;   ///< we have answered its join
    std::uint32_t life = 0;  ///< incarnation number of its endpoint; 0: its regions are unknown
    [[nodiscard]] bool met() const { return connected && answered; }
  };
  /// Allocated only for the few endpoints that have callbacks.
  struct Callbacks {
    Callback join;
    Callback connect;
  };

  /// True if every peer that is the only provider of an expected region, such as the home of a lock, has met.
  [[nodiscard]] bool met_all_providers() const;
  /// Index of a peer in the vectors that hold one entry per peer.
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
  std::uint32_t met_ = 0;  ///< number of peers that have met this endpoint
  std::uint32_t offered_ = 0;
  std::atomic<std::uint32_t> connections_ = 0;
  bool joined_ = false;
  std::unique_ptr<Callbacks> callbacks_;
};

}  // namespace loco
