#include "model/litmus/search/execution_sink.hpp"

#include <algorithm>

namespace loco::model::litmus {

bool ExecutionSink::known(const Outcome& outcome) const { return result.outcomes.contains(outcome); }

bool ExecutionSink::only_new_outcomes() const {
  const bool uncounted =
      options.outcomes_only || (options.counted_max != 0 && result.executions >= options.counted_max);
  return uncounted && !options.every_witness && !visit;
}

bool ExecutionSink::found(const Outcome& outcome, std::uint64_t orbit) {
  if (!has_memory() && !known(outcome)) {
    result.out_of_memory = true;
    return false;
  }
  result.outcomes.insert(outcome);
  result.executions += orbit;
  if (options.executions_max != 0 && result.executions >= options.executions_max) result.stopped = true;
  return !result.stopped;
}

}  // namespace loco::model::litmus
