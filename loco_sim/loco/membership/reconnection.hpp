// Two nodes that have given each other up, or whose manager was made anew, take each other back.
//
// As verbs have it: each puts its ends of the old connection into the error state, waits until all that was posted has
// come back, and resets them; both agree on the number of the next connection; they bring up queue pairs for that one
// and try them. In set-up messages ("again"), each with the greater number of the two that were asked for:
//
//   ask   that side is ready to begin, with a connection of at least that number
//   meet  its queue pairs take what the other side sends; where the regions of its manager's own channel are
//   done  it has reached the other side; channels that it makes from then on are joined with that side's
//   off   it has given up again; begin anew, if you like
//   told  to all others: these two are together again
//
// Joins of the other side are about its endpoints of before until it is done, and go unheard. A `done` for a `done`:
// when both have returned, each hears the other's joins.
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

  /// A manager begins; `own`: its own channel, which each connection finds anew.
  void set_own(endpoint_state* own) { own_ = own; }

  /// See manager::reconnect. `fence`: a location on a node that may be read.
  void reconnect(const std::function<Region(NodeId)>& fence, NodeId node, std::optional<std::int64_t> limit_ps);
  [[nodiscard]] bool asked_back(NodeId node) const;

 private:
  enum class Step : std::uint32_t { ask, meet, done, off, told };
  /// What a peer has said. Under the set-up lock.
  struct Peer {
    std::uint32_t asked = 0, met = 0, done = 0;  ///< numbers; 0: it has not
    bool busy = false;                           ///< a thread of this node is taking it back
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
  /// Begins, and asks.
  void begin(Attempt& attempt);
  void end_connection(const Attempt& attempt);
  /// A connection with a peer that has asked; nothing when the peer has changed its mind.
  [[nodiscard]] std::optional<std::uint32_t> connect(const Attempt& attempt);
  void finish(const Attempt& attempt, std::uint32_t number);
  void reach(const Attempt& attempt, std::uint32_t number);
  /// Until the peer has said so, or something else than before.
  [[nodiscard]] bool heard(const Attempt& attempt, std::uint32_t number, std::uint32_t Peer::*step);
  void wait(const Attempt& attempt, const std::function<bool()>& ready);
  void require_time(const Attempt& attempt) const;
  /// The number that both come to.
  [[nodiscard]] std::uint32_t agreed(const Attempt& attempt);

  Transport& transport_;
  setup& channels_;
  completions& acks_;
  connections& present_;
  network_memory& memory_;
  endpoint_state* own_ = nullptr;
  std::optional<Region> landing_;  ///< of the operation that tries a connection
  std::map<NodeId, Peer> peers_;
};

}  // namespace loco
