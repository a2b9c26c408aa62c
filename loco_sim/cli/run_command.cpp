// loco-sim run, loco-sim validate.
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <system_error>

#include "loco_sim/cli/commands.hpp"
#include "loco_sim/cli/exec_scenario.hpp"
#include "loco_sim/cli/output.hpp"
#include "loco_sim/cli/outputs.hpp"
#include "loco_sim/cli/why.hpp"
#include "loco_sim/run/flow_report.hpp"
#include "loco_sim/run/given_up.hpp"
#include "loco_sim/run/run.hpp"
#include "loco_sim/scenario/scenario.hpp"
#include "options/option.hpp"
#include "text/input_error.hpp"
#include "text/json.hpp"
#include "text/shown.hpp"
#include "text/words.hpp"
#include "trace/file.hpp"

namespace loco::cli {

namespace {

/// As a YAML text: in it, some characters beyond ASCII end a line.
std::string quoted_path(const std::string& option, const std::string& path) {
  try {
    return text::shown(text::json_text(path));
  } catch (const nlohmann::json::exception&) {
    throw UsageError(
        fmt::format("{} {}: expected a file name in UTF-8, found other bytes", option, text::printable(path)));
  }
}

std::vector<scenario::Override> overrides_of(const RunArguments& arguments) {
  std::vector<scenario::Override> overrides;
  for (const std::string& set : arguments.set) overrides.push_back(scenario::parse_set(set));
  return overrides;
}

scenario::Scenario load(const RunArguments& arguments) {
  std::vector<scenario::Override> overrides = overrides_of(arguments);
  const auto add = [&](const char* key, const std::string& value, const char* option, const auto& given) {
    overrides.push_back({key, value, fmt::format("{} {}", option, given)});
  };
  if (arguments.seed) add("seed", fmt::format("{}", *arguments.seed), "--seed", *arguments.seed);
  if (arguments.check) add("check", fmt::format("[{}]", *arguments.check), "--check", *arguments.check);
  if (!arguments.trace.empty()) add("trace.path", quoted_path("--trace", arguments.trace), "--trace", arguments.trace);
  if (!arguments.pcap.empty()) add("capture.path", quoted_path("--pcap", arguments.pcap), "--pcap", arguments.pcap);
  if (arguments.why) overrides.push_back({"trace.level", "packets", "--why"});
  return scenario::load_scenario(arguments.scenario, overrides);
}

std::string network_text(const scenario::Scenario& s) {
  if (s.hardware.link_ideal) return "no network";
  const fabric::FlowOptions& flow = s.network.flow;
  const std::string shape =
      flow.platform.empty() ? fabric::topology::describe(s.network.shape) : text::printable(flow.platform);
  return s.network.model == fabric::Model::flow ? shape + " as flows" : shape;
}

std::string headline(const scenario::Scenario& s) {
  std::vector<std::string> kinds;
  for (const scenario::PartWorkload& part : s.parts) kinds.push_back(text::printable(part.part.name));
  const std::string what = kinds.empty() ? s.workload : fmt::format("{}", fmt::join(kinds, " + "));
  return fmt::format("{}: {} on {} nodes, {}, {}, seed {}{}", text::printable(s.name), what, s.nodes, network_text(s),
                     text::printable(s.hardware_name), s.seed,
                     s.schedule == Schedule::timed ? "" : ", events in random order: times mean nothing") +
         (s.faults.empty() ? "" : fmt::format("; deliberate faults: {}", fmt::join(s.faults, ", ")));
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

FlowsEnd flows_end(const workloads::Params& p) {
  return p.get("flows_end") == 0 ? FlowsEnd::received : FlowsEnd::completed;
}

/// As papers have it.
bool never_below_one(const workloads::Params& p) { return p.get("ideal") != 0; }

/// The flows of one workload.
struct FlowsOf {
  std::string name;  ///< empty: the only one
  const workloads::Params* params;
  std::vector<workloads::flows::FlowRecord> flows;
};

std::vector<FlowsOf> flows_of(const scenario::Scenario& s, const RunResult& result) {
  std::vector<FlowsOf> all;
  if (s.parts.empty() && s.workload == "flows") all.push_back({"", &s.parameters, result.flows});
  auto first = result.flows.begin();
  for (std::size_t i = 0; i < result.parts.size(); ++i) {
    const auto last = first + static_cast<std::ptrdiff_t>(result.parts[i].flows);
    if (s.parts[i].kind == "flows") all.push_back({result.parts[i].name, &s.parts[i].parameters, {first, last}});
    first = last;
  }
  return all;
}

std::string slowdown_table(const FlowsOf& of) {
  constexpr std::size_t kBins = 5;
  if (of.flows.empty()) return {};
  const std::string title = (of.name.empty() ? "" : of.name + ": ") + "slowdown of flows up to";
  std::vector<std::vector<std::string>> rows = {{title, "count", "mean", "median", "p95", "p99"}};
  for (const SlowdownBin& bin :
       slowdowns_by_size(ended(of.flows, flows_end(*of.params), never_below_one(*of.params)), kBins))
    rows.push_back({options::format_number(static_cast<std::int64_t>(bin.largest), options::Type::size),
                    fmt::format("{}", bin.flows), fmt::format("{:.3f}", bin.mean), fmt::format("{:.3f}", bin.p50),
                    fmt::format("{:.3f}", bin.p95), fmt::format("{:.3f}", bin.p99)});
  return rows.size() == 1 ? "" : table(rows, true);
}

std::string slowdown_tables(const scenario::Scenario& scenario, const RunResult& result) {
  std::string out;
  for (const FlowsOf& of : flows_of(scenario, result)) out += slowdown_table(of);
  return out;
}

/// Collectives among several workloads: how fast, and how much slower than by themselves.
std::string collective_table(const RunResult& result) {
  std::vector<std::vector<std::string>> rows = {{"collective", "median", "times alone", "algbw", "busbw"}};
  for (const PartResult& part : result.parts) {
    if (part.bus.bytes == 0) continue;
    const std::string times =
        part.alone_ps == 0
            ? "-"
            : fmt::format("{:.3f}", static_cast<double>(part.median_ps) / static_cast<double>(part.alone_ps));
    rows.push_back({part.name, time_text(part.median_ps), times,
                    fmt::format("{:.3f} GB/s", algorithm_bandwidth(part.bus, part.median_ps)),
                    fmt::format("{:.3f} GB/s", bus_bandwidth(part.bus, part.median_ps))});
  }
  return rows.size() == 1 ? "" : table(rows, true);
}

/// As nccl-tests print it.
std::string size_table(const RunResult& result) {
  if (result.sizes.empty()) return {};
  std::vector<std::vector<std::string>> rows = {
      {"size (B)", "count (words)", "time (us)", "algbw (GB/s)", "busbw (GB/s)", "#wrong"}};
  for (const SizeRow& row : result.sizes)
    rows.push_back({fmt::format("{}", row.size), fmt::format("{}", row.count),
                    fmt::format("{:.2f}", static_cast<double>(row.time_ps) * 1e-6), fmt::format("{:.3f}", row.algbw),
                    fmt::format("{:.3f}", row.busbw), fmt::format("{}", row.wrong)});
  return table(rows, true);
}

/// Payload that has come, over the time in which it was measured.
std::string goodput(const RunResult& result) {
  const auto& names = result.workload_counters.names();
  if (result.measured_ps <= 0 || std::ranges::find(names, "payload_bytes") == names.end()) return {};
  const double bits = 8.0 * static_cast<double>(result.workload_counters.value("payload_bytes"));
  return fmt::format("goodput: {:.2f} Gb/s\n", bits / static_cast<double>(result.measured_ps) * 1e3);
}

std::string report(const scenario::Scenario& scenario, const RunResult& result) {
  std::string out = headline(scenario) + "\n" + size_table(result) + latency_table(result) +
                    slowdown_tables(scenario, result) + collective_table(result);
  if (result.operations_done == 0)
    out += "throughput: none, no operation has ended\n";
  else
    out += fmt::format("throughput: {} operations/s ({} in {} of simulated time)\n",
                       rate_text(result.operations_per_second()), text::counted(result.operations_done, "operation"),
                       time_text(result.measured_ps));
  out += goodput(result);
  if (result.bus.bytes != 0 && result.sizes.empty() && result.operations_done != 0)
    out +=
        fmt::format("algbw: {:.3f} GB/s, busbw: {:.3f} GB/s\n", result.algorithm_bandwidth(), result.bus_bandwidth());
  if (nic::something_limits(result.busiest)) out += fmt::format("limited by: {}\n", nic::limited_by(result.busiest));
  for (const std::string& hint : result.hints) out += fmt::format("hint: {}\n", hint);
  for (const std::string& broken : result.broken) out += fmt::format("the workload found: {}\n", broken);
  if (result.verdict)
    out +=
        painted(result.verdict->to_text()) + given_up_text(*result.verdict, scenario.hardware_name,
                                                           scenario::hardware_in_use(scenario), result.keeps_promises);
  return out;
}

std::string counters(const RunResult& result) {
  std::vector<std::vector<std::string>> rows = {{"counter", "value"}};
  const nlohmann::ordered_json machine = counters_json(result);
  for (const auto& [name, value] : machine.items()) rows.push_back({name, text::json_text(value)});
  return table(rows, true);
}

using Seconds = std::chrono::duration<double>;

void tell(const scenario::Scenario& scenario, const RunResult& result, const RunArguments& arguments, Seconds took) {
  if (arguments.json) {
    nlohmann::ordered_json json = cli::to_json(scenario, result);
    if (result.verdict && result.verdict->violated())
      for (const GivenUp& g : given_up(scenario::hardware_in_use(scenario)))
        json["hardware_gives_up"].push_back({{"cell", g.cell}, {"meaning", g.meaning}, {"mechanism", g.mechanism}});
    if (result.keeps_promises) json["consistent_without_these"] = *result.keeps_promises;
    if (arguments.why) json["why"] = why_json(result);
    print(json);
  } else {
    print(report(scenario, result) + (arguments.why ? why_text(result) : "") +
          (arguments.verbose ? counters(result) : ""));
  }
  if (arguments.verbose) {
    say(fmt::format("{} events in {:.3f} s of real time ({} events/s), checks included\n", result.counters.events,
                    took.count(), rate_text(static_cast<double>(result.counters.events) / took.count())));
  }
}

/// Writes the trace, if one is asked for. An error is kept and reported after the results, which are valid without it.
std::string write_trace(const std::string& path, const trace::Trace& trace) {
  if (path.empty()) return {};
  try {
    trace::write_trace_file(path, trace);
  } catch (const std::system_error& error) {
    return fmt::format("loco-sim: {}\n", text::printable(error.what()));
  }
  return {};
}

/// A file that a key of the scenario names can be written, and is none that is read.
void require_writable(const scenario::Scenario& scenario, const std::string& path, const std::string& key) {
  if (path.empty()) return;
  const text::Place& said = scenario.settings.at(key).place;
  require_place_of(path, said, key);
  require_apart(path, said, key, {{"scenario", scenario.file}});
  require_apart(path, said, key, scenario.inputs);
}

void require_flows(const scenario::Scenario& scenario, const std::string& path) {
  if (path.empty()) return;
  const bool any = std::ranges::any_of(scenario.parts, [](const auto& part) { return part.kind == "flows"; });
  if (scenario.workload != "flows" && !any)
    throw UsageError(fmt::format("--flows {}: expected a scenario with the workload flows, found {}",
                                 text::printable(path), scenario.workload));
  if (!path.ends_with(".csv"))
    throw UsageError(fmt::format(
        "--flows {}: expected a name that ends in .csv (Parquet from Python: loco_sim.run(...).flows.to_parquet(...))",
        text::printable(path)));
  const text::Place said(fmt::format("--flows {}", path), 0, 0);
  require_place_of(path, said, "");
  require_apart(path, said, "", {{"scenario", scenario.file}});
  require_apart(path, said, "", scenario.inputs);
}

/// As write_trace().
std::string write_flows(const scenario::Scenario& scenario, const std::string& path, const RunResult& result) {
  if (path.empty()) return {};
  try {
    std::string rows;
    for (const FlowsOf& of : flows_of(scenario, result)) {
      const std::string& name = of.name.empty() ? scenario.workload : of.name;
      const std::string own = flows_csv(of.flows, name, flows_end(*of.params), never_below_one(*of.params));
      rows += rows.empty() ? own : own.substr(own.find('\n') + 1);
    }
    write_file(path, rows);
  } catch (const std::runtime_error& error) {
    return fmt::format("loco-sim: {}\n", text::printable(error.what()));
  }
  return {};
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Runs it; when the run could not go on, its trace is written all the same and the verdict on it printed, in JSON as
/// results have it.
RunResult run_or_keep_trace(const scenario::Scenario& scenario, bool json, bool keep_trace) {
  try {
    return run(scenario, {.interrupted = {}, .keep_trace = keep_trace, .capture = true});
  } catch (const RunError& error) {
    if (error.trace()) say(write_trace(scenario.trace_path, *error.trace()));
    if (const auto& verdict = error.verdict(); verdict && !verdict->consistent()) {
      if (json) {
        print(nlohmann::ordered_json{{"check", cli::to_json(*verdict)}});
      } else {
        print(painted(verdict->to_text()) +
              given_up_text(*verdict, scenario.hardware_name, scenario::hardware_in_use(scenario)));
      }
    }
    throw;
  }
}

/// Repeats the run under strong ordering with this seed and the following ones; returns the first error, or nothing.
struct StrongRuns {
  static constexpr std::uint64_t kRuns = 10;
  std::uint64_t wrong = 0;
  std::string first{};  ///< the first error

  [[nodiscard]] std::string text() const {
    if (wrong == 0) return fmt::format("under strong ordering: goes away, in {} runs: a fault of ordering\n", kRuns);
    return fmt::format("under strong ordering: stays, in {} of {} runs: no fault of ordering alone ({})\n", wrong,
                       kRuns, first);
  }
};

StrongRuns run_strong(scenario::Scenario scenario) {
  StrongRuns runs;
  const auto wrong = [&](const std::string& what) {
    if (runs.wrong++ == 0) runs.first = what;
  };
  for (std::uint64_t i = 0; i < StrongRuns::kRuns; ++i, ++scenario.seed) {
    try {
      const RunResult result = run(scenario, {.interrupted = {}, .keep_trace = false, .strong = true});
      if (!result.broken.empty())
        wrong(result.broken.front());
      else if (!result.consistent() && result.verdict)
        wrong(first_line(result.verdict->to_text()));
    } catch (const RunError& error) {
      wrong(first_line(error.what()));
    }
  }
  return runs;
}

void tell_strong(const scenario::Scenario& scenario, bool json) {
  const StrongRuns runs = run_strong(scenario);
  if (json)
    print(nlohmann::ordered_json{
        {"strong", {{"runs", StrongRuns::kRuns}, {"wrong", runs.wrong}, {"first", runs.first}}}});
  else
    print(runs.text());
}

int validate_programs(const RunArguments& arguments) {
  const exec::Options options = load_programs(arguments.scenario, overrides_of(arguments)).options;
  if (arguments.quiet) return kDone;
  if (arguments.json) {
    print(nlohmann::ordered_json{{"valid", true}, {"workload", "programs"}, {"nodes", options.system.nodes}});
  } else {
    print(fmt::format("{}: valid: programs on {} nodes", text::printable(arguments.scenario), options.system.nodes));
  }
  return kDone;
}

}  // namespace

int run_command(const RunArguments& arguments) {
  if (runs_programs(arguments.scenario)) {
    if (!arguments.pcap.empty() || arguments.check || arguments.why || arguments.strong)
      throw UsageError(
          "loco-sim run: --pcap, --check, --why, --strong: expected none, since programs are no LOCO programs");
    ExecArguments programs;
    programs.scenario = arguments.scenario;
    programs.seed = arguments.seed;
    programs.set = arguments.set;
    programs.trace = arguments.trace;
    programs.json = arguments.json;
    programs.quiet = arguments.quiet;
    return exec_command(programs);
  }
  const scenario::Scenario scenario = load(arguments);
  require_writable(scenario, scenario.trace_path, "trace.path");
  require_writable(scenario, scenario.capture.path, "capture.path");
  require_flows(scenario, arguments.flows);
  const auto start = std::chrono::steady_clock::now();
  const RunResult result = [&] {
    try {
      return run_or_keep_trace(scenario, arguments.json, arguments.why);
    } catch (const RunError&) {
      if (arguments.strong) tell_strong(scenario, arguments.json);
      throw;
    }
  }();
  const Seconds took = std::chrono::steady_clock::now() - start;
  const std::string unwritten = (result.trace ? write_trace(scenario.trace_path, *result.trace) : "") +
                                write_flows(scenario, arguments.flows, result);
  if (!arguments.quiet || !result.consistent()) tell(scenario, result, arguments, took);
  if (arguments.strong && !result.consistent()) tell_strong(scenario, arguments.json);
  say(unwritten);
  return result.consistent() && unwritten.empty() ? kDone : kFailed;
}

int validate_command(const RunArguments& arguments) {
  if (runs_programs(arguments.scenario)) return validate_programs(arguments);
  const scenario::Scenario scenario = load(arguments);
  if (arguments.quiet) return kDone;
  const std::size_t runs = scenario.sweep.runs();
  if (arguments.json) {
    print(nlohmann::ordered_json{{"valid", true},
                                 {"scenario", scenario.name},
                                 {"workload", scenario.workload},
                                 {"nodes", scenario.nodes},
                                 {"hardware", scenario.hardware_name},
                                 {"runs", runs}});
  } else {
    print(fmt::format("{}: valid: {}{}", text::printable(arguments.scenario), headline(scenario),
                      runs > 1 ? fmt::format(", a sweep of {} runs", runs) : ""));
  }
  return kDone;
}

}  // namespace loco::cli
