#include "loco_sim/cli/why.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <vector>

#include "loco_sim/cli/output.hpp"
#include "loco_sim/trace/why.hpp"

namespace loco::cli {

namespace {

struct Explained {
  std::string operation;
  std::int64_t took_ps = 0;
  std::vector<WhyStage> stages;
};

/// The first operation of each kind that took as long as the kind's median.
std::vector<Explained> explained(const RunResult& result) {
  std::vector<Explained> all;
  if (!result.trace) return all;
  for (const OperationTimes& o : result.operations) {
    if (o.samples_ps.empty()) continue;
    const std::int64_t median = summarise(o.samples_ps).median_ps;
    const auto index =
        static_cast<std::size_t>(std::find(o.samples_ps.begin(), o.samples_ps.end(), median) - o.samples_ps.begin());
    const std::int64_t end = o.ends_ps.at(index);
    all.push_back({o.name, median, why(*result.trace, end - median, end)});
  }
  return all;
}

std::string ns(std::int64_t ps) { return fmt::format("{:.1f}", static_cast<double>(ps) * 1e-3); }

}  // namespace

std::string why_text(const RunResult& result) {
  std::string out;
  for (const Explained& e : explained(result)) {
    std::vector<std::vector<std::string>> rows = {{"stage", "node", "ns", "share"}};
    for (const WhyStage& s : e.stages) {
      const double share = 100 * static_cast<double>(s.took_ps) / static_cast<double>(e.took_ps);
      rows.push_back({std::string(s.stage), fmt::format("{}", s.node), ns(s.took_ps), fmt::format("{:.1f} %", share)});
    }
    rows.push_back({"together", "", ns(e.took_ps), "100.0 %"});
    out += fmt::format("why {} takes {} (the median one):\n", e.operation, time_text(e.took_ps)) + table(rows, true);
  }
  return out;
}

nlohmann::ordered_json why_json(const RunResult& result) {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  for (const Explained& e : explained(result)) {
    nlohmann::ordered_json stages = nlohmann::ordered_json::array();
    for (const WhyStage& s : e.stages)
      stages.push_back(
          {{"stage", std::string(s.stage)}, {"node", s.node}, {"start_ps", s.start_ps}, {"took_ps", s.took_ps}});
    out[e.operation] = {{"median_ps", e.took_ps}, {"stages", stages}};
  }
  return out;
}

}  // namespace loco::cli
