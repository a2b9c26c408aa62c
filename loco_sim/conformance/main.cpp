// loco-conformance DEVICE FILE...: litmus tests on a device of libibverbs. Exit status as for `loco-sim litmus`: 0 the
// device behaves as the model says, 1 it does not, 2 bad input, 3 none failed but some are unknown.
#include <CLI/CLI.hpp>
#include <exception>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <iostream>
#include <string>
#include <vector>

#include "loco_sim/conformance/device_engine.hpp"
#include "loco_sim/loco/errors.hpp"

namespace {

namespace litmus = loco::model::litmus;

/// Counts of results, and their output.
struct Report {
  std::size_t as_model = 0, not_run = 0;
  std::vector<std::string> others;

  void add(const litmus::Program& program, const litmus::Result& result) {
    const litmus::Verdict verdict = litmus::verdict_of(result);
    if (verdict == litmus::Verdict::ok) {
      ++as_model;
    } else if (verdict == litmus::Verdict::not_run) {
      ++not_run;
    } else {
      others.push_back(program.name);
    }
    fmt::print("{:<10} {}: {} outcomes in {} runs\n", litmus::name(verdict), program.name, result.outcomes.size(),
               result.executions);
    for (const std::string& unexpected : result.unexpected) fmt::print("           the model has no {}\n", unexpected);
    for (const std::string& note : result.notes) fmt::print("           {}\n", note);
  }
  void say(const std::string& device) const {
    if (others.empty())
      fmt::print("{} is as the model says in {} tests", device, as_model);
    else
      fmt::print("{} is not as the model says in {}", device, fmt::join(others, ", "));
    fmt::print("{}\n", not_run == 0 ? std::string() : fmt::format("; {} were not run", not_run));
  }
};

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("Litmus tests on a device of libibverbs: is it as the model says?");
  loco::libibverbs::DeviceOptions device_options;
  litmus::CommandOptions options;
  options.engine = "device";
  app.add_option("device", device_options.name, "its name, as ibv_devices has it")->required();
  app.add_option("files", options.files, "litmus documents, or folders of them")->required();
  app.add_option("--test", options.tests, "only the test of this name; may be repeated");
  app.add_option("--runs", options.engine_options.runs, "of each test")->capture_default_str();
  app.add_option("--seed", options.engine_options.seed, "of when threads begin")->capture_default_str();
  app.add_option("--max-seconds", options.engine_options.max_seconds, "of each test; 0: no limit");
  app.add_option("--port", device_options.port, "of the device");
  app.add_option("--gid-index", device_options.gid_index, "else that of RoCE v2 and IPv4");
  app.add_flag("--json", options.json, "results as of loco-sim litmus --json");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  const loco::libibverbs::Device device(device_options);
  Report report;
  if (!options.json) options.each = [&](const auto& program, const auto& result) { report.add(program, result); };
  const int status =
      litmus::run_litmus_command(options, {{"device", loco::conformance::device_engine(device)}}, std::cout, std::cerr);
  if (!options.json && status != 2) report.say(device.name());
  return status;
} catch (const loco::setup_error& error) {
  fmt::print(stderr, "loco-conformance: {}\n", error.what());
  return 2;
} catch (const std::exception& error) {
  fmt::print(stderr, "loco-conformance: {}\n", error.what());
  return 1;
}
