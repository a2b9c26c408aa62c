// Endpoints that are gone: when their peers are told, and when their memory may be used again.
//
// The regions of an endpoint that is gone may be written to still: by a peer whose own endpoint is there, and by what
// has been posted before and is on its way. So they are given back once
//   - each peer that was told where they are has said that its endpoint is gone, with nothing on its way to them, and
//   - this node's operations through the endpoint are done: they read and write its regions, too.
//   state      of an endpoint that                           until
//   left       takes part in nothing any more                its object is destroyed
//   destroyed  nobody here uses any more                     this node's operations through it are done
//   told       its peers know that nothing writes to theirs  they have said the same, and stores have reached memory
//   over       has given its memory back                     -
//
// An operation is done when its thread has fenced that node since (global_fence(), and hence a barrier), or has ended
// and the transport knows its operations to be done (OneSidedVerbs::settled).
//
// This needs no further messages to ask for anything, and an endpoint that goes sends none: peers are told at a later
// fence, or when another endpoint is made. Memory that a stopped peer, or a thread that neither fences nor ends, may
// reach is not used again. All under the lock of `setup`, but any().
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
  /// Operations of one of this node's threads towards a node.
  struct use {
    std::uint32_t thread = 0;
    NodeId node = 0;
  };
  /// A peer's endpoint, whose regions one of this node could reach.
  struct reached {
    NodeId node = 0;
    std::uint32_t life = 0;
  };
  struct piece {
    Region region;
    bool device = false;
  };
  /// Says to a node that nothing writes to the regions of its endpoint any more.
  using Tell = std::function<void(NodeId node, const std::string& name, std::uint32_t life)>;

  departures(Transport& transport, network_memory& memory, Tell tell)
      : transport_(transport), memory_(memory), tell_(std::move(tell)) {}

  /// Has an endpoint gone of which something is still to be done?
  [[nodiscard]] bool any() const { return any_.load(std::memory_order_acquire); }

  /// An endpoint has left; peers have been told `offered` times where its regions are.
  void left(std::uint32_t life, const std::string& name, std::uint32_t offered, std::vector<reached> peers);
  /// A peer has told an endpoint that has left where its regions are.
  void told_too_late(std::uint32_t life, const std::string& name, const reached& peer);
  /// Nobody here uses its regions any more, but for these operations.
  void destroyed(std::uint32_t life, std::vector<piece> memory, std::vector<use> uses);
  /// A peer says that one of its endpoints, which was told where this one's regions are, is gone.
  void peer_gone(std::uint32_t life);

  /// A thread's operations towards these nodes are done.
  void fenced(std::uint32_t thread, std::span<const NodeId> nodes);
  /// Tells the peers of what is done by now, and gives memory back.
  void settle();
  [[nodiscard]] std::size_t size() const { return gone_.size(); }
  /// The endpoints whose operations have been done since this was asked last.
  [[nodiscard]] std::vector<std::uint32_t> take_done() { return std::exchange(done_, {}); }

 private:
  struct departure {
    std::string name;
    std::uint32_t offered = 0;     ///< to endpoints of peers that are not known to be gone
    std::vector<reached> peers{};  ///< that are to be told
    std::vector<use> uses{};       ///< that may not be done
    std::vector<piece> memory{};
    bool destroyed = false;
    bool told = false;
  };
  using Gone = std::map<std::uint32_t, departure>;

  /// False: it is over, and forgotten.
  bool settle(Gone::iterator at);
  void note_any() { any_.store(!open_.empty(), std::memory_order_release); }

  Transport& transport_;
  network_memory& memory_;
  Tell tell_;
  Gone gone_;                        ///< by life
  std::vector<std::uint32_t> open_;  ///< those that this node can do something about
  std::vector<std::uint32_t> done_;
  std::atomic<bool> any_ = false;
};

}  // namespace loco
