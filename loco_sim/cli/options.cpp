#include "loco_sim/cli/options.hpp"

#include <cstdint>
#include <limits>

#include "loco_sim/cli/exec_options.hpp"
#include "loco_sim/cli/perf_options.hpp"
#include "loco_sim/cli/usage.hpp"

namespace loco::cli {

namespace {

constexpr std::uint64_t kSeedMax = std::numeric_limits<std::int64_t>::max();  // a scenario's

void add_overrides(CLI::App& command, std::vector<std::string>& set) {
  command.add_option("--set", set, "Overrides one key, e.g. --set topology.nodes=8; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

void add_scenario_options(CLI::App& command, RunArguments& a) {
  command.add_option("scenario", a.scenario, "Scenario file (YAML), or the name of one that comes with the simulator")
      ->required();
  command.add_option("--seed", a.seed, "Seed, in place of the scenario's")->check(whole_number(0, kSeedMax));
  add_overrides(command, a.set);
  command.add_flag("--json", a.json, kJsonHelp);
  command.add_flag("-q,--quiet", a.quiet, "Say nothing when all is well");
}

void add_run(CLI::App& app, RunArguments& a, Chosen& chosen) {
  CLI::App* run = app.add_subcommand("run", "Run a scenario and check it");
  add_scenario_options(*run, a);
  run->add_option("--trace", a.trace, "Write the trace to this file")->type_name("FILE");
  run->add_option("--pcap", a.pcap, "Write the packets of all links to this file, for Wireshark and tshark")
      ->type_name("FILE.pcapng");
  run->add_option("--flows", a.flows, "Write what became of each flow to this file, as CSV")->type_name("FILE.csv");
  run->add_option("--check", a.check, "Models to check, e.g. rdmawait,sv,bal; \"\" for none")->type_name("MODELS");
  run->add_flag("--why", a.why, "What the median operation of each kind went into, stage by stage");
  run->add_flag(
      "--strong", a.strong,
      "If something is wrong, run again with each access in memory before the next: is it a fault of ordering?");
  run->add_flag("-v,--verbose", a.verbose, "What the machine counted, too; on stderr, how long it took");
  run->callback([&] { chosen = [&] { return run_command(a); }; });
}

void add_validate(CLI::App& app, RunArguments& a, Chosen& chosen) {
  CLI::App* validate = app.add_subcommand("validate", "Read a scenario and say whether it is valid");
  add_scenario_options(*validate, a);
  validate->callback([&] { chosen = [&] { return validate_command(a); }; });
}

void add_check(CLI::App& app, CheckArguments& a, Chosen& chosen) {
  CLI::App* check = app.add_subcommand("check", "Check a recorded trace against the memory models");
  check->add_option("trace", a.trace, "Trace file")->required();
  check->add_option("--model", a.models, "Models to check; all that occur in the trace when left out")
      ->type_name("MODELS")
      ->allow_extra_args(false);
  check->add_flag("--tower", a.tower,
                  "Also check that what a library call promises holds between the calls that it is made of");
  check->add_option("--dot", a.dot, "Write the first cycle as Graphviz to this file")->type_name("FILE");
  check->add_flag("--json", a.json, kJsonHelp);
  check->add_flag("-q,--quiet", a.quiet, "Say nothing when all is well");
  check->callback([&] { chosen = [&] { return check_command(a); }; });
}

void add_list(CLI::App& app, ListArguments& a, Chosen& chosen) {
  CLI::App* list =
      app.add_subcommand("list", "Show what there is: hardware, scenarios, topologies, workloads, models, faults");
  list->add_option("what", a.what, "What to list")
      ->required()
      ->check(one_of_words({"hardware", "scenarios", "topologies", "workloads", "models", "faults"}));
  list->add_option("name", a.name, "One of them in full");
  list->add_flag("--json", a.json, kJsonHelp);
  list->callback([&] { chosen = [&] { return list_command(a); }; });
}

/// Commands of the Python package: their arguments are read here, as all others, and handed over.
void add_sweep(CLI::App& app, SweepArguments& a, Chosen& chosen) {
  CLI::App* sweep =
      app.add_subcommand("sweep", "Run a scenario at every point of its sweep (needs the Python package)");
  sweep->add_option("scenario", a.scenario, "Scenario file (YAML) with the key sweep")->required();
  sweep->add_option("-j,--jobs", a.jobs, "Runs at one time; as many as processors when left out")
      ->check(whole_number(1, std::numeric_limits<std::int64_t>::max()));
  sweep
      ->add_option("--out", a.out,
                   "FILE.csv, FILE.json with one object a line, or FILE.parquet: the rows, as they finish; an "
                   "interrupted sweep goes "
                   "on there. stdout, at the end, when left out")
      ->type_name("FILE");
  sweep->add_option("--seeds", a.seeds, "So many seeds at each point")
      ->check(whole_number(1, std::numeric_limits<std::int64_t>::max()));
  add_overrides(*sweep, a.set);
  sweep->add_flag("--restart", a.restart, "Overwrite --out in place of going on");
  sweep->add_flag(
      "--for-spreadsheets", a.for_spreadsheets,
      "In FILE.csv, cells that begin with = + - @ get an apostrophe before it: a spreadsheet computes nothing");
  sweep->add_flag("-q,--quiet", a.quiet, "No progress bar");
  sweep->callback([&] { chosen = [&] { return sweep_command(a); }; });
}

void add_report(CLI::App& app, ReportArguments& a, Chosen& chosen) {
  CLI::App* report = app.add_subcommand("report", "Write one HTML page about a run (needs the Python package)");
  report->add_option("result", a.result, "A result (run --json, or Result.save in Python), or a scenario to run")
      ->required();
  report->add_option("-o,--out", a.out, "HTML file to write")->required()->type_name("FILE");
  report->add_option("--seed", a.seed, "Seed, where a scenario is given")->check(whole_number(0, kSeedMax));
  add_overrides(*report, a.set);
  report->callback([&] { chosen = [&] { return report_command(a); }; });
}

void add_conformance(CLI::App& app, ConformanceArguments& a, Chosen& chosen) {
  CLI::App* command =
      app.add_subcommand("conformance", "Run litmus tests on a device of libibverbs: is it as the model says?");
  command->add_option("device", a.device, "Its name, as ibv_devices has it")->required();
  command->add_option("files", a.files, "Litmus documents (YAML), or folders of them")->required();
  command->add_option("--test", a.tests, "Only the test of this name; may be repeated");
  command->add_option("--runs", a.runs, "Of each test")
      ->capture_default_str()
      ->check(whole_number(1, std::numeric_limits<std::int64_t>::max()));
  command->add_option("--seed", a.seed, "Of when threads begin")
      ->capture_default_str()
      ->check(whole_number(0, kSeedMax));
  command->add_flag("--json", a.json, kJsonHelp);
  command->callback([&] { chosen = [&] { return conformance_command(a); }; });
}

void add_new(CLI::App& app, std::string& project_folder, Chosen& chosen) {
  CLI::App* project =
      app.add_subcommand("new", "Write a C++ project that uses the simulator: a LOCO and a verbs program");
  project->add_option("folder", project_folder, "Folder of the project, which is made")->required();
  project->callback([&] { chosen = [&] { return new_command(project_folder); }; });
}

void add_schema(CLI::App& app, bool& reference, Chosen& chosen) {
  CLI::App* schema = app.add_subcommand("schema", "Print the scenario format as a JSON schema");
  schema->add_flag("--reference", reference, "Print Markdown tables of all keys in its place");
  schema->callback([&] { chosen = [&] { return schema_command(reference); }; });
}

void add_trace(CLI::App& app, ExportArguments& a, Chosen& chosen) {
  CLI::App* trace = app.add_subcommand("trace", "Work on trace files")->require_subcommand(1);
  CLI::App* trace_export = trace->add_subcommand("export", "Write a trace in another format");
  trace_export->add_option("trace", a.trace, "Trace file")->required();
  trace_export->add_option("--to", a.to, "Format")->required()->check(one_of_words({"perfetto", "dot", "csv", "text"}));
  trace_export->add_option("--limit", a.limit, "Of dot: draw so many accesses at most (default 200)")
      ->check(whole_number(0, std::numeric_limits<std::size_t>::max()));
  trace_export->add_option("--out", a.out, "File to write; stdout when left out")->type_name("FILE");
  trace_export->callback([&] { chosen = [&] { return trace_export_command(a); }; });
}

}  // namespace

void add_commands(CLI::App& app, Arguments& a, Chosen& chosen) {
  add_run(app, a.run, chosen);
  add_validate(app, a.run, chosen);
  add_check(app, a.check, chosen);
  add_list(app, a.list, chosen);
  add_model_commands(app, a, chosen);
  add_perf(app, a.perf, a.perf_validate, chosen);
  add_exec(app, a.exec, chosen);
  add_sweep(app, a.sweep, chosen);
  add_report(app, a.report, chosen);
  add_conformance(app, a.conformance, chosen);
  add_new(app, a.project, chosen);
  add_schema(app, a.reference, chosen);
  add_trace(app, a.trace_export, chosen);
}

}  // namespace loco::cli
