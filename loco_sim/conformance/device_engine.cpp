#include "loco_sim/conformance/device_engine.hpp"

#include <fmt/format.h>
#include <map>

#include "loco_sim/conformance/bench.hpp"
#include "model/litmus/implementations/implementations.hpp"

namespace loco::conformance {

using namespace model::litmus;

namespace {

Result run_on(const libibverbs::Device& device, const Program& asked, const EngineOptions& options) {
  Result result;
  const auto refuse = [&](const std::string& why) {
    result.ran = result.complete = false;
    result.notes.push_back("device " + device.name() + " does not run it: " + why);
    return result;
  };
  if (asked.model == "verbs" || is_corerma(options.model)) return refuse("it is of another model than LOCO's");
  const Program program = implement(asked);
  if (const std::string why = refusal(device, program); !why.empty()) return refuse(why);
  Bench bench(device, program);
  TimeLimit time(options.max_seconds);
  const std::function<bool()> over = time.question();
  std::map<Outcome, std::uint64_t> seen;
  std::uint64_t given_up = 0;
  for (; result.executions < options.runs && (!over || !over()); ++result.executions) {
    if (options.poll) options.poll();
    if (const auto outcome = bench.run(options.seed + result.executions))
      ++seen[*outcome];
    else if (++given_up == 3)
      break;
  }
  for (const auto& [outcome, times] : seen) {
    result.outcomes.push_back(outcome);
    result.counts.push_back(times);
  }
  if (given_up != 0) {
    result.complete = false;
    result.notes.push_back(
        fmt::format("{} of {} runs given up: a thread waited for a second, an operation or an assertion failed",
                    given_up, result.executions));
    if (given_up == 3) result.unexpected.push_back("a run that does not end");
  }
  return result;
}

}  // namespace

Engine device_engine(const libibverbs::Device& device) {
  return [&device](const Program& program, const EngineOptions& options) { return run_on(device, program, options); };
}

}  // namespace loco::conformance
