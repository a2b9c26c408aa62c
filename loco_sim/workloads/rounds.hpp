// Rounds that all nodes of a workload go through in the same steps. Once the last rounds took the same time on every
// node, those that would only repeat them are left out and their time is added (sim.fast_forward).
//
// Why this is exact: a node's round depends on the state of NICs and network, which is the same for all rounds except
// for a shift in time, and on the pages of its data, which repeat every `period` rounds. Suppose that on every node
// each round of a period (and of kAlike rounds at least) ended the same time after the round one period before, and
// that meanwhile nothing was lost, marked or paused. Then the following rounds do so, too, until they differ in kind.
// Nodes are not in the same round at the same time. All nodes leave out the same rounds, which come after the last
// round that any node has begun, so that no node waits for something that another one does not send.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "loco_sim/loco/transport.hpp"
#include "loco_sim/transport/cluster_config.hpp"
#include "nic_model/system.hpp"

namespace loco::workloads {

/// Number of packets lost, marked or sent again and of pauses so far. Rounds that are alike have none.
[[nodiscard]] std::uint64_t disturbances(const nic::System& system);

class Rounds {
 public:
  using Round = std::uint32_t;
  static constexpr Round kAlike = 4;  ///< at least this many rounds must have taken the same time as those before them
  static constexpr Round kLast = 2;   ///< this many rounds at the end of a row are never left out

  /// Rounds first, ..., last - 1 are alike except for where their data lies; their pages repeat every `period` rounds.
  struct Row {
    Round first = 0;
    Round last = 0;
    Round period = 1;
  };
  /// Rounds from, ..., to - 1 are left out: all nodes go from the end of round from - 1 to the start of round to.
  struct Gap {
    Round from = 0;
    Round to = 0;
    std::int64_t time_ps = 0;  ///< the time that they take
  };
  using Disturbances = std::function<std::uint64_t()>;

  /// With FastForward::off no round is left out. `rows` must be in order and disjoint.
  Rounds(FastForward mode, std::uint32_t nodes, std::vector<Row> rows, Disturbances disturbances);

  /// A node begins a round.
  void begins(Round round) { front_ = std::max(front_, round); }
  /// `node` has ended a round. A node ends its rounds in order.
  void ended(NodeId node, Round round, std::int64_t now_ps);
  /// The rounds that are left out between `round` and the next one that a node begins.
  [[nodiscard]] std::optional<Gap> gap_behind(Round round) const;
  /// The time that all rounds left out before `round` would have taken.
  [[nodiscard]] std::int64_t left_out_ps(Round round) const;
  /// True if that round is left out.
  [[nodiscard]] bool leaves_out(Round round) const;
  /// True if rounds may still be left out, or have been.
  [[nodiscard]] bool any() const { return !rows_.empty() || !gaps_.empty(); }

 private:
  /// A row while nodes go through it.
  struct Watched {
    Row row;
    std::vector<std::vector<std::int64_t>> ends_ps;  ///< by node, the ends of its rounds
    std::vector<std::uint32_t> nodes;                ///< by round: number of nodes that have ended it
    std::vector<std::uint64_t> disturbances;         ///< by round: the number when the last node had ended it
    Round done = 0;                                  ///< number of rounds that all nodes have ended
  };
  void decide(const Watched& w);
  /// The time of a period if the last rounds took the same time on every node.
  [[nodiscard]] std::optional<std::int64_t> period_ps(const Watched& w) const;

  FastForward mode_;
  std::uint32_t nodes_;
  Disturbances disturbances_;
  std::vector<Row> rows_;
  std::map<Round, Watched> watched_;  ///< by the row's first round
  Round front_ = 0;                   ///< the last round that a node has begun
  std::vector<Gap> gaps_;
};

/// Number of rounds, each of which advances by `bytes`, after which data lies in the same place of its pages again. The
/// pages are those of the NIC's translations.
[[nodiscard]] Rounds::Round page_period(const nic::HardwareProfile& profile, std::uint64_t bytes);

}  // namespace loco::workloads
