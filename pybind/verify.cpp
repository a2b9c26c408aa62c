// RMA programs: reports as the JSON of docs/verify.md.
#include "loco_sim/commands/verify.hpp"

#include <chrono>
#include <nlohmann/json.hpp>
#include <pybind11/stl.h>
#include <string>
#include <utility>
#include <vector>

#include "loco_sim/commands/robust.hpp"
#include "loco_sim/replay/replay_on.hpp"
#include "loco_sim/scenario/hardware.hpp"
#include "pybind/arguments.hpp"
#include "pybind/interruption.hpp"
#include "text/json.hpp"
#include "verify/command.hpp"
#include "verify/parser.hpp"
#include "verify/robust.hpp"

namespace loco::python {

namespace {

/// The report on one program with what hardware shows of its counterexample, and the same in words. Keywords as the
/// rows of commands::Verify; hardware is YAML, profiles' names or maps that start from one.
std::pair<std::string, std::string> verify_program(const std::string& text, const std::string& file,
                                                   const py::dict& given) {
  auto arguments = taken<commands::Verify>("verify", given);
  verify::CommandOptions& options = arguments.options;
  std::vector<scenario::Hardware> hardware;
  for (const std::string& one : arguments.replay_on)
    hardware.push_back(scenario::read_hardware(yaml::parse_override(one, "replay_on")));
  return interruptible_apart([&](Interruption& interruption) {
    options.look = [&] { interruption.stop_if_requested(); };
    std::vector<verify::Program> programs;
    programs.push_back(verify::parse(text, file));
    const verify::Report report = verify::check_programs(std::move(programs), options).front();
    nlohmann::ordered_json json = verify::to_json(report, true);
    std::string words = verify::to_text(report);
    const auto shown = replay::replay_on(report, hardware, {.max_seconds = options.max_seconds, .poll = options.look});
    replay::add(shown, json);
    replay::add(shown, words);
    return std::pair{text::json_text(json), words};
  });
}

/// The object of `loco-sim robust --json`, and its text.
std::pair<std::string, std::string> robust_rma(const std::string& text, const std::string& file,
                                               const py::dict& given) {
  auto arguments = taken<commands::Robust>("robust", given);
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  const verify::Network on = arguments.network;
  return interruptible([&](Interruption& interruption) {
    const verify::Program program = verify::parse(text, file);
    const verify::FlushMask flushes = verify::all_flushes(program);
    verify::RobustLimits limits;
    limits.out_of_time = [&] {
      interruption.stop_if_requested();
      return arguments.max_seconds > 0 && seconds() > arguments.max_seconds;
    };
    const verify::RmaRobustness r = verify::robustness(program, flushes, on, limits);
    return std::pair(verify::robust_json(program, flushes, on, r, seconds()).dump(),
                     verify::robust_text(program, flushes, on, r));
  });
}

}  // namespace

void bind_verify(py::module_& m) {
  m.def("verify_program", &verify_program);
  m.def("verify_arguments", [] { return described<commands::Verify>(); });
  m.def("robust_rma", &robust_rma);
}

}  // namespace loco::python
