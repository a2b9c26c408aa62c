// Robustness of RMA programs (docs/robustness.md): do the schedules of a network have traces that are not SC?
//
// The trace of a run is its accesses to shared variables with program order, rf and mo; it is SC iff these and rb have
// no cycle. The parts of a remote statement are accesses in program order, in the order of the statement; a remote add
// or compare-and-swap is one. Two ways to know: a proof from the control-flow graphs, and a search of all runs whose
// loops turn at most a few times. A program with loops is robust only by the proof.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "verify/semantics.hpp"

namespace loco::verify {

struct RobustLimits {
  std::uint32_t turns = 3;                             ///< times that an edge of a loop is taken, at most
  std::uint64_t points = 1'000'000;                    ///< of the search, that are kept
  std::uint64_t memory_max = std::uint64_t{2} << 30U;  ///< bytes that the search allocates; 0: no limit
  std::function<bool()> out_of_time = {};
};

struct RmaAccess {
  std::uint32_t process = 0;
  std::string statement;
  std::string access;  ///< `write X`, `read X`, `update X`
  std::string edge;    ///< po, rf, mo or rb, to the next one of the cycle
  Place place;
};

struct RmaRobustness {
  std::optional<bool> robust;    ///< empty: unknown, and `why` gives the reason
  bool proved = false;           ///< robust by the control-flow graphs alone
  std::vector<RmaAccess> cycle;  ///< not robust
  Schedule schedule;             ///< a run with that cycle
  std::string why;
};

[[nodiscard]] RmaRobustness robustness(const Program& program, const FlushMask& flushes, Network network,
                                       const RobustLimits& limits = {});

/// The search alone, which knows nothing of the proof.
[[nodiscard]] RmaRobustness search_runs(const Program& program, const FlushMask& flushes, Network network,
                                        const RobustLimits& limits = {});

/// An object as `loco-sim robust --json` prints it; the same in words.
[[nodiscard]] nlohmann::ordered_json robust_json(const Program& program, const FlushMask& flushes, Network network,
                                                 const RmaRobustness& result, double seconds);
[[nodiscard]] std::string robust_text(const Program& program, const FlushMask& flushes, Network network,
                                      const RmaRobustness& result);

/// The proof alone: no pair of accesses that the network may take out of program order lies on a cycle of program order
/// and conflicts.
[[nodiscard]] bool robust_by_graphs(const Program& program, const FlushMask& flushes, Network network);

}  // namespace loco::verify
