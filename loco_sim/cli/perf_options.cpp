#include "loco_sim/cli/perf_options.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <limits>
#include <string>
#include <string_view>

#include "loco_sim/cli/options.hpp"
#include "loco_sim/cli/usage.hpp"
#include "loco_sim/perf/perf.hpp"

namespace loco::cli {

namespace {

/// What perftest has and a simulation of two hosts has not; taken, so that command lines can be pasted, and said.
struct Habit {
  const char* names;
  bool takes_value;
};
constexpr std::array kHabits = {Habit{"-F,--CPU-freq", false},
                                Habit{"-d,--ib-dev", true},
                                Habit{"-i,--ib-port", true},
                                Habit{"-x,--gid-index", true},
                                Habit{"-R,--rdma_cm", false},
                                Habit{"-z,--com_rdma_cm", false},
                                Habit{"-p,--port", true},
                                Habit{"-u,--qp-timeout", true},
                                Habit{"-S,--sl", true},
                                Habit{"-T,--tos", true},
                                Habit{"-e,--events", false},
                                Habit{"-f,--margin", true},
                                Habit{"-y,--limit_msgrate", true},
                                Habit{"-w,--limit_bw", true},
                                Habit{"-H,--report-histogram", false},
                                Habit{"-U,--report-unsorted", false},
                                Habit{"-C,--report-cycles", false},
                                Habit{"--cpu_util", false},
                                Habit{"--use_hugepages", false},
                                Habit{"--perform_warm_up", false},
                                Habit{"--tclass", true},
                                Habit{"--ipv6", false},
                                Habit{"--output", true},
                                Habit{"--wait_destroy", true}};

/// An option that the test would refuse is taken, so that it can say why, and not shown.
void show(CLI::Option* option, bool acts) {
  if (!acts) option->group("");
}

void add_habits(CLI::App& command, std::vector<std::string>& ignored) {
  for (const Habit& habit : kHabits) {
    const std::string names = habit.names;
    const std::string said = names.substr(0, names.find(','));
    const auto note = [&ignored, said](const CLI::results_t&) {
      ignored.push_back(said);
      return true;
    };
    CLI::Option* option = command.add_option(names, note, "Nothing here");
    if (!habit.takes_value) option->expected(0);
    option->group("");
  }
}

void add_load(CLI::App& command, perf::Test test, PerfArguments& a) {
  const bool acts = perf::is_bandwidth(test) && !perf::is_dma(test);
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();
  show(add_number(command, "-q,--qp", a.queue_pairs, "Queue pairs in all", 1)->capture_default_str(), acts);
  show(add_number(command, "--threads", a.threads, "Threads that share them out", 1)->capture_default_str(), acts);
  show(add_number(command, "-t,--tx-depth", a.depth, "Messages of a queue pair under way", 1)->capture_default_str(),
       acts);
  show(add_number(command, "-r,--rx-depth", a.rx_depth, "Receives of a queue pair", 1)->capture_default_str(),
       test == perf::Test::send_bw);
  show(add_number(command, "-l,--post_list", a.post_list, "Work requests a doorbell", 1)->capture_default_str(), acts);
  show(command.add_flag("-b,--bidirectional", a.bidirectional, "Both hosts send; the figures are sums"), acts);
  show(command.add_flag("--report-both,--report_both", a.report_both, "With -b: a line for each direction"), acts);
  show(command.add_option("-D,--duration", a.duration,
                          "Post for so many seconds of simulated time (or 10ms, 500us), in place of -n"),
       acts);
  show(command.add_option("-Q,--cq-mod", a.cq_mod, "A completion after so many messages (default 100)")
           ->check(whole_number(1, kMost)),
       acts);
  show(command.add_flag("-N,--noPeak", a.no_peak, "No peak"), acts);
  show(command.add_flag("--report_gbits", a.gbits, "Bandwidth in Gb/s"), acts);
}

void add_test(CLI::App& command, perf::Test test, PerfArguments& a) {
  const bool dma = perf::is_dma(test);
  const bool bandwidth = perf::is_bandwidth(test);
  const bool ping_pong = test == perf::Test::write_lat || test == perf::Test::send_lat;
  const bool sends = test == perf::Test::send_lat || test == perf::Test::send_bw;
  const bool pushes = ping_pong || sends || test == perf::Test::write_bw;
  show(command.add_option("-c,--connection", a.connection, "RC, UC (writes and sends) or UD (sends up to the MTU)")
           ->check(one_of_words({perf::kConnectionNames.begin(), perf::kConnectionNames.end()}))
           ->capture_default_str(),
       pushes);
  constexpr std::uint64_t kMost = std::uint64_t{8} << 20U;
  command.add_option("-s,--size", a.size,
                     fmt::format("Bytes of a message (default {})", perf::default_size(test, kMost)));
  show(command.add_flag("-a,--all", a.all, "All sizes from 2 to 2^23"), !perf::is_atomic(test));
  show(command.add_option("--sizes", a.sizes, "These sizes, one after the other: 8,8200,64KiB")
           ->delimiter(',')
           ->type_name("LIST"),
       !perf::is_atomic(test));
  add_number(command, "-n,--iters", a.iterations,
             fmt::format("Messages{} (default {}, of more than 64 KiB fewer)", bandwidth ? " of each queue pair" : "",
                         perf::default_iterations(test, 1)),
             1);
  add_load(command, test, a);
  constexpr std::uint32_t kInline = std::numeric_limits<std::uint32_t>::max();
  const char* const inlined = test == perf::Test::write_lat  ? "Largest inline message (default 220)"
                              : test == perf::Test::send_lat ? "Largest inline message (default 236)"
                                                             : "Largest inline message (default 0)";
  show(command.add_option("-I,--inline,--inline_size", a.inline_max, inlined)->check(whole_number(0, kInline)), pushes);
  show(command.add_option("-m,--mtu", a.mtu, "MTU, in place of the profile's: 256, 512, 1024, 2048 or 4096"), !dma);
  command.add_option("--hardware", a.hardware, "Hardware profile: a name or a file")->capture_default_str();
  command
      .add_option("--set", a.set, "Overrides one field of the hardware, e.g. --set pcie.generation=4; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  show(command.add_option("--topology", a.topology, "back_to_back, star or loopback (both on one host)")
           ->check(one_of_words({"back_to_back", "star", "loopback"}))
           ->capture_default_str(),
       !dma);
  const bool spreads = !ping_pong && !sends;
  show(command.add_option("--region", a.region, "Spread messages over this much memory"), spreads);
  show(add_number(command, "--seed", a.seed, "Seed of the places in --region")->capture_default_str(), spreads);
  show(command.add_flag("--relaxed-ordering", a.relaxed_ordering, "Memory that NICs write is registered so"),
       bandwidth && !dma && !perf::is_atomic(test));
  show(command.add_flag("--device-memory", a.device_memory, "The remote memory is on its NIC"), !ping_pong && !dma);
  show(command.add_flag("--copy", a.copy, "Both sides copy each message, as MPI does"), ping_pong);
  command.add_flag("--json", a.json, kJsonHelp);
  if (!dma) add_habits(command, a.ignored);
}

}  // namespace

void add_perf(CLI::App& app, PerfArguments& a, PerfValidateArguments& v, std::function<int()>& chosen) {
  CLI::App* perf = app.add_subcommand("perf", "Measure verbs between two hosts as perftest does, or bare DMA");
  perf->require_subcommand(1);
  for (const std::string_view test : perf::kTestNames) {
    const std::string name(test);
    const bool dma = name.starts_with("dma_");
    CLI::App* command = perf->add_subcommand(name, dma ? "Bare DMA, as pcie-bench" : "As ib_" + name);
    add_test(*command, perf::test_named(name), a);
    command->callback([&a, &chosen, name] {
      a.test = name;
      chosen = [&a] { return perf_command(a); };
    });
  }
  CLI::App* validate = perf->add_subcommand("validate", "Compare with the published measurements");
  validate->add_option("--rows", v.rows, "Rows (YAML), in place of the simulator's own");
  validate->add_option("--page", v.page, "Write the page to this file")->type_name("FILE");
  validate->add_flag("--json", v.json, kJsonHelp);
  validate->callback([&] { chosen = [&] { return perf_validate_command(v); }; });
}

}  // namespace loco::cli
