#include "loco_sim/commands/robust.hpp"

#include <array>

namespace loco::commands {

template <>
std::span<const options::Row> rows<Robust>() {
  using options::row;
  using A = Robust;
  using O = model::litmus::RobustOptions;

  static constexpr std::array<std::string_view, 3> kModels = {"rdmatso", "rdmawait", "loco"};
  static constexpr std::array kRows = {
      row<&A::files>("files", "Litmus documents (YAML), RMA programs (.rma), or folders of them", {.required = true}),
      row<&A::tests>("--test", "Only the test of this name; may be repeated", {.value = "NAME", .one_a_time = true}),
      row<&A::options, &O::model>("model", "--model", "Model of litmus tests, in place of their own",
                                  {.choices = kModels}),
      row<&A::network>("network", "--network", "Of RMA programs: what orders operations",
                       {.choices = verify::kNetworkNames, .shows_default = true}),
      row<&A::options, &O::repair>("repair", "--repair",
                                   "All smallest sets of fences, waits and flushes that make a test robust"),
      row<&A::options, &O::repair_max>("max_repair", "--max-repair", "Insertions of a repair, at most",
                                       {.most = 16, .shows_default = true}),
      row<&A::max_seconds>("max_seconds", "--max-seconds", "Time limit of each test, which is then unknown; 0 is none"),
      row<&A::options, &O::memory_max>("--max-memory", "Memory for a test, in MiB, which is then unknown",
                                       {.least = 1, .most = kMebi << 20U, .unit = kMebi, .shows_default = true}),
      row<&A::json>("--json", kJson),
      row<&A::times>("--times", kTimes, {.needs = "--json"}),
  };
  return kRows;
}

}  // namespace loco::commands
