// Collects what the searches within skeletons find, and tells them when to stop.
#pragma once

#include <cstdint>
#include <functional>

#include "model/litmus/search.hpp"

namespace loco::model::litmus {

struct ExecutionSink {
  const Program& program;
  const SearchOptions& options;
  const PartialOutcome& wanted;
  const ExecutionVisitor& visit;
  SearchResult result;
  std::uint64_t steps = 0;                ///< skeletons and choices of a source
  std::uint64_t ask_at = 0;               ///< at so many steps ...
  const std::function<bool()>* ask = {};  ///< ... it is asked whether to go on

  [[nodiscard]] bool known(const Outcome& outcome) const;
  /// From now on only outcomes count that are not known yet: neither further executions nor their witnesses.
  [[nodiscard]] bool only_new_outcomes() const;
  /// Counts an execution that stands for `orbit` of them; false if the search must stop.
  bool found(const Outcome& outcome, std::uint64_t orbit);
  /// False if the search must stop.
  bool step() {
    constexpr std::uint64_t kPollEvery = 4096;
    constexpr std::uint64_t kAskEvery = 256;
    if (++steps % kPollEvery == 0 && options.poll) options.poll();
    if (steps % kAskEvery == 0 && options.out_of_time && options.out_of_time()) {
      result.timed_out = true;
      return false;
    }
    return steps != ask_at || (*ask)();
  }
};

}  // namespace loco::model::litmus
