// loco-sim exec: other people's verbs programs on simulated hosts.
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "exec/run.hpp"
#include "loco_sim/cli/commands.hpp"
#include "loco_sim/cli/exec_scenario.hpp"
#include "loco_sim/cli/output.hpp"
#include "loco_sim/cli/usage.hpp"
#include "loco_sim/cli/verbs_verdict.hpp"
#include "loco_sim/scenario/hardware.hpp"
#include "loco_sim/scenario/scenario.hpp"
#include "sim/host_memory.hpp"
#include "text/words.hpp"
#include "trace/file.hpp"
#include "yaml/node.hpp"

namespace loco::cli {

namespace {

using nlohmann::ordered_json;

constexpr const char* kUsage = "-- PROGRAM ARGS [, PROGRAM ARGS]";

/// One program a host, parted by lone commas; a single one runs on all, and all but the first get its host's name.
std::vector<exec::ProgramSpec> programs_of(const ExecArguments& a) {
  std::vector<exec::ProgramSpec> programs(1);
  for (const std::string& word : a.programs) {
    if (word == ",") {
      programs.emplace_back();
    } else {
      programs.back().command.push_back(word);
    }
  }
  for (const exec::ProgramSpec& program : programs)
    if (program.command.empty()) throw UsageError(fmt::format("loco-sim exec: expected {}, found no program", kUsage));
  if (programs.size() == 1) {
    programs.resize(a.hosts, programs[0]);
    for (std::size_t host = 1; host < programs.size(); ++host) programs[host].command.emplace_back("node0");
  }
  if (programs.size() > exec::kProgramsMax)
    throw UsageError(
        fmt::format("loco-sim exec: expected at most {} programs, found {}", exec::kProgramsMax, programs.size()));
  return programs;
}

/// What runs, and the file of its trace: the command's, or the scenario's.
ProgramsScenario programs_to_run(const ExecArguments& a) {
  if (!a.scenario.empty()) {
    if (!a.programs.empty()) throw UsageError("loco-sim exec: expected a scenario or programs behind --, found both");
    std::vector<scenario::Override> overrides;
    for (const std::string& set : a.set) overrides.push_back(scenario::parse_set(set));
    if (a.seed) overrides.push_back({"seed", fmt::format("{}", *a.seed), "--seed"});
    ProgramsScenario out = load_programs(a.scenario, overrides);
    if (!a.trace.empty()) out.trace_path = a.trace;
    return out;
  }
  if (a.programs.empty()) throw UsageError(fmt::format("loco-sim exec: expected a scenario, or {}", kUsage));
  ProgramsScenario out{.options = {}, .trace_path = a.trace};
  exec::Options& o = out.options;
  o.programs = programs_of(a);
  const scenario::Hardware hardware = named_hardware("loco-sim exec: --hardware", a.hardware, a.set);
  o.system.profile = hardware.profile;
  o.system.nodes = static_cast<std::uint32_t>(std::max<std::size_t>(2, o.programs.size()));
  o.system.topology = a.topology == "back_to_back" ? fabric::Topology::back_to_back : fabric::Topology::star;
  o.infiniband = hardware.name.find("-ib-") != std::string::npos;
  o.seed = a.seed.value_or(1);
  return out;
}

void set_output(const ExecArguments& a, exec::Options& o) {
  o.record = a.record;
  o.compare = a.compare;
  o.keep_going = a.keep_going;
  o.checks = a.check;
  o.lockstep = a.lockstep;
  o.every_packet = a.every_packet;
  o.terminal = a.terminal;
  o.trace_bytes_max = sim::memory_share();
  o.debug = a.debug;
  if (a.debug && (*a.debug >= o.programs.size() || o.programs[*a.debug].command.empty()))
    throw UsageError(fmt::format("loco-sim exec: --debug: expected a host with a program, found {}", *a.debug));
  o.output_folder = a.output;
  if (a.json) {
    o.output = exec::Output::captured;
  } else if (!a.output.empty()) {
    o.output = exec::Output::files;
  } else if (a.prefix || isatty(1) != 0) {
    o.output = exec::Output::prefixed;
  }
}

std::string ending(const exec::ProgramResult& p) {
  if (p.signal != 0) return fmt::format("signal {}", p.signal);
  return fmt::format("status {}", p.status);
}

std::string report(const exec::Result& r) {
  std::string out = fmt::format("simulated {:.3f} ms in {:.3f} s, {} changes of control (",
                                static_cast<double>(r.simulated.ps) * 1e-9, r.wall_seconds, r.changes_of_control);
  bool first = true;
  for (const auto& [name, count] : r.changes) {
    out += fmt::format("{}{} {}", first ? "" : ", ", name, count);
    first = false;
  }
  out += fmt::format(")\nnetwork: {} packets, {} bytes, {} completions\n", r.counters.packets_sent,
                     r.counters.wire_bytes_sent, r.counters.completions);
  if (r.packets_left_out != 0) out += fmt::format("left out: {} packets like those before them\n", r.packets_left_out);
  const auto list = [&out](const char* what, const std::vector<std::string>& lines) {
    for (const std::string& line : lines) out += fmt::format("{}: {}\n", what, text::printable(line));
  };
  list("mistake", r.mistakes);
  list("waits on memory", r.spins);
  list("approximated", r.approximations);
  list("not supported", r.unsupported);
  list("not deterministic", r.not_deterministic);
  return out + fmt::format("fingerprint: {}\n", r.fingerprint);
}

/// How much of the run the trace has.
const char* covers(const exec::Result& r) {
  return r.accesses_told ? "requests, completions, NICs' accesses, and loads and stores of registered memory that the "
                           "program tells of"
                         : "requests, completions and NICs' accesses; loads and stores as well of programs compiled "
                           "with -fsanitize=thread";
}

ordered_json to_json(const exec::Result& r, bool checked, const std::optional<VerbsVerdict>& verdict) {
  ordered_json out;
  for (const exec::ProgramResult& p : r.programs) {
    ordered_json program = {{"host", p.host}, {"command", p.command}, {"status", p.status}};
    if (p.signal != 0) program["signal"] = p.signal;
    program["ended_us"] = static_cast<double>(p.ended.ps) * 1e-6;
    program["stdout"] = p.out;
    program["stderr"] = p.err;
    out["programs"].push_back(program);
  }
  out["status"] = r.status;
  if (!r.failure.empty()) out["failure"] = r.failure;
  if (!r.difference.empty()) out["difference"] = r.difference;
  out["simulated_ps"] = r.simulated.ps;
  out["wall_seconds"] = r.wall_seconds;
  out["changes_of_control"] = r.changes_of_control;
  for (const auto& [name, count] : r.changes) out["changes"][name] = count;
  for (const nic::NamedCounter& counter : nic::kCounters) out["counters"][counter.name] = r.counters.*counter.member;
  out["packets_left_out"] = r.packets_left_out;
  if (checked) {
    out["mistakes"] = r.mistakes;
    out["loads_and_stores_checked"] = r.accesses_told;
  }
  if (verdict) {
    out["verdict"] = verdict->json;
    out["verdict"]["covers"] = covers(r);
  }
  out["waits_on_memory"] = r.spins;
  out["approximated"] = r.approximations;
  out["not_supported"] = r.unsupported;
  out["not_deterministic"] = r.not_deterministic;
  out["fingerprint"] = r.fingerprint;
  return out;
}

}  // namespace

int exec_command(const ExecArguments& a) {
  try {
    if (a.libraries) {
      print(fmt::format("{}\n", exec::shim_folder()));
      return 0;
    }
    ProgramsScenario what = programs_to_run(a);
    exec::Options& options = what.options;
    options.trace = !what.trace_path.empty();
    set_output(a, options);
    options.shim_folder = exec::shim_folder();
    if (options.trace) require_place_of(what.trace_path);
    exec::Result result = exec::run(options);
    std::optional<VerbsVerdict> verdict;
    if (result.trace) {
      trace::write_trace_file(what.trace_path, *result.trace);
      verdict = judge_verbs(*result.trace);
      if (!verdict->consistent && result.status == 0) result.status = kFailed;
    }
    if (a.json) print(to_json(result, options.checks, verdict));
    if (!result.failure.empty()) say(fmt::format("loco-sim exec: {}\n", text::printable(result.failure)));
    if (!result.difference.empty()) say(fmt::format("another run: {}\n", text::printable(result.difference)));
    for (const exec::ProgramResult& p : result.programs) {
      if (p.status == 0 && p.signal == 0) continue;
      if (result.failure.empty() || p.signal == 0)
        say(fmt::format("host {} ({}): {}\n", p.host, text::printable(p.command[0]), ending(p)));
    }
    if (a.check && !result.accesses_told)
      say("checked: requests among themselves; loads and stores of programs compiled with -fsanitize=thread as well\n");
    if (verdict && !a.json && (!a.quiet || !verdict->right))
      say(fmt::format("{}judged: {}\n", verdict->text, covers(result)));
    if (!a.json && (!a.quiet || result.status != 0)) say(report(result));
    return result.status;
  } catch (const exec::RefusedProgram& error) {
    throw UsageError(fmt::format("loco-sim exec: {}", error.what()));
  }
}

}  // namespace loco::cli
