// The command line of `loco-sim exec`: options, then `--`, then programs parted by lone commas.
#include "loco_sim/cli/exec_options.hpp"

#include <cstdint>
#include <limits>
#include <string_view>

#include "loco_sim/cli/usage.hpp"

namespace loco::cli {

void add_exec(CLI::App& app, ExecArguments& a, Chosen& chosen) {
  CLI::App* exec = app.add_subcommand(
      "exec", "Run other people's verbs programs, unmodified, on simulated hosts: -- PROGRAM ARGS , PROGRAM ARGS");
  exec->add_option("--hardware", a.hardware, "Hardware profile (see list hardware)")->capture_default_str();
  exec->add_option("--topology", a.topology, "star or back_to_back")->capture_default_str();
  exec->add_option("--hosts", a.hosts, "How many hosts, where one program is given for all of them")
      ->check(whole_number(1, 64))
      ->capture_default_str();
  exec->add_option("--seed", a.seed, "Seed of everything that is random")
      ->check(whole_number(0, std::numeric_limits<std::int64_t>::max()));
  exec->add_option("--set", a.set,
                   "Overrides one key of the hardware, e.g. --set link.mtu=4096, or of the scenario; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  exec->add_option("--output", a.output, "Folder for out.0, err.0, out.1, ...: what the programs print")
      ->type_name("FOLDER");
  exec->add_flag("--prefix", a.prefix, "Begin each line of a program with its host, as on a terminal");
  exec->add_option("--record", a.record, "Write every change of control to this file")->type_name("FILE");
  exec->add_option("--compare", a.compare, "Name the first change of control that is another than in this record")
      ->type_name("FILE");
  exec->add_option("--trace", a.trace,
                   "Write what NICs and programs did to this file, for loco-sim check and trace export, and judge it")
      ->type_name("FILE");
  exec->add_flag("--keep-going", a.keep_going, "Go on when a program has been ended by a signal");
  exec->add_option("--debug", a.debug, "Wait, before this host's program begins, until a debugger is attached to it")
      ->type_name("HOST")
      ->check(whole_number(0, 63));
  exec->add_flag("--check", a.check,
                 "Name uses of buffers that a request is still working on; of loads and stores where the program was "
                 "compiled with -fsanitize=thread");
  exec->add_flag("--libraries", a.libraries, "Print the folder of the libraries that are put in front of programs'");
  exec->add_flag("--terminal", a.terminal, "Programs take their standard input for a terminal");
  exec->add_flag("--lockstep", a.lockstep, "Posts change control at once");
  exec->add_flag("--json", a.json, "Print JSON: what the programs printed, and the report");
  exec->add_flag("-q,--quiet", a.quiet, "No report when all is well");
  exec->add_option("scenario", a.scenario,
                   "Scenario file (YAML) of the workload programs; without it, programs behind --");
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
