#include "loco_sim/commands/verify.hpp"

#include <array>

#include "verify/engines.hpp"

namespace loco::commands {

template <>
std::span<const options::Row> rows<Verify>() {
  using options::row;
  using A = Verify;
  using O = verify::CommandOptions;

  static constexpr std::array<std::string_view, 3> kDumps = {"bp", "reduced", "ebp"};
  static constexpr std::array kRows = {
      row<&A::files>("files", "RMA programs (docs/verify.md)", {.required = true}),
      row<&A::options, &O::network>("network", "--network",
                                    "What orders operations: nothing, puts and gets, the target of a process, all",
                                    {.choices = verify::kNetworkNames, .shows_default = true}),
      row<&A::options, &O::fairness>(
          "fairness", "--fairness",
          "Which runs count for liveness properties that do not say it: all processes go on, only NICs do, any",
          {.choices = verify::kFairnessNames, .shows_default = true}),
      row<&A::options, &O::engine>("engine", "--engine",
                                   "explicit: every schedule, on concrete values; predicates: numbers without bound; "
                                   "extrapolate: the paper's method; auto: one engine after the other until one knows",
                                   {.choices = verify::kEngineNames, .shows_default = true}),
      row<&A::options, &O::search_flushes>("search_flushes", "--search-flushes",
                                           "All smallest sets of the flushes that suffice"),
      row<&A::options, &O::where>("where", "--where",
                                  "The same, for a flush after every remote statement in place of the program's"),
      row<&A::options, &O::pending>("pending", "--pending",
                                    "Pending instances of a remote statement told apart, at most",
                                    {.least = 1, .shows_default = true}),
      row<&A::options, &O::max_seconds>("max_seconds", "--max-seconds",
                                        "Time limit a program, by the clock on the wall; 0 is none",
                                        {.shows_default = true}),
      row<&A::options, &O::max_cpu_seconds>(
          "max_cpu_seconds", "--max-cpu-seconds",
          "The same in seconds of the processor, which do not depend on what else runs; 0 is none",
          {.shows_default = true}),
      row<&A::options, &O::max_memory>("max_memory", "--max-memory", "Memory for the points of a search, in MiB",
                                       {.least = 1, .unit = kMebi, .shows_default = true}),
      row<&A::options, &O::jobs>("--jobs", "Programs checked at a time",
                                 {.least = 1, .most = 1024, .shows_default = true}),
      row<&A::replay>("--replay", "Take a trace that --json printed step by step, in place of searching",
                      {.value = "FILE"}),
      row<&A::replay_on>(
          "replay_on", "--replay-on",
          "Does the counterexample show on this hardware? A profile or a file; may be given several times",
          {.value = "HARDWARE", .one_a_time = true}),
      row<&A::predicates>("--predicates", "Predicates to begin with: an expression a line", {.value = "FILE"}),
      row<&A::certificate>("--certificate", "Write a proof of a safe program that can be checked", {.value = "FILE"}),
      row<&A::check_certificate>("--check-certificate", "Check such a proof with Z3, in place of searching",
                                 {.value = "FILE"}),
      row<&A::dump>("--dump",
                    "Print a step of engine extrapolate in place of searching: the boolean program, the reduction "
                    "without a network, or the extrapolated boolean program",
                    {.choices = kDumps}),
      row<&A::dot>("--dot",
                   "Write the first counterexample as a drawing to this file; \"-\": print it in place of text",
                   {.value = "FILE"}),
      row<&A::out>("-o,--out", "Write a report page to this file, too", {.value = "FILE.html"}),
      row<&A::json>("--json", kJson),
      row<&A::times>("--times", kTimes, {.needs = "--json"}),
  };
  return kRows;
}

}  // namespace loco::commands
