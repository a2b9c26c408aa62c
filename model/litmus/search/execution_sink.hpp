// Collects what the searches within skeletons find, and tells them when to stop.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

#include "model/litmus/search/search.hpp"

namespace loco::model::litmus {

struct ExecutionSink {
  const Program& program;
  const SearchOptions& options;
  const PartialOutcome& wanted;
  const ExecutionVisitor& visit;
  SearchResult result;
  std::uint64_t steps = 0;                ///< skeletons and choices of a source
  std::uint64_t ticks = 0;                ///< and trials of an order
  std::uint64_t ask_at = 0;               ///< at so many steps ...
  const std::function<bool()>* ask = {};  ///< ... it is asked whether to go on

  [[nodiscard]] bool known(const Outcome& outcome) const;
  /// From now on only outcomes count that are not known yet: neither further executions nor their witnesses.
  [[nodiscard]] bool only_new_outcomes() const;
  /// Is there memory for one more outcome?
  [[nodiscard]] bool has_memory() const {
    return options.memory_max == 0 || result.outcomes.bytes_with_one_more() <= options.memory_max;
  }
  /// Counts an execution that stands for `orbit` of them; false if the search must stop.
  bool found(const Outcome& outcome, std::uint64_t orbit);
  /// An assertion fails in an execution.
  void fails(int thread, int instruction) {
    const std::pair<int, int> failed(thread, instruction);
    auto& all = result.failed_assertions;
    if (std::find(all.begin(), all.end(), failed) == all.end()) all.push_back(failed);
  }
  /// False if the search must stop.
  bool step() {
    ++steps;
    return tick() && (steps != ask_at || (*ask)());
  }
  /// The same for work that counts as less than a step.
  bool tick() {
    constexpr std::uint64_t kPollEvery = 4096;
    constexpr std::uint64_t kAskEvery = 256;
    if (++ticks % kPollEvery == 0 && options.poll) options.poll();
    if (ticks % kAskEvery != 0 || !options.out_of_time || !options.out_of_time()) return true;
    result.timed_out = true;
    return false;
  }
};

}  // namespace loco::model::litmus
