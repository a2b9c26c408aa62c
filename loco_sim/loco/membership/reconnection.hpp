// Rejoining: two nodes that have given each other up, or whose manager was replaced, connect again.
//
// The steps are those of verbs. Each node moves its queue pairs of the old connection to the error state, waits until
// all its work requests are flushed, and resets them. Both agree on the number of the next connection, the greater of
// the two that they asked for, bring up queue pairs for it and try them. The set-up message "again" carries the steps:
//
//   ask   the sender is ready to begin, with a connection of at least that number
//   meet  its queue pairs can receive; carries the addresses of the regions of its manager's own channel
//   done  it has reached the other node; channels that it makes from then on join with that node's
//   off   it has given up again, so the other node may start over
//   told  to all other nodes: these two have rejoined
//
// Until a node is done, its joins concern endpoints of the old connection and are ignored. Each waits for the other's
// `done`, so when both have returned, each accepts the other's joins.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "loco_sim/loco/membership/setup.hpp"
#include "loco_sim/loco/memory/network_memory.hpp"
#include "loco_sim/loco/operations/completions.hpp"
#include "loco_sim/loco/operations/connections.hpp"
#include "loco_sim/loco/transport.hpp"

namespace loco {

class reconnection {
 public:
  reconnection(Transport& transport, setup& channels, completions& acks, connections& present, network_memory& memory);

  /// Sets the own channel of a new manager, which every new connection has to connect again.
  void set_own(endpoint_state* own) { own_ = own; }

  /// See manager::reconnect. `fence` gives a readable location on a node.
  void reconnect(const std::function<Region(NodeId)>& fence, NodeId node, std::optional<std::int64_t> limit_ps);
  [[nodiscard]] bool asked_back(NodeId node) const;

 private:
  enum class Step : std::uint32_t { ask, meet, done, off, told };
  /// What a peer has said. Guarded by the set-up lock.
  struct Peer {
    std::uint32_t asked = 0, met = 0, done = 0;  ///< connection numbers; 0: not said
    bool busy = false;                           ///< a thread of this node is rejoining with it
  };
  /// A call of reconnect().
  struct Attempt {
    NodeId node = 0;
    std::optional<std::int64_t> until_ps;
    std::uint32_t asks_for = 0;
    const std::function<Region(NodeId)>& fence;
  };

  void handle(NodeId from, const setup_message& message);
  void say(NodeId to, Step step, std::uint32_t number, std::uint32_t by = 0);
  /// Ends the old connection and asks for a new one.
  void begin(Attempt& attempt);
  void end_connection(const Attempt& attempt);
  /// Connects with a peer once it has asked. Returns nothing if the peer has meanwhile changed the number or given up.
  [[nodiscard]] std::optional<std::uint32_t> connect(const Attempt& attempt);
  void finish(const Attempt& attempt, std::uint32_t number);
  void reach(const Attempt& attempt, std::uint32_t number);
  /// Waits until the peer has said `step` for that number (true), or no longer agrees to the number (false).
  [[nodiscard]] bool heard(const Attempt& attempt, std::uint32_t number, std::uint32_t Peer::*step);
  void wait(const Attempt& attempt, const std::function<bool()>& ready);
  void require_time(const Attempt& attempt) const;
  /// The connection number that both nodes agree on; 0 as long as the peer has not asked.
  [[nodiscard]] std::uint32_t agreed(const Attempt& attempt);

  Transport& transport_;
  setup& channels_;
  completions& acks_;
  connections& present_;
  network_memory& memory_;
  endpoint_state* own_ = nullptr;
  std::optional<Region> landing_;  ///< where the trial read of a connection lands
  std::map<NodeId, Peer> peers_;
};

}  // namespace loco
