#include "loco_sim/cli/verbs_verdict.hpp"

#include <algorithm>
#include <vector>

#include "model/verbs/check.hpp"
#include "model/verbs/races.hpp"

namespace loco::cli {

namespace {

nlohmann::ordered_json to_json(const model::verbs::Access& a) {
  return {{"access", a.text}, {"thread", a.thread_name}, {"place", a.place}};
}

}  // namespace

VerbsVerdict judge_verbs(const trace::Trace& trace) {
  const model::verbs::Verdict verdict = model::verbs::check(trace);
  const std::vector<model::verbs::Race> races = model::verbs::races(trace);
  VerbsVerdict out;
  out.consistent = verdict.consistent();
  out.races = !races.empty();
  out.text = verdict.to_text() + "\n";
  out.right = out.consistent && std::ranges::none_of(races, &model::verbs::Race::error);
  out.json = {{"consistent", verdict.consistent()}, {"subevents", verdict.subevents}};
  out.json["violations"] = nlohmann::ordered_json::array();
  for (const model::verbs::Violation& v : verdict.violations)
    out.json["violations"].push_back({{"rule", v.rule}, {"message", v.message}});
  out.json["races"] = nlohmann::ordered_json::array();
  for (const model::verbs::Race& r : races) {
    out.text += r.to_text() + "\n";
    out.json["races"].push_back({{"kind", name(r.kind)},
                                 {"error", r.error},
                                 {"node", r.node},
                                 {"address", r.address},
                                 {"count", r.count},
                                 {"first", to_json(r.first)},
                                 {"second", to_json(r.second)},
                                 {"advice", r.advice}});
  }
  return out;
}

}  // namespace loco::cli
