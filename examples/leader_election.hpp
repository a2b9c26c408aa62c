// Leader election by votes: at most one leader a term, whichever nodes are slow.
//
// Every node has a vote, a word that holds the latest term it was given in, and to whom. Who wants to lead a term swaps
// the votes of all nodes for its own, one after the other, and leads when it has got more than half of them. A vote is
// given once a term: the compare-and-swap fails where another candidate was first, and who finds that out stands back.
// NICs alone touch the votes, the own one too, since remote atomics are not atomic with CPUs; so nobody has to be awake
// to vote. A node that does not answer gives no vote.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/atomic_var.hpp"

struct election_options {
  /// False: look whether the vote is free, then take it. For experiments: two may lead in one term.
  bool compare_and_swap = true;
};

class leader_election {
 public:
  leader_election(loco::manager& mgr, std::string_view name, election_options options = {})
      : mgr_(mgr), options_(options) {
    for (loco::NodeId node = 0; node < mgr.num_nodes(); ++node)
      votes_.emplace_back(mgr, std::string(name) + "-vote" + std::to_string(node), node);
  }

  /// Tries to lead the term after the latest one that it has heard of: that term if it does, else nothing.
  [[nodiscard]] std::optional<std::uint32_t> campaign() {
    const std::uint32_t term = ++heard_of_;
    std::size_t won = 0;
    for (auto& vote : votes_) {
      try {
        if (!win(vote, term)) return std::nullopt;
        ++won;
      } catch (const loco::operation_error&) {
        continue;
      }
    }
    return won > votes_.size() / 2 ? std::optional(term) : std::nullopt;
  }

 private:
  using Vote = loco::atomic_var<std::uint64_t>;  // term << 32 | node + 1

  bool win(Vote& vote, std::uint32_t term) {
    const std::uint64_t mine = std::uint64_t{term} << 32U | (mgr_.my_node() + 1);
    std::uint64_t seen = vote.load();
    if (!options_.compare_and_swap && seen >> 32U < term) {
      vote.store(mine);
      return true;
    }
    while (seen >> 32U < term) {
      if (vote.compare_exchange(seen, mine)) return true;
    }
    heard_of_ = std::max(heard_of_, static_cast<std::uint32_t>(seen >> 32U));
    return false;
  }

  loco::manager& mgr_;
  election_options options_;
  std::deque<Vote> votes_;  ///< by node
  std::uint32_t heard_of_ = 0;
};
