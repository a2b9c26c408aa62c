#include "loco_sim/commands/generate.hpp"

#include <array>
#include <stdexcept>

namespace loco::commands {

namespace corerma = model::corerma;

template <>
std::span<const options::Row> rows<Generate>() {
  using options::row;
  using A = Generate;
  using O = corerma::GenerateOptions;

  static constexpr std::array<std::string_view, 2> kReads = {"any", "one"};
  static constexpr std::array kRows = {
      row<&A::pivot>("pivot", "--pivot", "The rule: R1, R2, F1, F2, F3, PG, GA, CAS, LO, WS, IR, ...",
                     {.required = true}),
      row<&A::options, &O::size>("size", "--size", "Actions and variables of a program, at most",
                                 {.least = corerma::kSizeMin, .most = corerma::kSizeMax, .required = true}),
      row<&A::options, &O::processes>("processes", "--processes", "Processes of a program",
                                      {.least = 1, .most = corerma::kProcessesMax, .shows_default = true}),
      row<&A::options, &O::hosts>("hosts", "--hosts", "Hosts: beyond the processes' own they hold variables only",
                                  {.least = 1, .most = corerma::kHostsMax}),
      row<&A::statements>("statements", "--statements", "Some of read,write,put,get,flush,rga,cas (default all)"),
      row<&A::rules>("rules", "--rules", "A rule set by name, or R1,R2,F1,... (default corerma)"),
      row<&A::options, &O::reads>("reads", "--reads",
                                  "any: each writer is read locally; one: by exactly one local read",
                                  {.choices = kReads, .shows_default = true}),
      row<&A::count>("--count", "Only count them, by size"),
      row<&A::options, &O::after>("after", "--after", "Go on after the test of this name; -o FILE is appended to",
                                  {.value = "NAME"}),
      row<&A::options, &O::limit>("limit", "--limit", "Stop after so many tests; 0 is no limit"),
      row<&A::sample>("sample", "--sample", "At most so many tests, evenly spread over all; 0 is all"),
      row<&A::out>("-o,--out", "Write to this file", {.value = "FILE"}),
      row<&A::anyway>("anyway", "--anyway", "Begin even if there are too many programs to come to an end"),
      row<&A::json>("--json", kJson),
  };
  return kRows;
}

corerma::GenerateOptions options_of(const Generate& arguments) {
  corerma::GenerateOptions o = arguments.options;
  const auto named = [](const char* option, const auto& read) {
    try {
      return read();
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(std::string(option) + ": " + error.what());
    }
  };
  o.pivot = named("--pivot", [&] { return corerma::parse_pivot(arguments.pivot); });
  const auto set = model::litmus::find_rule_set(arguments.rules);
  o.rules = set ? *set : named("--rules", [&] { return model::litmus::parse_rules(arguments.rules); });
  if (!arguments.statements.empty()) o.statements = corerma::parse_statements(arguments.statements);
  return o;
}

}  // namespace loco::commands
