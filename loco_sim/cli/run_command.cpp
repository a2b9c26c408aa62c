// loco-sim run, loco-sim validate.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "loco_sim/cli/commands.hpp"
#include "loco_sim/cli/output.hpp"
#include "loco_sim/run/run.hpp"
#include "loco_sim/scenario/scenario.hpp"
#include "model/trace_io.hpp"

namespace loco::cli {

namespace {

scenario::Scenario load(const RunArguments& arguments) {
  std::vector<scenario::Override> overrides;
  for (const std::string& set : arguments.set) overrides.push_back(scenario::parse_set(set));
  if (arguments.seed) overrides.push_back({"seed", fmt::format("{}", *arguments.seed)});
  if (arguments.check) overrides.push_back({"check", fmt::format("[{}]", *arguments.check)});
  if (!arguments.trace.empty()) overrides.push_back({"trace.path", nlohmann::json(arguments.trace).dump()});
  return scenario::load_scenario(arguments.scenario, overrides);
}

std::string headline(const scenario::Scenario& s) {
  return fmt::format("{}: {} on {} nodes, {}, {}, seed {}{}", s.name, s.workload, s.nodes,
                     s.hardware.link_ideal ? "no network" : fabric::topology::describe(s.network.shape),
                     s.hardware_name, s.seed,
                     s.schedule == Schedule::timed ? "" : ", events in random order: times mean nothing");
}

std::string latency_table(const RunResult& result) {
  std::vector<std::vector<std::string>> rows = {{"operation", "count", "min", "median", "p99", "max"}};
  for (const OperationTimes& operation : result.operations) {
    const LatencySummary s = summarise(operation.samples_ps);
    rows.push_back({operation.name, fmt::format("{}", s.count), time_text(s.min_ps), time_text(s.median_ps),
                    time_text(s.p99_ps), time_text(s.max_ps)});
  }
  return table(rows, true);
}

std::string report(const scenario::Scenario& scenario, const RunResult& result) {
  std::string out = headline(scenario) + "\n" + latency_table(result);
  out += fmt::format("throughput: {} operations/s ({} operations in {} of simulated time)\n",
                     rate_text(result.operations_per_second()), result.operations_done, time_text(result.measured_ps));
  for (const std::string& broken : result.broken) out += fmt::format("the workload found: {}\n", broken);
  if (result.verdict) out += result.verdict->to_text();
  return out;
}

}  // namespace

int run_command(const RunArguments& arguments) {
  const scenario::Scenario scenario = load(arguments);
  const RunResult result = run(scenario);
  if (!scenario.trace_path.empty()) model::write_trace_file(scenario.trace_path, result.trace.value());
  if (arguments.json) {
    print(to_json(scenario, result));
  } else {
    print(report(scenario, result));
  }
  return result.consistent() ? kDone : kFailed;
}

int validate_command(const RunArguments& arguments) {
  const scenario::Scenario scenario = load(arguments);
  std::size_t runs = 1;
  for (const scenario::SweepAxis& axis : scenario.sweep) runs *= axis.values.size();
  if (arguments.json) {
    print(nlohmann::ordered_json{{"valid", true},
                                 {"scenario", scenario.name},
                                 {"workload", scenario.workload},
                                 {"nodes", scenario.nodes},
                                 {"hardware", scenario.hardware_name},
                                 {"runs", runs}});
  } else {
    print(fmt::format("{}: valid: {}{}", arguments.scenario, headline(scenario),
                      runs > 1 ? fmt::format(", a sweep of {} runs", runs) : ""));
  }
  return kDone;
}

}  // namespace loco::cli
