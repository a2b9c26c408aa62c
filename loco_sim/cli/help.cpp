#include "loco_sim/cli/help.hpp"

#include <CLI/CLI.hpp>
#include <array>
#include <fmt/format.h>

#include "loco_sim/cli/tree.hpp"
#include "trace/file.hpp"

namespace loco::cli {

namespace {

struct Example {
  std::string_view command;  ///< path; empty: the program itself
  std::string_view line;     ///< after `loco-sim `
  std::string_view meaning;
};

constexpr std::array kExamples = {
    Example{"", "run scenarios/quickstart.yaml", "run a scenario: latencies, throughput, verdict"},
    Example{"", "list workloads", "what can be run"},
    Example{"", "run --help", "everything about one command"},
    Example{"run", "run scenarios/barrier.yaml --set topology.nodes=16 --set fabric.link.delay=1us",
            "the same on more nodes, with longer cables"},
    Example{"run", "run scenarios/quickstart.yaml --seed 7 --json", "another seed; for scripts"},
    Example{"run", "run scenarios/quickstart.yaml --trace q.trace --check rdmawait,sv",
            "keep the trace; check it against two models"},
    Example{"run", "run scenarios/quickstart.yaml --set trace.level=packets --trace q.trace",
            "a trace with packets and TLPs, to look at: loco-sim trace export"},
    Example{"run", "run scenarios/barrier.yaml --why", "what the median operation went into, stage by stage"},
    Example{"validate", "validate scenarios/barrier.yaml --set topology.nodes=1000", "would it run?"},
    Example{"check", "check q.trace", "against all models that occur in it"},
    Example{"check", "check q.trace --model bal --dot cycle.dot", "one model; the cycle as a drawing, if there is one"},
    Example{"litmus", "litmus tests/litmus/loco-paper.yaml", "what the models allow"},
    Example{"litmus", "litmus tests/litmus/loco-paper.yaml --engine all --quiet",
            "the models, the hardware under every schedule and at random: do they agree?"},
    Example{"generate", "generate --pivot R1 --processes 1 --size 6 -o r1.yaml",
            "every test of at most 6 actions and variables in which R1 matters; then: loco-sim litmus r1.yaml"},
    Example{"generate", "generate --pivot F2 --processes 2 --size 9 --count", "how many there are"},
    Example{"corerma", "corerma --jobs 2 -o report.html", "Table 6 of the coreRMA paper, for simulated networks"},
    Example{"fit", "fit --hardware verbs-vpi-like", "which rules it keeps, and tests that rule out all others"},
    Example{"fit", "fit --hardware model-weak --set nic.placement=unordered --fabric routing=adaptive",
            "any profile, on any network"},
    Example{"robust", "robust scenarios/museum/gpi20.yml", "does it need weak memory to be understood?"},
    Example{"robust", "robust scenarios/museum/mpich2177.yml --test mpich2177b-with-a-barrier --repair",
            "and if so, what has to be inserted"},
    Example{"robust", "robust scenarios/verify/message_passing_flush.rma --network verbs",
            "the same of an RMA program"},
    Example{"soundness", "soundness --library bal --calls 2 --bug barrier_without_fence",
            "the smallest program that tells a barrier without its fence from the real one"},
    Example{"verify", "verify scenarios/verify/peterson.rma",
            "proved for every schedule, or a schedule that breaks it"},
    Example{"verify", "verify scenarios/verify/peterson.rma --search-flushes", "with how few flushes, and which"},
    Example{"verify", "verify scenarios/verify/lost_update.rma --network in-order --dot lost.dot",
            "on a stronger network; the counterexample drawn"},
    Example{"verify", "verify scenarios/verify/lost_update.rma --json > lost.json",
            "keep a counterexample, which --replay lost.json takes step by step"},
    Example{"verify",
            "verify scenarios/verify/peterson.rma scenarios/verify/dekker.rma --search-flushes -o verified.html",
            "several of them on a page"},
    Example{"verify", "verify scenarios/verify/message_passing.rma --replay-on cx5-roce-25g --replay-on efa-srd-like",
            "does the counterexample show on these NICs?"},
    Example{"verify", "verify scenarios/verify/queue.rma --certificate queue.cert",
            "write down the proof, which --check-certificate queue.cert has Z3 check"},
    Example{"verify", "verify scenarios/verify/put_then_store_flush.rma --dump ebp",
            "the boolean program that the paper's method makes of it"},
    Example{"exec", "exec -- ibv_rc_pingpong -g 0", "a program of another package, on two hosts"},
    Example{"exec", "exec --hardware cx6-ib-hdr-metal -- ib_send_lat -n 100 , ib_send_lat -n 100 node0",
            "a program for each host"},
    Example{"sweep", "sweep scenarios/paper/fig16_barrier.yaml --out rows.csv",
            "a row for each point, as they finish; the same command goes on where it was stopped"},
    Example{"sweep", "sweep scenarios/barrier.yaml --seeds 5 --set topology.nodes=8", "five seeds at each point"},
    Example{"report", "report scenarios/quickstart.yaml -o quickstart.html", "run it, and one page about the run"},
    Example{"report", "report scenarios/quickstart.yaml --seed 7 --set topology.nodes=8 -o eight.html",
            "another seed, and more nodes"},
    Example{"perf", "perf write_lat -s 8", "half a round trip of 8 bytes, as ib_write_lat"},
    Example{"perf write_lat", "perf write_lat -s 8 --hardware cx6-ib-hdr", "8 bytes, on ConnectX-6"},
    Example{"perf read_lat", "perf read_lat -a", "all sizes"},
    Example{"perf send_lat", "perf send_lat -s 64 -c UD", "datagrams of 64 bytes"},
    Example{"perf atomic_lat", "perf atomic_lat --region 1GiB", "fetch-and-adds all over a gibibyte"},
    Example{"perf write_bw", "perf write_bw -s 8 -q 8 --threads 8 -l 16", "message rate: eight threads, lists of 16"},
    Example{"perf write_bw", "perf write_bw --sizes 4096,4097,8200", "these sizes"},
    Example{"perf write_bw", "perf write_bw -b --report_gbits --set pcie.generation=4",
            "both directions, behind a faster PCIe"},
    Example{"perf read_bw", "perf read_bw -D 10ms", "for ten milliseconds of simulated time"},
    Example{"perf send_bw", "perf send_bw -s 4096 -t 32", "32 messages under way"},
    Example{"perf atomic_bw", "perf atomic_bw -q 4", "four queue pairs"},
    Example{"perf dma_read_lat", "perf dma_read_lat -s 64", "a device reads a cache line of its host"},
    Example{"perf dma_write_read_lat", "perf dma_write_read_lat -s 64", "a write, and a read behind it"},
    Example{"perf dma_read_bw", "perf dma_read_bw -s 1KiB --hardware pcie-bench", "as pcie-bench measured it"},
    Example{"perf dma_write_bw", "perf dma_write_bw -s 256 --region 1GiB", "all over a gibibyte"},
    Example{"perf validate", "perf validate --page page.md", "the page docs/validation.md"},
    Example{"list", "list hardware", "all profiles"},
    Example{"list", "list workloads barrier", "the parameters of one workload"},
    Example{"new", "new ring", "then: cd ring, cmake -B build, cmake --build build"},
    Example{"trace export", "trace export q.trace --to perfetto --out q.json",
            "then open q.json in https://ui.perfetto.dev"},
    Example{"trace export", "trace export q.trace --to dot --limit 40 | dot -Tsvg > q.svg",
            "the first 40 accesses as a graph"},
    Example{"trace export", "trace export q.trace --to csv --out q.csv", "a row for each access"},
    Example{"schema", "schema > scenario.schema.json", "for editors that complete and check YAML"},
    Example{"completion", "completion bash > ~/.local/share/bash-completion/completions/loco-sim", "for bash"},
    Example{"completion", "completion zsh > ~/.zfunc/_loco-sim", "for zsh, with ~/.zfunc in $fpath"},
    Example{"completion", "completion fish > ~/.config/fish/completions/loco-sim.fish", "for fish"},
    Example{"man", "man | man -l -", "read it"},
};

std::string examples_of(std::string_view command) {
  std::string out;
  for (const Example& e : kExamples) {
    if (e.command == command) out += fmt::format("  loco-sim {}\n      {}\n", e.line, e.meaning);
  }
  return out.empty() ? out : "Examples:\n" + out;
}

void add_examples(CLI::App& app, const std::string& path) {
  std::string footer = examples_of(path);
  if (path.empty())
    footer +=
        "Results go to stdout, all else to stderr. Exit codes: 0 consistent, 1 failed, 2 bad input, 3 unknown "
        "(verify).\n";
  if (!footer.empty()) app.footer(footer);
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    add_examples(*command, path.empty() ? command->get_name() : path + " " + command->get_name());
  }
}

std::string roff(std::string_view text) {
  std::string out = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string roff_options(const CommandInfo& command) {
  std::string out;
  for (const OptionInfo& option : command.options) {
    out += ".TP\n";
    if (option.names.empty()) {
      out += fmt::format("\\fI{}\\fR", roff(option.name));
    } else {
      for (std::size_t i = 0; i < option.names.size(); ++i) {
        out += fmt::format("{}\\fB{}\\fR", i == 0 ? "" : ", ", roff(option.names[i]));
      }
      if (!option.value.empty()) out += fmt::format(" \\fI{}\\fR", roff(option.value));
    }
    out += "\n" + roff(option.description);
    if (!option.choices.empty()) out += roff(fmt::format(": {}", fmt::join(option.choices, ", ")));
    out += ".\n";
  }
  return out;
}

std::string roff_command(const CommandInfo& command) {
  std::string out = fmt::format(".SS loco\\-sim {}\n{}.\n", roff(command.path), roff(command.description));
  out += roff_options(command);
  bool first = true;
  for (const Example& e : kExamples) {
    if (e.command != command.path) continue;
    out += fmt::format("{}.TP\n\\fBloco\\-sim {}\\fR\n{}.\n", first ? ".P\nExamples:\n" : "", roff(e.line),
                       roff(e.meaning));
    first = false;
  }
  for (const CommandInfo& below : command.commands) out += roff_command(below);
  return out;
}

}  // namespace

void add_examples(CLI::App& app) { add_examples(app, ""); }

std::string man_page(const CLI::App& app) {
  const CommandInfo tree = describe(app);
  std::string out = ".TH LOCO\\-SIM 1 \"\" \"loco\\-sim " LOCO_SIM_VERSION "\" \"User Commands\"\n";
  out += ".SH NAME\nloco\\-sim \\- simulate RDMA NICs and check what programs see against memory models\n";
  out += ".SH SYNOPSIS\n\\fBloco\\-sim\\fR \\fICOMMAND\\fR [\\fIARGUMENT\\fR...]\n";
  out += fmt::format(".SH DESCRIPTION\n{}\n", roff(tree.description));
  out += ".SH OPTIONS\n" + roff_options(tree) + ".SH COMMANDS\n";
  for (const CommandInfo& command : tree.commands) out += roff_command(command);
  out +=
      ".SH EXIT STATUS\n.TP\n0\nDone, and consistent with the models checked.\n"
      ".TP\n1\nA check failed, or the run could not go on: deadlock, a failed operation, too many events.\n"
      ".TP\n2\nBad input: one line on stderr with the place, what was expected and what was found.\n";
  out +=
      ".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\nNo colours, whatever stdout is. There are none unless it is a "
      "terminal.\n"
      ".TP\n\\fBPYTHONPATH\\fR\nWhere \\fBsweep\\fR and \\fBreport\\fR look for the Python package.\n";
  return out;
}

std::string version_text() {
  return fmt::format("loco-sim " LOCO_SIM_VERSION "\ncompiler: " LOCO_SIM_COMPILER "\nbuild: " LOCO_SIM_BUILD_TYPE
                     "\nsystem: " LOCO_SIM_SYSTEM "\ntrace format: {}",
                     trace::kTraceVersion);
}

}  // namespace loco::cli
