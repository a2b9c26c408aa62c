// Rounds that all nodes of a workload go through, each in the steps of the one before: once the last ones took the same
// time on every node, those that would only repeat them are left out, and their time is added (sim.fast_forward).
//
// What makes that exact. Round i of a node is told by what it finds: the state of NICs and network, the same for all
// rounds but for a shift in time, and the pages that its data lies in, the same every `period` rounds. When, on every
// node, each of a period of rounds (and of kAlike at least) ended the same time behind the one a period before, and
// nothing was lost, marked or paused meanwhile, then so will the rounds after them, until they differ in kind. Nodes
// are not in the same round at the same time. Rounds are left out between two numbers, the same ones for all: behind
// the last round that any node has begun, so that what one node does not send no other one waits for.
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

/// How often packets were lost, marked, paused or sent again until now: what rounds that are alike do not have.
[[nodiscard]] std::uint64_t disturbances(const nic::System& system);

class Rounds {
 public:
  using Round = std::uint32_t;
  static constexpr Round kAlike = 4;  ///< so many rounds at least took the same time as those before them
  static constexpr Round kLast = 2;   ///< of a row of rounds that are alike, so many are never left out

  /// Rounds first, first + 1, ..., last - 1 are alike but for where their data lies; their pages repeat every `period`.
  struct Row {
    Round first = 0;
    Round last = 0;
    Round period = 1;
  };
  /// Rounds from, ..., to - 1 are left out. All nodes go from the end of round from - 1 to the start of round to.
  struct Gap {
    Round from = 0;
    Round to = 0;
    std::int64_t time_ps = 0;  ///< that they take
  };
  using Disturbances = std::function<std::uint64_t()>;

  /// With FastForward::off no round is left out. Rows are in their order, and apart.
  Rounds(FastForward mode, std::uint32_t nodes, std::vector<Row> rows, Disturbances disturbances);

  /// A node begins a round.
  void begins(Round round) { front_ = std::max(front_, round); }
  /// `node` has ended a round. Rounds of a node end in their order.
  void ended(NodeId node, Round round, std::int64_t now_ps);
  /// The rounds that are left out between `round` and the one that a node begins behind it.
  [[nodiscard]] std::optional<Gap> gap_behind(Round round) const;
  /// What all rounds that are left out before `round` would have taken.
  [[nodiscard]] std::int64_t left_out_ps(Round round) const;
  /// Is that round left out?
  [[nodiscard]] bool leaves_out(Round round) const;
  /// May any still be, or has any been left out?
  [[nodiscard]] bool any() const { return !rows_.empty() || !gaps_.empty(); }

 private:
  /// A row while nodes go through it.
  struct Watched {
    Row row;
    std::vector<std::vector<std::int64_t>> ends_ps;  ///< of each node, of the rounds that it has ended
    std::vector<std::uint32_t> nodes;                ///< by round: how many have ended it
    std::vector<std::uint64_t> disturbances;         ///< by round: until the last node had ended it
    Round done = 0;                                  ///< rounds that all nodes have ended
  };
  void decide(const Watched& w);
  /// The time of a period, when on every node the last rounds took the same.
  [[nodiscard]] std::optional<std::int64_t> period_ps(const Watched& w) const;

  FastForward mode_;
  std::uint32_t nodes_;
  Disturbances disturbances_;
  std::vector<Row> rows_;
  std::map<Round, Watched> watched_;  ///< by the row's first round
  Round front_ = 0;                   ///< the last round that a node has begun
  std::vector<Gap> gaps_;
};

/// After how many rounds, each of which goes on by so many bytes, data lies in its pages as it did before: as the NIC's
/// translations have them.
[[nodiscard]] Rounds::Round page_period(const nic::HardwareProfile& profile, std::uint64_t bytes);

}  // namespace loco::workloads
