// loco-sim: the command line. Results on stdout, everything else on stderr.
// Exit codes: 0 done and consistent, 1 a check failed or the run could not go on, 2 bad input, 3 (verify) unknown.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <new>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include "loco_sim/cli/commands.hpp"
#include "loco_sim/cli/help.hpp"
#include "loco_sim/cli/output.hpp"
#include "loco_sim/cli/outputs.hpp"
#include "loco_sim/cli/perf_options.hpp"
#include "loco_sim/cli/usage.hpp"
#include "model/corerma/generate.hpp"
#include "model/litmus/statements.hpp"
#include "sim/host_memory.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"
#include "trace/file.hpp"
#include "trace/whole_file.hpp"

namespace {

using loco::cli::add_number;
using loco::cli::kBadInput;
using loco::cli::one_of_words;

constexpr std::uint64_t kSeedMax = std::numeric_limits<std::int64_t>::max();  // a scenario's

struct Arguments {
  loco::cli::RunArguments run;
  loco::cli::CheckArguments check;
  loco::cli::ListArguments list;
  loco::cli::ExportArguments trace_export;
  bool reference = false;
  std::string shell;
  loco::cli::LitmusArguments litmus;
  loco::cli::GenerateArguments generate;
  loco::cli::CorermaArguments corerma;
  loco::cli::FitArguments fit;
  loco::cli::SoundnessArguments soundness;
  loco::cli::PerfArguments perf;
  loco::cli::VerifyArguments verify;
  loco::cli::PerfValidateArguments perf_validate;
  std::string project;
  loco::cli::SweepArguments sweep;
  loco::cli::ReportArguments report;
};

constexpr const char* kJsonHelp = "Print JSON in place of text";

void add_overrides(CLI::App& command, std::vector<std::string>& set) {
  command.add_option("--set", set, "Overrides one key, e.g. --set topology.nodes=8; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

void add_scenario_options(CLI::App& command, loco::cli::RunArguments& a) {
  command.add_option("scenario", a.scenario, "Scenario file (YAML), or the name of one that comes with the simulator")
      ->required();
  command.add_option("--seed", a.seed, "Seed, in place of the scenario's")->check(loco::cli::whole_number(0, kSeedMax));
  add_overrides(command, a.set);
  command.add_flag("--json", a.json, kJsonHelp);
  command.add_flag("-q,--quiet", a.quiet, "Say nothing when all is well");
}

void add_litmus(CLI::App& app, loco::cli::LitmusArguments& a, std::function<int()>& chosen) {
  CLI::App* litmus = app.add_subcommand("litmus", "Run litmus tests");
  litmus->add_option("files", a.files, "Litmus documents (YAML), or folders of them")->required();
  litmus->add_option("--test", a.tests, "Only the test of this name; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  litmus->add_option("--model", a.model, "Model, in place of the documents' own")
      ->check(one_of_words(loco::model::litmus::model_names()));
  litmus->add_option("--rules", a.rules, "In place of a model, coreRMA with these rules: R1,R2,F1,F2,F3,PG,GA,CAS,...");
  litmus
      ->add_option("--engine", a.engine,
                   "declarative: the model's executions; explore: the hardware under every schedule; sample: under "
                   "random schedules; all: compare them")
      ->check(one_of_words({"declarative", "explore", "sample", "all"}))
      ->capture_default_str();
  add_number(*litmus, "--runs", a.runs, "Runs of the engine sample", 1, std::uint64_t{1} << 40U)->capture_default_str();
  add_number(*litmus, "--seed", a.seed, "Seed of the engine sample")->capture_default_str();
  litmus->add_option("--hardware", a.hardware, "Hardware profile of explore and sample")->capture_default_str();
  add_number(*litmus, "--max-executions", a.max_executions, "Executions a test of the engine explore; 0 is no limit");
  litmus
      ->add_option("--max-seconds", a.max_seconds,
                   "Time limit of each engine for a test, which is then incomplete; 0 is none")
      ->check(loco::cli::seconds());
  litmus
      ->add_option("--flip", a.flip,
                   "Turn a cell of the stamp order round, e.g. E8: which tests notice? (engine declarative)")
      ->type_name("CELL");
  litmus
      ->add_option("--variant", a.variants,
                   "transitive-barriers: all fence every node; weak-ring-buffers: those of Section 5.2 of the LOCO "
                   "paper (engine declarative); may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  litmus->add_option("--witness", a.witness, "Show an execution with this outcome, e.g. \"a=0 b=1\"");
  litmus->add_option("--explain", a.explain, "Show why this outcome is impossible");
  litmus
      ->add_option("--dot", a.dot,
                   "Write the drawing of --witness or --explain to this file, further ones to FILE-2, FILE-3, ...; "
                   "\"-\": print the first in place of the text")
      ->type_name("FILE");
  litmus->add_flag("--json", a.json, kJsonHelp);
  litmus->add_flag("--quiet", a.quiet, "Only failures and a summary");
  litmus->callback([&] { chosen = [&] { return loco::cli::litmus_command(a); }; });
}

void add_generate(CLI::App& app, loco::cli::GenerateArguments& a, std::function<int()>& chosen) {
  CLI::App* generate = app.add_subcommand("generate", "Generate every coreRMA test in which a rule matters");
  generate->add_option("--pivot", a.pivot, "The rule: R1, R2, F1, F2, F3, PG, GA, CAS, LO, WS, IR, ...")->required();
  namespace corerma = loco::model::corerma;
  add_number(*generate, "--size", a.size, "Actions and variables of a program, at most", corerma::kSizeMin,
             corerma::kSizeMax)
      ->required();
  add_number(*generate, "--processes", a.processes, "Processes of a program", 1, corerma::kProcessesMax)
      ->capture_default_str();
  generate->add_option("--hosts", a.hosts, "Hosts: beyond the processes' own they hold variables only")
      ->check(loco::cli::whole_number(1, corerma::kHostsMax));
  generate->add_option("--statements", a.statements, "Some of read,write,put,get,flush,rga,cas (default all)");
  generate->add_option("--rules", a.rules, "A rule set by name, or R1,R2,F1,... (default corerma)");
  generate->add_option("--reads", a.reads, "any: each writer is read locally; one: by exactly one local read")
      ->check(one_of_words({"any", "one"}))
      ->capture_default_str();
  generate->add_flag("--count", a.count, "Only count them, by size");
  generate->add_option("--after", a.after, "Go on after the test of this name; -o FILE is appended to")
      ->type_name("NAME");
  add_number(*generate, "--limit", a.limit, "Stop after so many tests; 0 is no limit");
  add_number(*generate, "--sample", a.sample, "At most so many tests, evenly spread over all; 0 is all");
  generate->add_option("-o,--out", a.out, "Write to this file")->type_name("FILE");
  generate->add_flag("--anyway", a.anyway, "Begin even if there are too many programs to come to an end");
  generate->add_flag("--json", a.json, kJsonHelp);
  generate->callback([&] { chosen = [&] { return loco::cli::generate_command(a); }; });
}

void add_corerma(CLI::App& app, loco::cli::CorermaArguments& a, std::function<int()>& chosen) {
  CLI::App* corerma =
      app.add_subcommand("corerma", "Run the coreRMA paper's evaluation on the networks that it tested");
  corerma->add_option("--size", a.size, "paper: the bounds of its Table 6; small: three actions less, and few tests")
      ->check(one_of_words({"paper", "small"}))
      ->capture_default_str();
  add_number(*corerma, "--tests", a.tests,
             "At most so many tests for each row, evenly spread (default 300 or the paper's number)");
  add_number(*corerma, "-j,--jobs", a.jobs, "Threads that run tests", 1, 256)->capture_default_str();
  corerma->add_option("-o,--out", a.out, "Write to this file: .html, .json or .csv")->type_name("FILE");
  corerma->add_flag("--json", a.json, kJsonHelp);
  corerma->callback([&] { chosen = [&] { return loco::cli::corerma_command(a); }; });
}

void add_fit(CLI::App& app, loco::cli::FitArguments& a, std::function<int()>& chosen) {
  CLI::App* fit = app.add_subcommand("fit", "Find the strongest coreRMA rules that a network keeps");
  fit->add_option("--hardware", a.hardware, "Hardware profile: a name or a file")->required();
  fit->add_option("--set", a.set, "Change a field of the profile: nic.placement=unordered")->type_name("KEY=VALUE");
  fit->add_option("--fabric", a.fabric,
                  "routing=deterministic or ecmp: one path; adaptive or spray: many (default many)")
      ->type_name("KEY=VALUE");
  add_number(*fit, "--tests", a.tests, "Tests for each rule and number of processes, the smallest ones", 1)
      ->capture_default_str();
  fit->add_flag("--json", a.json, kJsonHelp);
  fit->callback([&] { chosen = [&] { return loco::cli::fit_command(a); }; });
}

void add_soundness(CLI::App& app, loco::cli::SoundnessArguments& a, std::function<int()>& chosen) {
  CLI::App* soundness =
      app.add_subcommand("soundness", "Compare a library's implementation with its specification on all small clients");
  soundness->add_option("--library", a.library, "sv, bal, rbl or msw")
      ->required()
      ->check(one_of_words({"sv", "bal", "rbl", "msw"}));
  add_number(*soundness, "--threads", a.threads, "Threads of a client, at most", 1, 8)->capture_default_str();
  add_number(*soundness, "--calls", a.calls, "Calls of each thread, at most", 1, 16)->capture_default_str();
  soundness
      ->add_option("--bug", a.bug,
                   "A mistake to find: barrier_without_fence (bal), guards_forward (msw), fence_without_wait (sv)")
      ->check(one_of_words({"barrier_without_fence", "guards_forward", "fence_without_wait"}));
  soundness->add_flag("--transitive", a.transitive, "bal: the barrier that fences towards all nodes");
  soundness->add_flag("--guards", a.guards, "msw: guards on both sides of the data in place of a hash");
  soundness->add_option("--ring-cells", a.ring_cells, "rbl: cells of a buffer; a message takes two (default 8)")
      ->check(loco::cli::whole_number(2, 64));
  add_number(*soundness, "--max-clients", a.max_clients, "Stop after so many clients; 0 is no limit");
  soundness->add_option("--max-seconds", a.max_seconds, "Stop after so many seconds; 0 is no limit")
      ->check(loco::cli::seconds());
  soundness->add_flag("--json", a.json, kJsonHelp);
  soundness->callback([&] { chosen = [&] { return loco::cli::soundness_command(a); }; });
}

void add_verify(CLI::App& app, loco::cli::VerifyArguments& a, std::function<int()>& chosen) {
  CLI::App* verify =
      app.add_subcommand("verify", "Prove that RMA programs keep their properties, or show how they break");
  verify->add_option("files", a.files, "RMA programs (docs/verify.md)")->required();
  verify
      ->add_option("--network", a.network,
                   "What orders operations: nothing, the target of a process, puts and gets, all")
      ->check(one_of_words({"unordered", "in-order", "verbs", "sc"}))
      ->capture_default_str();
  verify
      ->add_option(
          "--engine", a.engine,
          "explicit: every schedule, on concrete values; predicates: numbers without bound; extrapolate: the paper's "
          "method; auto: one engine after the other until one knows")
      ->check(one_of_words(loco::cli::verify_engine_names()))
      ->capture_default_str();
  verify->add_flag("--search-flushes", a.search_flushes, "All smallest sets of the flushes that suffice");
  verify->add_flag("--where", a.where, "The same, for a flush after every remote statement in place of the program's");
  add_number(*verify, "--pending", a.pending, "Pending instances of a remote statement told apart, at most", 1, 64)
      ->capture_default_str();
  verify->add_option("--max-seconds", a.max_seconds, "Time limit a program; 0 is none")
      ->check(loco::cli::seconds())
      ->capture_default_str();
  add_number(*verify, "--max-memory", a.max_memory, "Memory for the points of a search, in MiB", 1, 1U << 20U)
      ->capture_default_str();
  add_number(*verify, "--jobs", a.jobs, "Programs checked at a time", 1, 1024)->capture_default_str();
  verify->add_option("--replay", a.replay, "Take a trace that --json printed step by step, in place of searching")
      ->type_name("FILE");
  verify
      ->add_option("--replay-on", a.replay_on,
                   "Does the counterexample show on this hardware? A profile or a file; may be given several times")
      ->type_name("HARDWARE")
      ->allow_extra_args(false);
  verify->add_option("--predicates", a.predicates, "Predicates to begin with: an expression a line")->type_name("FILE");
  verify->add_option("--certificate", a.certificate, "Write a proof of a safe program that can be checked")
      ->type_name("FILE");
  verify->add_option("--check-certificate", a.check_certificate, "Check such a proof with Z3, in place of searching")
      ->type_name("FILE");
  verify
      ->add_option("--dump", a.dump,
                   "Print a step of engine extrapolate in place of searching: the boolean program, the reduction "
                   "without a network, or the extrapolated boolean program")
      ->check(one_of_words({"bp", "reduced", "ebp"}));
  verify
      ->add_option("--dot", a.dot,
                   "Write the first counterexample as a drawing to this file; \"-\": print it in place of text")
      ->type_name("FILE");
  verify->add_option("-o,--out", a.out, "Write a report page to this file, too")->type_name("FILE.html");
  verify->add_flag("--json", a.json, kJsonHelp);
  verify->callback([&] { chosen = [&] { return loco::cli::verify_command(a); }; });
}

/// Commands of the Python package: their arguments are read here, as all others, and handed over.
void add_sweep(CLI::App& app, loco::cli::SweepArguments& a, std::function<int()>& chosen) {
  CLI::App* sweep =
      app.add_subcommand("sweep", "Run a scenario at every point of its sweep (needs the Python package)");
  sweep->add_option("scenario", a.scenario, "Scenario file (YAML) with the key sweep")->required();
  sweep->add_option("-j,--jobs", a.jobs, "Runs at one time; as many as processors when left out")
      ->check(loco::cli::whole_number(1, std::numeric_limits<std::int64_t>::max()));
  sweep
      ->add_option("--out", a.out,
                   "FILE.csv, or FILE.json with one object a line: the rows, as they finish; an interrupted sweep goes "
                   "on there. stdout, at the end, when left out")
      ->type_name("FILE");
  sweep->add_option("--seeds", a.seeds, "So many seeds at each point")
      ->check(loco::cli::whole_number(1, std::numeric_limits<std::int64_t>::max()));
  add_overrides(*sweep, a.set);
  sweep->add_flag("--restart", a.restart, "Overwrite --out in place of going on");
  sweep->add_flag(
      "--for-spreadsheets", a.for_spreadsheets,
      "In FILE.csv, cells that begin with = + - @ get an apostrophe before it: a spreadsheet computes nothing");
  sweep->add_flag("-q,--quiet", a.quiet, "No progress bar");
  sweep->callback([&] { chosen = [&] { return loco::cli::sweep_command(a); }; });
}

void add_report(CLI::App& app, loco::cli::ReportArguments& a, std::function<int()>& chosen) {
  CLI::App* report = app.add_subcommand("report", "Write one HTML page about a run (needs the Python package)");
  report->add_option("result", a.result, "A result (run --json, or Result.save in Python), or a scenario to run")
      ->required();
  report->add_option("-o,--out", a.out, "HTML file to write")->required()->type_name("FILE");
  report->add_option("--seed", a.seed, "Seed, where a scenario is given")->check(loco::cli::whole_number(0, kSeedMax));
  add_overrides(*report, a.set);
  report->callback([&] { chosen = [&] { return loco::cli::report_command(a); }; });
}

void add_commands(CLI::App& app, Arguments& a, std::function<int()>& chosen) {
  CLI::App* run = app.add_subcommand("run", "Run a scenario and check it");
  add_scenario_options(*run, a.run);
  run->add_option("--trace", a.run.trace, "Write the trace to this file")->type_name("FILE");
  run->add_option("--check", a.run.check, "Models to check, e.g. rdmawait,sv,bal; \"\" for none")->type_name("MODELS");
  run->add_flag("--why", a.run.why, "What the median operation of each kind went into, stage by stage");
  run->add_flag("-v,--verbose", a.run.verbose, "What the machine counted, too; on stderr, how long it took");
  run->callback([&] { chosen = [&] { return loco::cli::run_command(a.run); }; });

  CLI::App* validate = app.add_subcommand("validate", "Read a scenario and say whether it is valid");
  add_scenario_options(*validate, a.run);
  validate->callback([&] { chosen = [&] { return loco::cli::validate_command(a.run); }; });

  CLI::App* check = app.add_subcommand("check", "Check a recorded trace against the memory models");
  check->add_option("trace", a.check.trace, "Trace file")->required();
  check->add_option("--model", a.check.models, "Models to check; all that occur in the trace when left out")
      ->type_name("MODELS")
      ->allow_extra_args(false);
  check->add_flag("--tower", a.check.tower,
                  "Also check that what a library call promises holds between the calls that it is made of");
  check->add_option("--dot", a.check.dot, "Write the first cycle as Graphviz to this file")->type_name("FILE");
  check->add_flag("--json", a.check.json, kJsonHelp);
  check->add_flag("-q,--quiet", a.check.quiet, "Say nothing when all is well");
  check->callback([&] { chosen = [&] { return loco::cli::check_command(a.check); }; });

  CLI::App* list =
      app.add_subcommand("list", "Show what there is: hardware, scenarios, topologies, workloads, models, faults");
  list->add_option("what", a.list.what, "What to list")
      ->required()
      ->check(one_of_words({"hardware", "scenarios", "topologies", "workloads", "models", "faults"}));
  list->add_option("name", a.list.name, "One of them in full");
  list->add_flag("--json", a.list.json, kJsonHelp);
  list->callback([&] { chosen = [&] { return loco::cli::list_command(a.list); }; });

  add_litmus(app, a.litmus, chosen);
  add_generate(app, a.generate, chosen);
  add_corerma(app, a.corerma, chosen);
  add_fit(app, a.fit, chosen);
  add_soundness(app, a.soundness, chosen);
  add_verify(app, a.verify, chosen);
  loco::cli::add_perf(app, a.perf, a.perf_validate, chosen);
  add_sweep(app, a.sweep, chosen);
  add_report(app, a.report, chosen);

  CLI::App* project =
      app.add_subcommand("new", "Write a C++ project that uses the simulator: a LOCO and a verbs program");
  project->add_option("folder", a.project, "Folder of the project, which is made")->required();
  project->callback([&] { chosen = [&] { return loco::cli::new_command(a.project); }; });

  CLI::App* schema = app.add_subcommand("schema", "Print the scenario format as a JSON schema");
  schema->add_flag("--reference", a.reference, "Print Markdown tables of all keys in its place");
  schema->callback([&] { chosen = [&] { return loco::cli::schema_command(a.reference); }; });

  CLI::App* trace = app.add_subcommand("trace", "Work on trace files")->require_subcommand(1);
  CLI::App* trace_export = trace->add_subcommand("export", "Write a trace in another format");
  trace_export->add_option("trace", a.trace_export.trace, "Trace file")->required();
  trace_export->add_option("--to", a.trace_export.to, "Format")
      ->required()
      ->check(one_of_words({"perfetto", "dot", "csv", "text"}));
  trace_export->add_option("--limit", a.trace_export.limit, "Of dot: draw so many accesses at most (default 200)")
      ->check(loco::cli::whole_number(0, std::numeric_limits<std::size_t>::max()));
  trace_export->add_option("--out", a.trace_export.out, "File to write; stdout when left out")->type_name("FILE");
  trace_export->callback([&] { chosen = [&] { return loco::cli::trace_export_command(a.trace_export); }; });
}

/// Reports have several lines: each is shown as it is.
int complain(std::string_view message, int code) {
  std::string text;
  for (std::size_t from = 0; from <= message.size();) {
    const std::size_t end = std::min(message.find('\n', from), message.size());
    text += loco::text::printable(message.substr(from, end - from)) + "\n";
    from = end + 1;
  }
  loco::cli::say(text);
  return code;
}

/// Commands about the command line itself.
void add_help(CLI::App& app, Arguments& a, std::function<int()>& chosen) {
  CLI::App* completion = app.add_subcommand("completion", "Print the completion script of a shell");
  completion->add_option("shell", a.shell, "Which shell")->required()->check(one_of_words({"bash", "zsh", "fish"}));
  completion->callback([&] {
    chosen = [&] {
      loco::cli::print(loco::cli::completion(app, a.shell));
      return loco::cli::kDone;
    };
  });
  CLI::App* man = app.add_subcommand("man", "Print the manual page (roff)");
  man->callback([&] {
    chosen = [&] {
      loco::cli::print(loco::cli::man_page(app));
      return loco::cli::kDone;
    };
  });
  loco::cli::add_examples(app);
}

/// Bad input: when a file that was given is of another kind than the command takes, the message says which.
int complain_of_input(const CLI::App& app, const std::string& message) {
  return complain(loco::cli::with_kind_of_file(app, message), kBadInput);
}

/// Runs the command and turns every exception into one line and an exit code.
int guarded(const CLI::App& app, const std::function<int()>& command, const Arguments& a) {
  try {
    loco::cli::require_outputs_apart(app);
    return command();
  } catch (const loco::text::InputError& error) {
    return complain_of_input(app, error.what());
  } catch (const loco::trace::TraceError& error) {
    const std::string& file = a.check.trace.empty() ? a.trace_export.trace : a.check.trace;
    return complain_of_input(app, fmt::format("{}: {}", loco::text::printable(file), error.what()));
  } catch (const loco::cli::UsageError& error) {
    return complain_of_input(app, error.what());
  } catch (const std::invalid_argument& error) {
    return complain(fmt::format("loco-sim: {}", error.what()), kBadInput);
  } catch (const std::system_error& error) {
    return complain(loco::text::printable(error.what()), kBadInput);
  } catch (const std::bad_alloc&) {
    return complain("loco-sim: out of memory", loco::cli::kFailed);
  } catch (const std::exception& error) {
    return complain(fmt::format("loco-sim: {}", error.what()), loco::cli::kFailed);
  }
}

}  // namespace

int main(int argc, char** argv) {
  loco::cli::have_standard_files();
  loco::trace::leave_nothing_on_signals();
  loco::sim::take_free_memory_only();
  CLI::App app(
      "loco-sim simulates RDMA NICs running the LOCO object library and checks every run against its memory models.",
      "loco-sim");
  app.set_version_flag("--version", loco::cli::version_text(), "Print the version and how it was built");
  app.require_subcommand(1);
  Arguments arguments;
  std::function<int()> chosen;
  add_commands(app, arguments, chosen);
  add_help(app, arguments, chosen);
  loco::cli::refuse_empty_values(app, {"--check", "--hardware", "--model", "--replay-on", "--set"});
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) return complain(loco::cli::usage_text(app, error), kBadInput);
    const auto help_or_version = [&] {
      std::ostringstream text;
      const int code = app.exit(error, text, text);
      loco::cli::print(text.str());
      return code;
    };
    return guarded(app, help_or_version, arguments);
  }
  return guarded(app, chosen, arguments);
}
