// Options of the commands about memory models and programs under them.
#include "loco_sim/cli/options.hpp"
#include "loco_sim/cli/usage.hpp"
#include "model/corerma/generate.hpp"
#include "model/litmus/statements.hpp"

namespace loco::cli {

namespace {

void add_litmus(CLI::App& app, LitmusArguments& a, Chosen& chosen) {
  CLI::App* litmus = app.add_subcommand("litmus", "Run litmus tests");
  litmus->add_option("files", a.files, "Litmus documents (YAML), herd's .litmus files, or folders of them")->required();
  litmus->add_option("--test", a.tests, "Only the test of this name; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  litmus->add_option("--model", a.model, "Model, in place of the documents' own")
      ->check(one_of_words(model::litmus::model_names()));
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
  add_number(*litmus, "--max-executions", a.max_executions,
             "Executions a test of the engines declarative and explore; 0 is no limit");
  litmus
      ->add_option("--max-seconds", a.max_seconds,
                   "Time limit of each engine for a test, which is then incomplete; 0 is none")
      ->check(seconds());
  add_number(*litmus, "--max-memory", a.max_memory,
             "Memory for the outcomes of a test, in MiB (engine declarative), which is then incomplete", 1, 1U << 20U)
      ->capture_default_str();
  litmus
      ->add_option("--flip", a.flip,
                   "Turn cells of the stamp order round, e.g. E8 or E8,B5: which tests notice? (engine declarative)")
      ->type_name("CELL");
  litmus
      ->add_option("--cells", a.cells,
                   "A stamp table as text, as in docs/models.md, or a list of coreRMA's rules: the model with these "
                   "(engine declarative)")
      ->type_name("FILE");
  litmus->add_flag("--describe", a.describe,
                   "Tell each test in two sentences: who does what, what may be seen and why");
  litmus->add_option("--to-herd", a.to_herd, "Write the tests as herd's .litmus files (X86) into this folder")
      ->type_name("FOLDER");
  litmus
      ->add_option(
          "--variant", a.variants,
          "transitive-barriers: all fence every node; weak-ring-buffers: those of Section 5.2 of the LOCO "
          "paper; banked-atomics: remote atomics exclude each other by word, not by node; global-atomics: they read "
          "and write at once (engine declarative); may be repeated")
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
  litmus->add_flag("--times", a.times, kTimesHelp)->needs("--json");
  litmus->add_flag("--quiet", a.quiet, "Only failures and a summary");
  litmus->callback([&] { chosen = [&] { return litmus_command(a); }; });
}

void add_generate(CLI::App& app, GenerateArguments& a, Chosen& chosen) {
  CLI::App* generate = app.add_subcommand("generate", "Generate every coreRMA test in which a rule matters");
  generate->add_option("--pivot", a.pivot, "The rule: R1, R2, F1, F2, F3, PG, GA, CAS, LO, WS, IR, ...")->required();
  namespace corerma = model::corerma;
  add_number(*generate, "--size", a.size, "Actions and variables of a program, at most", corerma::kSizeMin,
             corerma::kSizeMax)
      ->required();
  add_number(*generate, "--processes", a.processes, "Processes of a program", 1, corerma::kProcessesMax)
      ->capture_default_str();
  generate->add_option("--hosts", a.hosts, "Hosts: beyond the processes' own they hold variables only")
      ->check(whole_number(1, corerma::kHostsMax));
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
  generate->callback([&] { chosen = [&] { return generate_command(a); }; });
}

void add_corerma(CLI::App& app, CorermaArguments& a, Chosen& chosen) {
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
  corerma->add_flag("--times", a.times, kTimesHelp);
  corerma->callback([&] { chosen = [&] { return corerma_command(a); }; });
}

void add_fit(CLI::App& app, FitArguments& a, Chosen& chosen) {
  CLI::App* fit = app.add_subcommand("fit", "Find the strongest coreRMA rules that a network keeps");
  fit->add_option("--hardware", a.hardware, "Hardware profile: a name or a file")->required();
  fit->add_option("--set", a.set, "Change a field of the profile: nic.placement=unordered")->type_name("KEY=VALUE");
  fit->add_option("--fabric", a.fabric,
                  "routing=deterministic or ecmp: one path; adaptive or spray: many (default many)")
      ->type_name("KEY=VALUE");
  add_number(*fit, "--tests", a.tests, "Tests for each rule and number of processes, the smallest ones", 1)
      ->capture_default_str();
  fit->add_flag("--json", a.json, kJsonHelp);
  fit->callback([&] { chosen = [&] { return fit_command(a); }; });
}

void add_robust(CLI::App& app, RobustArguments& a, Chosen& chosen) {
  CLI::App* robust =
      app.add_subcommand("robust", "Say whether programs need weak memory to be understood, and what would end that");
  robust->add_option("files", a.files, "Litmus documents (YAML), RMA programs (.rma), or folders of them")->required();
  robust->add_option("--test", a.tests, "Only the test of this name; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  robust->add_option("--model", a.model, "Model of litmus tests, in place of their own")
      ->check(one_of_words({"rdmatso", "rdmawait", "loco"}));
  robust->add_option("--network", a.network, "Of RMA programs: what orders operations")
      ->check(one_of_words({"unordered", "in-order", "verbs", "sc"}))
      ->capture_default_str();
  robust->add_flag("--repair", a.repair, "All smallest sets of fences, waits and flushes that make a test robust");
  add_number(*robust, "--max-repair", a.max_repair, "Insertions of a repair, at most", 0, 16)->capture_default_str();
  robust->add_option("--max-seconds", a.max_seconds, "Time limit of each test, which is then unknown; 0 is none")
      ->check(seconds());
  add_number(*robust, "--max-memory", a.max_memory, "Memory for a test, in MiB, which is then unknown", 1, 1U << 20U)
      ->capture_default_str();
  robust->add_flag("--json", a.json, kJsonHelp);
  robust->add_flag("--times", a.times, kTimesHelp)->needs("--json");
  robust->callback([&] { chosen = [&] { return robust_command(a); }; });
}

void add_soundness(CLI::App& app, SoundnessArguments& a, Chosen& chosen) {
  CLI::App* soundness =
      app.add_subcommand("soundness", "Compare a library's implementation with its specification on all small clients");
  SoundnessArguments* const given = &a;
  soundness->add_option("--library,library", given->library, "rdmawait, sv, bal, rbl, msw or lock")
      ->required()
      ->check(one_of_words({"rdmawait", "sv", "bal", "rbl", "msw", "lock"}));
  soundness
      ->add_option("--class", a.lock_class,
                   "lock: what is before the next holder: what CPUs wrote; that, and what was done to the lock's node; "
                   "everything")
      ->check(one_of_words({"weak", "node", "strong"}))
      ->capture_default_str();
  add_number(*soundness, "--threads", a.threads, "Threads of a client, at most", 1, 8)->capture_default_str();
  add_number(*soundness, "--calls", a.calls, "Calls of each thread, at most", 1, 16)->capture_default_str();
  soundness
      ->add_option("--bug", a.bug,
                   "A mistake to find: barrier_without_fence, barrier_fences_others (bal), guards_forward (msw), "
                   "fence_without_wait (sv), wait_without_poll (rdmawait); of locks release_before_data, no_fence, "
                   "get_and_put, home_cas")
      ->check(one_of_words({"barrier_without_fence", "barrier_fences_others", "guards_forward", "fence_without_wait",
                            "wait_without_poll", "release_before_data", "no_fence", "get_and_put", "home_cas"}));
  soundness->add_flag(
      "--promises", a.promises,
      "sv, bal, rbl, msw: in every execution of the clients each promise is kept (Def. 3.13), also those that "
      "no small client sees");
  soundness->add_flag("--transitive", a.transitive, "bal: the barrier that fences towards all nodes");
  soundness->add_flag("--guards", a.guards, "msw: guards on both sides of the data in place of a hash");
  soundness->add_option("--ring-cells", a.ring_cells, "rbl: cells of a buffer; a message takes two (default 8)")
      ->check(whole_number(2, 64));
  add_number(*soundness, "--max-clients", a.max_clients, "Stop after so many clients; 0 is no limit");
  soundness->add_option("--max-seconds", a.max_seconds, "Stop after so many seconds; 0 is no limit")->check(seconds());
  soundness->add_flag("--json", a.json, kJsonHelp);
  soundness->add_flag("--times", a.times, kTimesHelp)->needs("--json");
  soundness->callback([&] { chosen = [&] { return soundness_command(a); }; });
}

void add_verify(CLI::App& app, VerifyArguments& a, Chosen& chosen) {
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
          "--fairness", a.fairness,
          "Which runs count for liveness properties that do not say it: all processes go on, only NICs do, any")
      ->check(one_of_words({"weak", "nic", "none"}))
      ->capture_default_str();
  verify
      ->add_option(
          "--engine", a.engine,
          "explicit: every schedule, on concrete values; predicates: numbers without bound; extrapolate: the paper's "
          "method; auto: one engine after the other until one knows")
      ->check(one_of_words(verify_engine_names()))
      ->capture_default_str();
  verify->add_flag("--search-flushes", a.search_flushes, "All smallest sets of the flushes that suffice");
  verify->add_flag("--where", a.where, "The same, for a flush after every remote statement in place of the program's");
  add_number(*verify, "--pending", a.pending, "Pending instances of a remote statement told apart, at most", 1, 64)
      ->capture_default_str();
  verify->add_option("--max-seconds", a.max_seconds, "Time limit a program, by the clock on the wall; 0 is none")
      ->check(seconds())
      ->capture_default_str();
  verify
      ->add_option("--max-cpu-seconds", a.max_cpu_seconds,
                   "The same in seconds of the processor, which do not depend on what else runs; 0 is none")
      ->check(seconds())
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
  verify->add_flag("--times", a.times, kTimesHelp)->needs("--json");
  verify->callback([&] { chosen = [&] { return verify_command(a); }; });
}

}  // namespace

void add_model_commands(CLI::App& app, Arguments& a, Chosen& chosen) {
  add_litmus(app, a.litmus, chosen);
  add_generate(app, a.generate, chosen);
  add_corerma(app, a.corerma, chosen);
  add_fit(app, a.fit, chosen);
  add_robust(app, a.robust, chosen);
  add_soundness(app, a.soundness, chosen);
  add_verify(app, a.verify, chosen);
}

}  // namespace loco::cli
