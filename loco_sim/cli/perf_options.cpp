#include "loco_sim/cli/perf_options.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "loco_sim/cli/options.hpp"
#include "loco_sim/cli/rows.hpp"
#include "loco_sim/commands/rows.hpp"

namespace loco::cli {

namespace {

/// Options of perftest without meaning in a simulation of two hosts. They are accepted, so that command lines can be
/// pasted, and named on stderr.
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

constexpr std::array kValidate = {
    options::row<&PerfValidateArguments::rows>("--rows", "Rows (YAML), in place of the simulator's own"),
    options::row<&PerfValidateArguments::page>("--page", "Write the page to this file", {.value = "FILE"}),
    options::row<&PerfValidateArguments::json>("--json", commands::kJson),
};

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

/// Defaults depend on the test. An option that the test refuses is parsed, so that the error can say why, but not
/// shown.
void add_test(CLI::App& command, perf::Test test, commands::Perf& a) {
  add_rows(command, commands::rows<commands::Perf>(), &a);
  const bool dma = perf::is_dma(test);
  const bool bandwidth = perf::is_bandwidth(test);
  const bool loads = bandwidth && !dma;
  const bool atomic = perf::is_atomic(test);
  const bool ping_pong = test == perf::Test::write_lat || test == perf::Test::send_lat;
  const bool sends = test == perf::Test::send_lat || test == perf::Test::send_bw;
  const bool pushes = ping_pong || sends || test == perf::Test::write_bw;
  const bool spreads = !ping_pong && !sends;
  const std::initializer_list<std::pair<bool, std::vector<const char*>>> acts = {
      {pushes, {"-c", "-I"}},
      {!atomic, {"-a", "--sizes"}},
      {loads, {"-q", "--threads", "-t", "-l", "-b", "--report-both", "-D", "-Q", "-N", "--report_gbits"}},
      {test == perf::Test::send_bw, {"-r"}},
      {!dma, {"-m", "--topology"}},
      {spreads, {"--region", "--seed"}},
      {loads && !atomic, {"--relaxed-ordering"}},
      {!ping_pong && !dma, {"--device-memory"}},
      {ping_pong, {"--copy"}}};
  for (const auto& [shown, names] : acts)
    for (const char* name : names)
      if (!shown) command.get_option(name)->group("");
  constexpr std::uint64_t kMost = std::uint64_t{8} << 20U;
  const auto add = [&](const char* name, const std::string& words) {
    CLI::Option* const option = command.get_option(name);
    option->description(option->get_description() + words);
  };
  add("-s", fmt::format(" (default {})", perf::default_size(test, kMost)));
  add("-n", fmt::format("{} (default {}, of more than 64 KiB fewer)", bandwidth ? " of each queue pair" : "",
                        perf::default_iterations(test, 1)));
  nic::HardwareProfile roomy;
  roomy.nic_inline_max = {kMost};
  add("-I", fmt::format(" (default {})", perf::default_inline(test, roomy)));
  if (!dma) add_habits(command, a.ignored);
}

}  // namespace

void add_perf(CLI::App& app, commands::Perf& a, PerfValidateArguments& v, std::function<int()>& chosen) {
  CLI::App* perf = app.add_subcommand("perf", "Measure verbs between two hosts as perftest does, or bare DMA");
  perf->require_subcommand(1);
  for (std::size_t i = 0; i < perf::kTestNames.size(); ++i) {
    const auto test = static_cast<perf::Test>(i);
    const std::string name(perf::name(test));
    CLI::App* command = perf->add_subcommand(name, perf::is_dma(test) ? "Bare DMA, as pcie-bench" : "As ib_" + name);
    add_test(*command, test, a);
    command->callback([&a, &chosen, test] {
      a.options.test = test;
      chosen = [&a] { return perf_command(a); };
    });
  }
  CLI::App* validate = perf->add_subcommand("validate", "Compare with the published measurements");
  add_rows(*validate, kValidate, &v);
  validate->callback([&] { chosen = [&] { return perf_validate_command(v); }; });
}

}  // namespace loco::cli
