// The command line of `loco-sim exec`: options, then `--`, then programs parted by lone commas.
#include "loco_sim/cli/exec_options.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

#include "loco_sim/cli/rows.hpp"

namespace loco::cli {

namespace {

using options::row;
using A = ExecArguments;
constexpr std::array kRows = {
    row<&A::hardware>("--hardware", "Hardware profile (see list hardware)", {.shows_default = true}),
    row<&A::topology>("--topology", "star or back_to_back", {.shows_default = true}),
    row<&A::hosts>("--hosts", "How many hosts, where one program is given for all of them",
                   {.least = 1, .most = 64, .shows_default = true}),
    row<&A::seed>("--seed", "Seed of everything that is random", {.most = std::numeric_limits<std::int64_t>::max()}),
    row<&A::set>("--set",
                 "Overrides one key of the hardware, e.g. --set link.mtu=4096, or of the scenario; may be repeated",
                 {.value = "KEY=VALUE", .one_a_time = true}),
    row<&A::output>("--output", "Folder for out.0, err.0, out.1, ...: what the programs print", {.value = "FOLDER"}),
    row<&A::prefix>("--prefix", "Begin each line of a program with its host, as on a terminal"),
    row<&A::record>("--record", "Write every change of control to this file", {.value = "FILE"}),
    row<&A::compare>("--compare", "Name the first change of control that is another than in this record",
                     {.value = "FILE"}),
    row<&A::trace>("--trace",
                   "Write what NICs and programs did to this file, for loco-sim check and trace export, and judge it",
                   {.value = "FILE"}),
    row<&A::keep_going>("--keep-going", "Go on when a program has been ended by a signal"),
    row<&A::debug>("--debug", "Wait, before this host's program begins, until a debugger is attached to it",
                   {.value = "HOST", .most = 63}),
    row<&A::check>("--check",
                   "Name uses of buffers that a request is still working on; of loads and stores where the program was "
                   "compiled with -fsanitize=thread"),
    row<&A::libraries>("--libraries", "Print the folder of the libraries that are put in front of programs'"),
    row<&A::terminal>("--terminal", "Programs take their standard input for a terminal"),
    row<&A::lockstep>("--lockstep", "Posts change control at once"),
    row<&A::every_packet>("--every-packet",
                          "Simulate every packet of long messages, whose middle is left out otherwise (same results)"),
    row<&A::json>("--json", "Print JSON: what the programs printed, and the report"),
    row<&A::quiet>("-q,--quiet", "No report when all is well"),
    row<&A::scenario>("scenario", "Scenario file (YAML) of the workload programs; without it, programs behind --"),
};

}  // namespace

void add_exec(CLI::App& app, ExecArguments& a, Chosen& chosen) {
  CLI::App* exec = app.add_subcommand(
      "exec", "Run other people's verbs programs, unmodified, on simulated hosts: -- PROGRAM ARGS , PROGRAM ARGS");
  add_rows(*exec, kRows, &a);
  exec->callback([&] { chosen = [&] { return exec_command(a); }; });
}

int take_programs(int argc, char** argv, ExecArguments& a) {
  if (argc < 2 || std::string_view(argv[1]) != "exec") return argc;
  for (int i = 2; i < argc; ++i) {
    if (std::string_view(argv[i]) != "--") continue;
    a.programs.assign(argv + i + 1, argv + argc);
    return i;
  }
  return argc;
}

}  // namespace loco::cli
