// loco-sim robust (docs/robustness.md): can litmus tests and RMA programs do what `sc` cannot?
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "loco_sim/cli/commands.hpp"
#include "loco_sim/cli/output.hpp"
#include "loco_sim/commands/robust.hpp"
#include "model/litmus/answers/command.hpp"
#include "model/litmus/answers/robust_text.hpp"
#include "model/litmus/language/parser.hpp"
#include "text/file.hpp"
#include "text/words.hpp"
#include "verify/parser.hpp"
#include "verify/robust.hpp"

namespace loco::cli {

namespace {

namespace litmus = model::litmus;

bool is_rma(const std::string& file) { return file.ends_with(".rma"); }

std::vector<std::string> files_at(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<std::string> found;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
    const std::string extension = entry->path().extension();
    if (extension == ".yaml" || extension == ".yml" || extension == ".rma") found.push_back(entry->path().string());
  }
  std::sort(found.begin(), found.end());
  if (error || found.empty())
    throw UsageError(fmt::format("{}: expected a folder with litmus documents or RMA programs, found none", path));
  return found;
}

bool has_traces(const std::string& model) { return model == "rdmatso" || model == "rdmawait" || model == "loco"; }

/// The command's output, printed test by test.
class Reports {
 public:
  Reports(const commands::Robust& arguments) : arguments_(arguments) {}

  void add(const litmus::Program& program) {
    const auto start = std::chrono::steady_clock::now();
    litmus::TimeLimit limit(arguments_.max_seconds);
    litmus::RobustOptions options = arguments_.options;
    options.out_of_time = limit.question();
    litmus::RobustReport report{&program, options.model.empty() ? program.model : options.model,
                                litmus::robustness(program, options), 0};
    report.seconds = since(start);
    say(report.result.robust, litmus::robust_json(report), litmus::to_text(report));
  }
  void add(const verify::Program& program) {
    const auto start = std::chrono::steady_clock::now();
    litmus::TimeLimit limit(arguments_.max_seconds);
    const verify::Network network = arguments_.network;
    const verify::FlushMask flushes = verify::all_flushes(program);
    const verify::RmaRobustness r = verify::robustness(
        program, flushes, network, {.memory_max = arguments_.options.memory_max, .out_of_time = limit.question()});
    say(r.robust, verify::robust_json(program, flushes, network, r, since(start)),
        verify::robust_text(program, flushes, network, r));
  }
  int finish() {
    if (arguments_.json) print(json_);
    return all_robust_ ? kDone : kFailed;
  }

 private:
  static double since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  void say(std::optional<bool> robust, nlohmann::ordered_json json, const std::string& text) {
    all_robust_ = all_robust_ && robust == true;
    if (!arguments_.times) json.erase("seconds");
    if (arguments_.json)
      json_.push_back(std::move(json));
    else
      print(text);
  }

  const commands::Robust& arguments_;
  nlohmann::ordered_json json_ = nlohmann::ordered_json::array();
  bool all_robust_ = true;
};

}  // namespace

int robust_command(const commands::Robust& a) {
  std::vector<litmus::Program> programs;
  std::vector<verify::Program> rma;
  std::vector<std::string> left_out;
  for (const std::string& path : a.files)
    for (const std::string& file : files_at(path)) {
      if (is_rma(file)) {
        rma.push_back(verify::parse_file(file));
        continue;
      }
      for (litmus::Program& p : litmus::parse_file(file, {.model = a.options.model, .left_out = &left_out})) {
        if (!a.tests.empty() && std::find(a.tests.begin(), a.tests.end(), p.name) == a.tests.end()) continue;
        if (has_traces(a.options.model.empty() ? p.model : a.options.model))
          programs.push_back(std::move(p));
        else
          left_out.push_back(fmt::format("{}:{}:{}: expected a test of rdmatso, rdmawait or loco, found one of {}",
                                         file, p.at.line, p.at.column, p.model));
      }
    }
  for (const std::string& name : a.tests)
    if (std::none_of(programs.begin(), programs.end(), [&](const litmus::Program& p) { return p.name == name; }) &&
        left_out.empty())
      throw UsageError(
          fmt::format("loco-sim robust: --test: expected the name of a test, found {}", text::in_quotes(name)));
  if (programs.empty() && rma.empty())
    throw UsageError(left_out.empty() ? "loco-sim robust: expected a test, found none" : left_out.front());
  if (!left_out.empty()) say(fmt::format("left out {} tests, the first: {}\n", left_out.size(), left_out.front()));
  Reports reports(a);
  for (const litmus::Program& p : programs) reports.add(p);
  for (const verify::Program& p : rma) reports.add(p);
  return reports.finish();
}

}  // namespace loco::cli
