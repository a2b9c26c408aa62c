// The commands and their options as tables. Commands that Python has, too, have their tables in loco_sim/commands.
#include "loco_sim/cli/options.hpp"

#include <array>
#include <cstdint>
#include <limits>

#include "loco_sim/cli/exec_options.hpp"
#include "loco_sim/cli/perf_options.hpp"
#include "loco_sim/cli/rows.hpp"
#include "loco_sim/cli/usage.hpp"
#include "loco_sim/commands/rows.hpp"
#include "model/litmus/language/statements.hpp"

namespace loco::cli {

namespace {

using commands::kJson;
using commands::kTimes;
using options::Row;
using options::row;

constexpr std::uint64_t kSeedMax = std::numeric_limits<std::int64_t>::max();  // a scenario's
constexpr std::uint64_t kMany = std::numeric_limits<std::int64_t>::max();
constexpr std::string_view kSet = "Overrides one key, e.g. --set topology.nodes=8; may be repeated";
constexpr std::string_view kQuiet = "Say nothing when all is well";

using Run = RunArguments;
constexpr std::array kScenario = {
    row<&Run::scenario>("scenario", "Scenario file (YAML), or the name of one that comes with the simulator",
                        {.required = true}),
    row<&Run::seed>("--seed", "Seed, in place of the scenario's", {.most = kSeedMax}),
    row<&Run::set>("--set", kSet, {.value = "KEY=VALUE", .one_a_time = true}),
    row<&Run::json>("--json", kJson),
    row<&Run::quiet>("-q,--quiet", kQuiet),
};
constexpr std::array kRun = {
    row<&Run::trace>("--trace", "Write the trace to this file", {.value = "FILE"}),
    row<&Run::pcap>("--pcap", "Write the packets of all links to this file, for Wireshark and tshark",
                    {.value = "FILE.pcapng"}),
    row<&Run::flows>("--flows", "Write what became of each flow to this file, as CSV", {.value = "FILE.csv"}),
    row<&Run::check>("--check", "Models to check, e.g. rdmawait,sv,bal; \"\" for none", {.value = "MODELS"}),
    row<&Run::why>("--why", "What the median operation of each kind went into, stage by stage"),
    row<&Run::strong>(
        "--strong",
        "If something is wrong, run again with each access in memory before the next: is it a fault of ordering?"),
    row<&Run::verbose>("-v,--verbose", "What the machine counted, too; on stderr, how long it took"),
};

using Check = CheckArguments;
constexpr std::array kCheck = {
    row<&Check::trace>("trace", "Trace file", {.required = true}),
    row<&Check::models>("--model", "Models to check; all that occur in the trace when left out",
                        {.value = "MODELS", .one_a_time = true}),
    row<&Check::tower>("--tower",
                       "Also check that what a library call promises holds between the calls that it is made of"),
    row<&Check::dot>("--dot", "Write the first cycle as Graphviz to this file", {.value = "FILE"}),
    row<&Check::json>("--json", kJson),
    row<&Check::quiet>("-q,--quiet", kQuiet),
};

using List = ListArguments;
constexpr std::array<std::string_view, 6> kListed = {"hardware",  "scenarios", "topologies",
                                                     "workloads", "models",    "faults"};
constexpr std::array kList = {
    row<&List::what>("what", "What to list", {.choices = kListed, .required = true}),
    row<&List::name>("name", "One of them in full"),
    row<&List::json>("--json", kJson),
};

using Sweep = SweepArguments;
constexpr std::array kSweep = {
    row<&Sweep::scenario>("scenario", "Scenario file (YAML) with the key sweep", {.required = true}),
    row<&Sweep::jobs>("-j,--jobs", "Runs at one time; as many as processors when left out",
                      {.least = 1, .most = kMany}),
    row<&Sweep::out>("--out",
                     "FILE.csv, FILE.json with one object a line, or FILE.parquet: the rows, as they finish; an "
                     "interrupted sweep goes on there. stdout, at the end, when left out",
                     {.value = "FILE"}),
    row<&Sweep::seeds>("--seeds", "So many seeds at each point", {.least = 1, .most = kMany}),
    row<&Sweep::set>("--set", kSet, {.value = "KEY=VALUE", .one_a_time = true}),
    row<&Sweep::restart>("--restart", "Overwrite --out in place of going on"),
    row<&Sweep::for_spreadsheets>(
        "--for-spreadsheets",
        "In FILE.csv, cells that begin with = + - @ get an apostrophe before it: a spreadsheet computes nothing"),
    row<&Sweep::quiet>("-q,--quiet", "No progress bar"),
};

using Report = ReportArguments;
constexpr std::array kReport = {
    row<&Report::result>("result", "A result (run --json, or Result.save in Python), or a scenario to run",
                         {.required = true}),
    row<&Report::out>("-o,--out", "HTML file to write", {.value = "FILE", .required = true}),
    row<&Report::seed>("--seed", "Seed, where a scenario is given", {.most = kSeedMax}),
    row<&Report::set>("--set", kSet, {.value = "KEY=VALUE", .one_a_time = true}),
};

using Conformance = ConformanceArguments;
constexpr std::array kConformance = {
    row<&Conformance::device>("device", "Its name, as ibv_devices has it", {.required = true}),
    row<&Conformance::files>("files", "Litmus documents (YAML), or folders of them", {.required = true}),
    row<&Conformance::tests>("--test", "Only the test of this name; may be repeated"),
    row<&Conformance::runs>("--runs", "Of each test", {.least = 1, .most = kMany, .shows_default = true}),
    row<&Conformance::seed>("--seed", "Of when threads begin", {.most = kSeedMax, .shows_default = true}),
    row<&Conformance::json>("--json", kJson),
};

constexpr std::array kNew = {
    row<&Arguments::project>("folder", "Folder of the project, which is made", {.required = true})};
constexpr std::array kSchema = {
    row<&Arguments::reference>("--reference", "Print Markdown tables of all keys in its place")};

using Export = ExportArguments;
constexpr std::array<std::string_view, 4> kFormats = {"perfetto", "dot", "csv", "text"};
constexpr std::array kExport = {
    row<&Export::trace>("trace", "Trace file", {.required = true}),
    row<&Export::to>("--to", "Format", {.choices = kFormats, .required = true}),
    row<&Export::limit>("--limit", "Of dot: draw so many accesses at most (default 200)"),
    row<&Export::out>("--out", "File to write; stdout when left out", {.value = "FILE"}),
};

using Soundness = SoundnessArguments;
constexpr std::array<std::string_view, 6> kLibraries = {"rdmawait", "sv", "bal", "rbl", "msw", "lock"};
constexpr std::array<std::string_view, 3> kClasses = {"weak", "node", "strong"};
constexpr std::array<std::string_view, 9> kBugs = {"barrier_without_fence",
                                                   "barrier_fences_others",
                                                   "guards_forward",
                                                   "fence_without_wait",
                                                   "wait_without_poll",
                                                   "release_before_data",
                                                   "no_fence",
                                                   "get_and_put",
                                                   "home_cas"};
constexpr std::array kSoundness = {
    row<&Soundness::library>("--library,library", "rdmawait, sv, bal, rbl, msw or lock",
                             {.choices = kLibraries, .required = true}),
    row<&Soundness::lock_class>(
        "--class",
        "lock: what is before the next holder: what CPUs wrote; that, and what was done to the lock's node; everything",
        {.choices = kClasses, .shows_default = true}),
    row<&Soundness::threads>("--threads", "Threads of a client, at most",
                             {.least = 1, .most = 8, .shows_default = true}),
    row<&Soundness::calls>("--calls", "Calls of each thread, at most", {.least = 1, .most = 16, .shows_default = true}),
    row<&Soundness::bug>("--bug",
                         "A mistake to find: barrier_without_fence, barrier_fences_others (bal), guards_forward (msw), "
                         "fence_without_wait (sv), wait_without_poll (rdmawait); of locks release_before_data, "
                         "no_fence, get_and_put, home_cas",
                         {.choices = kBugs}),
    row<&Soundness::promises>("--promises",
                              "sv, bal, rbl, msw: in every execution of the clients each promise is kept (Def. 3.13), "
                              "also those that no small client sees"),
    row<&Soundness::transitive>("--transitive", "bal: the barrier that fences towards all nodes"),
    row<&Soundness::guards>("--guards", "msw: guards on both sides of the data in place of a hash"),
    row<&Soundness::ring_cells>("--ring-cells", "rbl: cells of a buffer; a message takes two (default 8)",
                                {.least = 2, .most = 64}),
    row<&Soundness::max_clients>("--max-clients", "Stop after so many clients; 0 is no limit"),
    row<&Soundness::max_executions>("--max-executions",
                                    "With --promises: look at so many executions of a client (default 20000); 0 is no "
                                    "limit",
                                    {.needs = "--promises"}),
    row<&Soundness::max_seconds>("--max-seconds", "Stop after so many seconds; 0 is no limit"),
    row<&Soundness::json>("--json", kJson),
    row<&Soundness::times>("--times", kTimes, {.needs = "--json"}),
};

/// Adds a command with its options; `does` runs it. The rows' members are those of `given`.
template <class Given, class Does>
CLI::App& add(CLI::App& app, const char* name, const char* doc, std::span<const Row> rows, Given& given, Chosen& chosen,
              Does does) {
  CLI::App* const command = app.add_subcommand(name, doc);
  add_rows(*command, rows, &given);
  command->callback([&given, &chosen, does] { chosen = [&given, does] { return does(given); }; });
  return *command;
}

void add_model_commands(CLI::App& app, Arguments& a, Chosen& chosen) {
  using commands::rows;
  add(app, "litmus", "Run litmus tests", rows<commands::Litmus>(), a.litmus, chosen, litmus_command)
      .get_option("--model")
      ->check(one_of_words(model::litmus::model_names()));
  add(app, "generate", "Generate every coreRMA test in which a rule matters", rows<commands::Generate>(), a.generate,
      chosen, generate_command);
  add(app, "corerma", "Run the coreRMA paper's evaluation on the networks that it tested", rows<commands::Corerma>(),
      a.corerma, chosen, corerma_command);
  add(app, "fit", "Find the strongest coreRMA rules that a network keeps", rows<commands::Fit>(), a.fit, chosen,
      fit_command);
  add(app, "robust", "Say whether programs need weak memory to be understood, and what would end that",
      rows<commands::Robust>(), a.robust, chosen, robust_command);
  add(app, "soundness", "Compare a library's implementation with its specification on all small clients", kSoundness,
      a.soundness, chosen, soundness_command);
  add(app, "verify", "Prove that RMA programs keep their properties, or show how they break", rows<commands::Verify>(),
      a.verify, chosen, verify_command);
}

}  // namespace

void add_commands(CLI::App& app, Arguments& a, Chosen& chosen) {
  add_rows(add(app, "run", "Run a scenario and check it", kScenario, a.run, chosen, run_command), kRun, &a.run);
  add(app, "validate", "Read a scenario and say whether it is valid", kScenario, a.run, chosen, validate_command);
  add(app, "check", "Check a recorded trace against the memory models", kCheck, a.check, chosen, check_command);
  add(app, "list", "Show what there is: hardware, scenarios, topologies, workloads, models, faults", kList, a.list,
      chosen, list_command);
  add_model_commands(app, a, chosen);
  add_perf(app, a.perf, a.perf_validate, chosen);
  add_exec(app, a.exec, chosen);
  // Commands of the Python package: their arguments are read here, as all others, and handed over.
  add(app, "sweep", "Run a scenario at every point of its sweep (needs the Python package)", kSweep, a.sweep, chosen,
      sweep_command);
  add(app, "report", "Write one HTML page about a run (needs the Python package)", kReport, a.report, chosen,
      report_command);
  add(app, "conformance", "Run litmus tests on a device of libibverbs: is it as the model says?", kConformance,
      a.conformance, chosen, conformance_command);
  add(app, "new", "Write a C++ project that uses the simulator: a LOCO and a verbs program", kNew, a, chosen,
      [](const Arguments& given) { return new_command(given.project); });
  add(app, "schema", "Print the scenario format as a JSON schema", kSchema, a, chosen,
      [](const Arguments& given) { return schema_command(given.reference); });
  CLI::App* trace = app.add_subcommand("trace", "Work on trace files")->require_subcommand(1);
  add(*trace, "export", "Write a trace in another format", kExport, a.trace_export, chosen, trace_export_command);
}

}  // namespace loco::cli
