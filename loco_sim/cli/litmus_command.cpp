// loco-sim litmus (docs/litmus-format.md): the engines put together. What they do lies in model/litmus and
// loco_sim/explore.
#include <algorithm>
#include <fmt/format.h>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>

#include "loco_sim/cli/commands.hpp"
#include "loco_sim/cli/output.hpp"
#include "loco_sim/cli/usage.hpp"
#include "loco_sim/explore/engines.hpp"
#include "model/litmus/command.hpp"
#include "model/litmus/rule_set.hpp"

namespace loco::cli {

namespace {

namespace litmus = model::litmus;

litmus::CommandOptions command_options(const LitmusArguments& arguments) {
  litmus::CommandOptions options;
  options.files = arguments.files;
  options.model = arguments.rules.empty() ? arguments.model : named_rules("loco-sim litmus", arguments.rules).text();
  options.engine = arguments.engine;
  options.engine_options.hardware = arguments.hardware;
  options.engine_options.runs = arguments.runs;
  options.engine_options.seed = arguments.seed;
  options.engine_options.max_executions = arguments.max_executions;
  options.engine_options.max_seconds = arguments.max_seconds;
  options.json = arguments.json || arguments.quiet;
  options.witness = arguments.witness;
  options.explain = arguments.explain;
  return options;
}

/// Throws UsageError for what goes with nothing else here. Limits and seeds of other engines do no harm: scripts go
/// through all engines with the same options.
void require_used(const LitmusArguments& arguments) {
  const auto refuse = [](std::string_view option, std::string_view expected, std::string_view found) {
    throw UsageError(fmt::format("loco-sim litmus: {}: expected {}, found {}", option, expected, found));
  };
  if (!arguments.rules.empty() && !arguments.model.empty()) refuse("--rules", "no --model beside it", arguments.model);
  const char* explains = !arguments.witness.empty() ? "--witness" : !arguments.explain.empty() ? "--explain" : nullptr;
  if (explains == nullptr) {
    if (!arguments.dot.empty()) refuse("--dot", "--witness or --explain beside it", "none");
    return;
  }
  if (arguments.engine != "declarative") refuse(explains, "--engine declarative", arguments.engine);
  constexpr std::string_view kText = "no --witness or --explain, which print text";
  if (arguments.json) refuse("--json", kText, explains);
  if (arguments.quiet) refuse("--quiet", kText, explains);
}

/// One line for each test that failed, and one for all.
std::string summary(const std::string& results) {
  std::string out;
  std::size_t tests = 0;
  std::size_t failed = 0;
  for (const auto& result : nlohmann::json::parse(results)) {
    ++tests;
    if (result.at("verdict") == "ok") continue;
    ++failed;
    out += fmt::format("{} ({}, {}): missing {}, unexpected {}", result.at("name").get<std::string>(),
                       result.at("model").get<std::string>(), result.at("engine").get<std::string>(),
                       result.at("missing").dump(), result.at("unexpected").dump());
    if (result.contains("notes"))
      out += fmt::format("; {}", fmt::join(result.at("notes").get<std::vector<std::string>>(), "; "));
    out += "\n";
  }
  return out + fmt::format("{} tests, {} ok, {} failed\n", tests, tests - failed, failed);
}

}  // namespace

int litmus_command(const LitmusArguments& arguments) {
  require_used(arguments);
  require_place_of(arguments.dot);
  if (arguments.engine != "declarative") (void)named_hardware("loco-sim litmus: --hardware", arguments.hardware);
  std::ostringstream out;
  std::ostringstream drawing;
  litmus::CommandOptions options = command_options(arguments);
  options.drawing = &drawing;
  const int code = litmus::run_litmus_command(options, explore::engines(), out, std::cerr);
  if (code == kBadInput) return code;
  if (arguments.dot == "-" && drawing.tellp() > 0) {
    print(drawing.str());
    return code;
  }
  print(arguments.quiet && !arguments.json ? summary(out.str()) : out.str());
  if (!arguments.dot.empty() && arguments.dot != "-") write_file(arguments.dot, drawing.str());
  return code;
}

}  // namespace loco::cli
