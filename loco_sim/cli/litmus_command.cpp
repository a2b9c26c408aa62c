// loco-sim litmus (docs/litmus-format.md): the engines put together. What they do lies in model/litmus and
// loco_sim/explore.
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>

#include "loco_sim/cli/commands.hpp"
#include "loco_sim/cli/output.hpp"
#include "loco_sim/cli/usage.hpp"
#include "loco_sim/explore/engines.hpp"
#include "model/litmus/command.hpp"
#include "model/litmus/rule_set.hpp"
#include "model/litmus/variants.hpp"
#include "text/json.hpp"
#include "text/words.hpp"

namespace loco::cli {

namespace {

namespace litmus = model::litmus;

litmus::CommandOptions command_options(const LitmusArguments& arguments) {
  litmus::CommandOptions options;
  options.files = arguments.files;
  options.tests = arguments.tests;
  options.model = arguments.rules.empty() ? arguments.model : named_rules("loco-sim litmus", arguments.rules).text();
  options.engine = arguments.engine;
  options.engine_options.hardware = arguments.hardware;
  options.engine_options.runs = arguments.runs;
  options.engine_options.seed = arguments.seed;
  options.engine_options.max_executions = arguments.max_executions;
  options.engine_options.max_seconds = arguments.max_seconds;
  options.json = arguments.json || arguments.quiet;
  options.times = arguments.times;
  options.witness = arguments.witness;
  options.explain = arguments.explain;
  const auto named = [](const char* option, const auto& apply) {
    try {
      apply();
    } catch (const std::invalid_argument& e) {
      throw UsageError(fmt::format("loco-sim litmus: {}: {}", option, e.what()));
    }
  };
  litmus::ModelOptions& variant = options.declarative.model_options;
  if (!arguments.flip.empty()) named("--flip", [&] { litmus::flip_cell(arguments.flip, variant.order); });
  for (const std::string& v : arguments.variants) named("--variant", [&] { litmus::choose_variant(v, variant); });
  return options;
}

/// Throws UsageError for what goes with nothing else here. Limits and seeds of other engines do no harm: scripts go
/// through all engines with the same options.
void require_used(const LitmusArguments& arguments) {
  if ((!arguments.flip.empty() || !arguments.variants.empty()) && arguments.engine != "declarative")
    throw UsageError(fmt::format("loco-sim litmus: {}: expected --engine declarative, found {}",
                                 arguments.flip.empty() ? "--variant" : "--flip", arguments.engine));
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

/// How many have which verdict; ok and failed are always told.
struct Counts {
  std::size_t ok = 0, failed = 0, incomplete = 0, not_run = 0;

  void add(std::string_view verdict) {
    ++(verdict == "ok" ? ok : verdict == "fail" ? failed : verdict == "incomplete" ? incomplete : not_run);
  }
  [[nodiscard]] std::string text() const {
    std::string out = fmt::format("{} ok, {} failed", ok, failed);
    if (incomplete > 0) out += fmt::format(", {} incomplete", incomplete);
    if (not_run > 0) out += fmt::format(", {} not run", not_run);
    return out;
  }
};

std::string problem(const nlohmann::ordered_json& result) {
  const auto verdict = result.at("verdict").get<std::string>();
  std::string out = fmt::format("{} ({}, {}): ", text::printable(result.at("name").get<std::string>()),
                                result.at("model").get<std::string>(), result.at("engine").get<std::string>());
  out += verdict == "fail" ? fmt::format("missing {}, unexpected {}", text::json_text(result.at("missing")),
                                         text::json_text(result.at("unexpected")))
                           : verdict;
  if (result.contains("notes"))
    out += text::printable(fmt::format("; {}", fmt::join(result.at("notes").get<std::vector<std::string>>(), "; ")));
  return out + "\n";
}

/// One line for each result that is not ok, and one for all: tests first, then their engines if there are several.
std::string summary(const std::string& results) {
  std::string out;
  Counts tests;
  std::map<std::string, Counts> engines;
  std::string worst;  // of the test at hand
  const auto rank = [](std::string_view v) { return v == "fail" ? 3 : v == "incomplete" ? 2 : v == "not run" ? 1 : 0; };
  const auto all = text::parse_json(results);
  for (const auto& result : all) engines[result.at("engine").get<std::string>()];
  std::size_t number = 0;
  for (const auto& result : all) {
    const auto verdict = result.at("verdict").get<std::string>();
    if (verdict != "ok") out += problem(result);
    engines.at(result.at("engine").get<std::string>()).add(verdict);
    if (worst.empty() || rank(verdict) > rank(worst)) worst = verdict;
    if (++number % engines.size() != 0) continue;  // one result an engine
    tests.add(worst);
    worst.clear();
  }
  const std::size_t count = engines.empty() ? 0 : number / engines.size();
  out += fmt::format("{} tests, {}", count, tests.text());
  if (engines.size() > 1)
    for (const auto& [name, counts] : engines) out += fmt::format("; {}: {}", name, counts.text());
  return out + "\n";
}

/// x.dot, x-2.dot, x-3.dot, ...: one graph a file.
std::string drawing_path(const std::string& path, std::size_t index) {
  if (index == 0) return path;
  const std::size_t slash = path.find_last_of('/');
  const std::size_t dot = path.find_last_of('.');
  const bool extension = dot != std::string::npos && (slash == std::string::npos || dot > slash + 1) && dot != 0;
  const std::string number = fmt::format("-{}", index + 1);
  return extension ? path.substr(0, dot) + number + path.substr(dot) : path + number;
}

}  // namespace

int litmus_command(const LitmusArguments& arguments) {
  require_used(arguments);
  require_place_of(arguments.dot);
  (void)named_hardware("loco-sim litmus: --hardware", arguments.hardware);
  std::ostringstream out;
  std::vector<std::string> drawings;
  litmus::CommandOptions options = command_options(arguments);
  options.drawings = &drawings;
  std::ostringstream words;
  const int code = litmus::run_litmus_command(options, explore::engines(), out, words);
  std::string said = words.str();
  if (code == kBadInput) {
    if (said.ends_with('\n')) said.pop_back();
    throw UsageError(said);
  }
  say(said);
  if (arguments.dot == "-" && !drawings.empty()) {
    if (drawings.size() > 1)
      say(fmt::format("loco-sim litmus: the first of {} graphs; --dot FILE writes each to a file of its own\n",
                      drawings.size()));
    print(drawings.front());
    return code;
  }
  print(arguments.quiet && !arguments.json ? summary(out.str()) : out.str());
  if (!arguments.dot.empty() && arguments.dot != "-")
    for (std::size_t i = 0; i < drawings.size(); ++i) write_file(drawing_path(arguments.dot, i), drawings[i]);
  return code;
}

}  // namespace loco::cli
