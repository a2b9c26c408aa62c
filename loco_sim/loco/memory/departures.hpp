// Deferred reclamation: when the memory of an endpoint that is gone may be used again.
//
// The regions of a destroyed endpoint may still be written to, by a peer whose own endpoint lives on and by operations
// that are still in flight. They are reclaimed once
//   - each peer that knows their addresses has said that its endpoint is gone and has nothing in flight to them, and
//   - this node's own operations through the endpoint, which read and write these regions too, are done.
//
//   state      meaning                                         ends when
//   left       the endpoint takes part in nothing any more     its object is destroyed
//   destroyed  no code of this node uses it any more           this node's operations through it are done
//   told       its peers know that nothing writes to theirs    they have said the same, and all stores are in memory
//   over       its memory has been given back                  -
//
// An operation is done once its thread has since fenced the target node (global_fence(), hence also a barrier), or once
// the thread has ended and the transport reports its operations as done (OneSidedVerbs::settled).
//
// No message asks for anything, and a departing endpoint sends none: peers are told at a later fence, or when another
// endpoint is made. Memory is never reused if a stopped peer, or a thread that neither fences nor ends, may still reach
// it. The lock of `setup` guards everything but any().
//
// A `life` is the incarnation number of an endpoint on its node.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "loco_sim/loco/memory/network_memory.hpp"
#include "loco_sim/loco/transport.hpp"

namespace loco {

class departures {
 public:
  /// Operations of one of this node's threads, posted towards one node.
  struct use {
    std::uint32_t thread = 0;
    NodeId node = 0;
  };
  /// The endpoint of a peer whose regions an endpoint of this node could reach.
  struct reached {
    NodeId node = 0;
    std::uint32_t life = 0;
  };
  struct piece {
    Region region;
    bool device = false;
  };
  /// Tells a node that nothing from here writes to the regions of its endpoint any more.
  using Tell = std::function<void(NodeId node, const std::string& name, std::uint32_t life)>;

  departures(Transport& transport, network_memory& memory, Tell tell)
      : transport_(transport), memory_(memory), tell_(std::move(tell)) {}

  /// True while an endpoint that is gone still needs work from this node.
  [[nodiscard]] bool any() const { return any_.load(std::memory_order_acquire); }

  /// An endpoint has left. `offered` is how many endpoints of peers know the addresses of its regions.
  void left(std::uint32_t life, const std::string& name, std::uint32_t offered, std::vector<reached> peers);
  /// A peer's message with the addresses of its regions came after the endpoint it was meant for had left.
  void told_too_late(std::uint32_t life, const std::string& name, const reached& peer);
  /// The object of the endpoint is destroyed. From now on only `uses` can touch the regions in `memory`.
  void destroyed(std::uint32_t life, std::vector<piece> memory, std::vector<use> uses);
  /// A peer reports that one of its endpoints that could reach this endpoint's regions is gone.
  void peer_gone(std::uint32_t life);

  /// All operations of a thread towards these nodes are done.
  void fenced(std::uint32_t thread, std::span<const NodeId> nodes);
  /// Tells peers about endpoints whose operations are done by now, and gives back memory that nobody can reach.
  void settle();
  [[nodiscard]] std::size_t size() const { return gone_.size(); }
  /// The endpoints whose operations have been completed since the last call.
  [[nodiscard]] std::vector<std::uint32_t> take_done() { return std::exchange(done_, {}); }

 private:
  struct departure {
    std::string name;
    std::uint32_t offered = 0;     ///< endpoints of peers that can still reach its regions
    std::vector<reached> peers{};  ///< still to be told
    std::vector<use> uses{};       ///< may still be in flight
    std::vector<piece> memory{};
    bool destroyed = false;
    bool told = false;
  };
  using Gone = std::map<std::uint32_t, departure>;

  /// Returns false once nothing is left for this node to do until a peer reports, or for good.
  bool settle(Gone::iterator at);
  void note_any() { any_.store(!open_.empty(), std::memory_order_release); }

  Transport& transport_;
  network_memory& memory_;
  Tell tell_;
  Gone gone_;                        ///< by incarnation number
  std::vector<std::uint32_t> open_;  ///< those for which this node can do the next step
  std::vector<std::uint32_t> done_;
  std::atomic<bool> any_ = false;
};

}  // namespace loco
