#include "loco_sim/commands/litmus.hpp"

#include <array>

namespace loco::commands {

template <>
std::span<const options::Row> rows<Litmus>() {
  using options::row;
  using A = Litmus;
  using O = model::litmus::CommandOptions;
  using E = model::litmus::EngineOptions;

  static constexpr std::array<std::string_view, 4> kEngines = {"declarative", "explore", "sample", "all"};
  static constexpr std::array kRows = {
      row<&A::options, &O::files>("files", "Litmus documents (YAML), herd's .litmus files, or folders of them",
                                  {.required = true}),
      row<&A::options, &O::tests>("--test", "Only the test of this name; may be repeated",
                                  {.value = "NAME", .one_a_time = true}),
      row<&A::options, &O::model>("model", "--model", "Model, in place of the documents' own"),
      row<&A::rules>("--rules", "In place of a model, coreRMA with these rules: R1,R2,F1,F2,F3,PG,GA,CAS,..."),
      row<&A::options, &O::engine>("engine", "--engine",
                                   "declarative: the model's executions; explore: the hardware under every schedule; "
                                   "sample: under random schedules; all: compare them (on the command line)",
                                   {.choices = kEngines, .shows_default = true}),
      row<&A::options, &O::engine_options, &E::runs>(
          "runs", "--runs", "Runs of the engine sample",
          {.least = 1, .most = std::uint64_t{1} << 40U, .shows_default = true}),
      row<&A::options, &O::engine_options, &E::seed>("seed", "--seed", "Seed of the engine sample",
                                                     {.shows_default = true}),
      row<&A::options, &O::engine_options, &E::hardware>(
          "hardware", "--hardware", "Hardware profile of explore and sample", {.shows_default = true}),
      row<&A::options, &O::engine_options, &E::max_executions>(
          "max_executions", "--max-executions",
          "Executions a test of the engines declarative and explore; 0 is no limit"),
      row<&A::options, &O::engine_options, &E::max_seconds>(
          "max_seconds", "--max-seconds", "Time limit of each engine for a test, which is then incomplete; 0 is none"),
      row<&A::options, &O::engine_options, &E::max_memory>(
          "--max-memory", "Memory for the outcomes of a test, in MiB (engine declarative), which is then incomplete",
          {.least = 1, .most = kMebi << 20U, .unit = kMebi, .shows_default = true}),
      row<&A::options, &O::declarative, &model::litmus::Options::loop_bound>(
          "loop_bound", "", "Times that control may go back to the head of a loop (engine declarative)"),
      row<&A::flip>("flip", "--flip",
                    "Turn cells of the stamp order round, e.g. E8 or E8,B5: which tests notice? (engine declarative)",
                    {.value = "CELL"}),
      row<&A::cells>("--cells",
                     "A stamp table as text, as in docs/models.md, or a list of coreRMA's rules: the model with these "
                     "(engine declarative)",
                     {.value = "FILE"}),
      row<&A::options, &O::describe>("--describe",
                                     "Tell each test in two sentences: who does what, what may be seen and why"),
      row<&A::to_herd>("--to-herd", "Write the tests as herd's .litmus files (X86) into this folder",
                       {.value = "FOLDER"}),
      row<&A::variants>("variants", "--variant",
                        "transitive-barriers: all fence every node; weak-ring-buffers: those of Section 5.2 of the "
                        "LOCO paper; banked-atomics: remote atomics exclude each other by word, not by node; "
                        "global-atomics: they read and write at once (engine declarative); may be repeated",
                        {.value = "NAME", .one_a_time = true}),
      row<&A::options, &O::witness>("--witness", "Show an execution with this outcome, e.g. \"a=0 b=1\""),
      row<&A::options, &O::explain>("--explain", "Show why this outcome is impossible"),
      row<&A::dot>("--dot",
                   "Write the drawing of --witness or --explain to this file, further ones to FILE-2, FILE-3, ...; "
                   "\"-\": print the first in place of the text",
                   {.value = "FILE"}),
      row<&A::options, &O::json>("--json", kJson),
      row<&A::options, &O::times>("--times", kTimes, {.needs = "--json"}),
      row<&A::quiet>("--quiet", "Only failures and a summary"),
  };
  return kRows;
}

}  // namespace loco::commands
