// loco-sim litmus (docs/litmus-format.md): joins the engines of model/litmus and loco_sim/explore.
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>

#include "loco_sim/cli/commands.hpp"
#include "loco_sim/cli/output.hpp"
#include "loco_sim/cli/usage.hpp"
#include "loco_sim/commands/litmus.hpp"
#include "loco_sim/explore/engines.hpp"
#include "model/litmus/answers/command.hpp"
#include "model/litmus/language/rule_set.hpp"
#include "model/litmus/models/cells_file.hpp"
#include "model/litmus/models/variants.hpp"
#include "text/file.hpp"
#include "text/json.hpp"
#include "text/words.hpp"

namespace loco::cli {

namespace {

namespace litmus = model::litmus;

litmus::CommandOptions command_options(const commands::Litmus& arguments) {
  litmus::CommandOptions options = arguments.options;
  if (!arguments.rules.empty()) options.model = named_rules("loco-sim litmus", arguments.rules).text();
  const auto named = [](const char* option, const auto& apply) {
    try {
      apply();
    } catch (const std::invalid_argument& e) {
      throw UsageError(fmt::format("loco-sim litmus: {}: {}", option, e.what()));
    }
  };
  litmus::ModelOptions& variant = options.declarative.model_options;
  if (!arguments.cells.empty()) {
    constexpr std::size_t kMost = std::size_t{1} << 20U;
    const auto rules = litmus::read_cells(text::read_file(arguments.cells, kMost), arguments.cells, variant);
    if (rules) options.model = rules->text();
  }
  if (!arguments.flip.empty()) named("--flip", [&] { litmus::flip_cell(arguments.flip, variant); });
  for (const std::string& v : arguments.variants) named("--variant", [&] { litmus::choose_variant(v, variant); });
  return options;
}

/// Throws UsageError for options that the engine or another option makes meaningless. Limits and seeds of engines that
/// do not run are accepted: scripts call all engines with the same options.
void require_used(const commands::Litmus& arguments) {
  for (const auto& [option, used] : {std::pair{"--flip", !arguments.flip.empty()},
                                     {"--variant", !arguments.variants.empty()},
                                     {"--cells", !arguments.cells.empty()}})
    if (used && arguments.options.engine != "declarative")
      throw UsageError(fmt::format("loco-sim litmus: {}: expected --engine declarative, found {}", option,
                                   arguments.options.engine));
  const auto refuse = [](std::string_view option, std::string_view expected, std::string_view found) {
    throw UsageError(fmt::format("loco-sim litmus: {}: expected {}, found {}", option, expected, found));
  };
  if (!arguments.rules.empty() && !arguments.options.model.empty())
    refuse("--rules", "no --model beside it", arguments.options.model);
  const char* explains = !arguments.options.witness.empty()   ? "--witness"
                         : !arguments.options.explain.empty() ? "--explain"
                                                              : nullptr;
  if (explains == nullptr) {
    if (!arguments.dot.empty()) refuse("--dot", "--witness or --explain beside it", "none");
    return;
  }
  if (arguments.options.engine != "declarative") refuse(explains, "--engine declarative", arguments.options.engine);
  constexpr std::string_view kText = "no --witness or --explain, which print text";
  if (arguments.options.json) refuse("--json", kText, explains);
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

std::string problem(const litmus::Program& program, const litmus::Result& r) {
  const auto list = [](const std::vector<std::string>& texts) {
    return text::json_text(nlohmann::ordered_json(texts));
  };
  const litmus::Verdict verdict = verdict_of(r);
  std::string out = fmt::format("{} ({}, {}): ", text::printable(program.name), r.model, r.engine);
  out += verdict == litmus::Verdict::fail
             ? fmt::format("missing {}, unexpected {}", list(r.missing), list(r.unexpected))
             : std::string(name(verdict));
  if (!r.notes.empty()) out += text::printable(fmt::format("; {}", fmt::join(r.notes, "; ")));
  return out + "\n";
}

/// One line for each result that is not ok, and one for all: tests first, then their engines if there are several.
class Summary {
 public:
  /// The results of a test come one after another.
  void add(const litmus::Program& program, const litmus::Result& r) {
    const std::string_view verdict = name(verdict_of(r));
    if (verdict != "ok") out_ += problem(program, r);
    engines_[r.engine].add(verdict);
    if (&program != last_) end_test();
    last_ = &program;
    if (worst_.empty() || rank(verdict) > rank(worst_)) worst_ = verdict;
  }
  std::string text() {
    end_test();
    out_ += fmt::format("{} tests, {}", count_, tests_.text());
    if (engines_.size() > 1)
      for (const auto& [name, counts] : engines_) out_ += fmt::format("; {}: {}", name, counts.text());
    return out_ + "\n";
  }

 private:
  static int rank(std::string_view v) { return v == "fail" ? 3 : v == "incomplete" ? 2 : v == "not run" ? 1 : 0; }
  void end_test() {
    if (!worst_.empty()) {
      tests_.add(worst_);
      ++count_;
    }
    worst_.clear();
  }

  std::string out_;
  std::size_t count_ = 0;
  Counts tests_;
  std::map<std::string, Counts> engines_;
  const litmus::Program* last_ = nullptr;
  std::string worst_;
};

/// One file a test, in a folder that is there.
template <class Run>
int write_for_herd(const std::string& folder, litmus::CommandOptions& options, const Run& run) {
  std::vector<std::pair<std::string, std::string>> files;
  options.herd_files = &files;
  std::ostringstream out;
  const int code = run(out);
  for (auto& [name, text] : files) {
    std::replace(name.begin(), name.end(), '/', '_');
    write_file(folder + "/" + name + ".litmus", text);
  }
  print(fmt::format("{} tests written to {}\n", files.size(), text::printable(folder)));
  return code;
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

int litmus_command(const commands::Litmus& arguments) {
  require_used(arguments);
  require_place_of(arguments.dot);
  (void)named_hardware("loco-sim litmus: --hardware", arguments.options.engine_options.hardware);
  std::vector<std::string> drawings;
  litmus::CommandOptions options = command_options(arguments);
  options.drawings = &drawings;
  Summary summary;
  const bool summed_up = arguments.quiet && !arguments.options.json;
  if (summed_up) options.each = [&](const auto& program, const auto& result) { summary.add(program, result); };
  std::ostringstream words;
  const auto run = [&](std::ostream& out) {
    const int status = litmus::run_litmus_command(options, explore::engines(), out, words);
    std::string said = words.str();
    if (status == kBadInput) {
      if (said.ends_with('\n')) said.pop_back();
      throw UsageError(said);
    }
    say(said);
    return status;
  };
  if (!arguments.to_herd.empty()) return write_for_herd(arguments.to_herd, options, run);
  if (arguments.dot.empty()) {  // outcomes can be many: written as they are told
    Printed out;
    const int code = run(out);
    out.finish();
    if (summed_up) print(summary.text());
    return code;
  }
  std::ostringstream out;
  const int code = run(out);
  if (arguments.dot == "-" && !drawings.empty()) {
    if (drawings.size() > 1)
      say(fmt::format("loco-sim litmus: the first of {} graphs; --dot FILE writes each to a file of its own\n",
                      drawings.size()));
    print(drawings.front());
    return code;
  }
  print(out.str());
  if (arguments.dot != "-")
    for (std::size_t i = 0; i < drawings.size(); ++i) write_file(drawing_path(arguments.dot, i), drawings[i]);
  return code;
}

}  // namespace loco::cli
