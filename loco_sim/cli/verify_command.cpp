// loco-sim verify: RMA programs for every schedule.
#include <cerrno>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "loco_sim/cli/commands.hpp"
#include "loco_sim/cli/output.hpp"
#include "verify/command.hpp"
#include "verify/drawing.hpp"
#include "verify/engines.hpp"
#include "verify/parser.hpp"
#include "verify/replay.hpp"

namespace loco::cli {

namespace {

verify::Network network_named(const std::string& name) {
  for (std::size_t i = 0; i < verify::kNetworkNames.size(); ++i) {
    if (verify::kNetworkNames[i] == name) return static_cast<verify::Network>(i);
  }
  throw UsageError(
      fmt::format("loco-sim verify: --network: expected unordered, in-order, verbs or sc, found {}", name));
}

std::string whole_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw UsageError(fmt::format("{}:1:1: expected a readable file, found none", path));
  constexpr std::size_t kBytesMax = std::size_t{16} << 20U;  // a device has no end
  std::string text(kBytesMax + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kBytesMax)
    throw UsageError(fmt::format("{}:1:1: expected at most {} bytes, found more", path, kBytesMax));
  return text;
}

verify::Program program_in(const std::string& path) {
  try {
    return verify::parse(whole_text(path), path);
  } catch (const verify::InputError& error) {
    throw UsageError(error.what());
  }
}

verify::CommandOptions command_options(const VerifyArguments& arguments) {
  verify::CommandOptions options;
  options.network = network_named(arguments.network);
  options.engine = arguments.engine;
  options.pending = arguments.pending;
  options.max_seconds = arguments.max_seconds;
  options.max_memory = arguments.max_memory << 20U;
  options.search_flushes = arguments.search_flushes;
  options.where = arguments.where;
  options.jobs = arguments.jobs;
  return options;
}

int replay(const VerifyArguments& arguments) {
  if (arguments.files.size() != 1)
    throw UsageError(
        fmt::format("loco-sim verify: expected one program with --replay, found {}", arguments.files.size()));
  const verify::Program program = program_in(arguments.files.front());
  verify::Replay result;
  try {
    result = verify::replay(program, whole_text(arguments.replay), network_named(arguments.network));
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("{}:1:1: {}", arguments.replay, error.what()));
  }
  if (arguments.json) {
    print(nlohmann::ordered_json{{"file", program.file},
                                 {"network", verify::name(result.network)},
                                 {"steps", result.outcome.steps},
                                 {"broken", result.outcome.broken ? nlohmann::ordered_json(result.outcome.broken->text)
                                                                  : nlohmann::ordered_json()},
                                 {"obstacle", result.outcome.obstacle ? nlohmann::ordered_json(*result.outcome.obstacle)
                                                                      : nlohmann::ordered_json()}});
  } else {
    print(verify::to_text(program, result));
  }
  if (result.outcome.obstacle) return kBadInput;
  return result.outcome.broken ? kFailed : kDone;
}

/// The first counterexample as a drawing.
void draw(const std::string& file, const std::vector<verify::Report>& reports) {
  for (const verify::Report& report : reports) {
    if (!report.answer.counterexample) continue;
    if (file == "-") return print(verify::to_dot(report));
    return write_file(file, verify::to_dot(report));
  }
}

}  // namespace

std::vector<std::string> verify_engine_names() {
  std::vector<std::string> names;
  for (const verify::EngineKind& kind : verify::engine_kinds()) names.push_back(kind.name);
  return names;
}

int verify_command(const VerifyArguments& arguments) {
  if (!arguments.replay.empty()) return replay(arguments);
  if (!arguments.dot.empty() && arguments.dot != "-") require_place_of(arguments.dot);
  std::vector<verify::Program> programs;
  for (const std::string& file : arguments.files) programs.push_back(program_in(file));
  const std::vector<verify::Report> reports = verify::check_programs(std::move(programs), command_options(arguments));
  if (arguments.dot != "-") {
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    std::string text;
    for (const verify::Report& report : reports) {
      if (arguments.json)
        json.push_back(verify::to_json(report));
      else
        text += verify::to_text(report);
    }
    if (arguments.json)
      print(json);
    else
      print(text);
  }
  if (!arguments.dot.empty()) draw(arguments.dot, reports);
  return verify::exit_code(reports);
}

}  // namespace loco::cli
