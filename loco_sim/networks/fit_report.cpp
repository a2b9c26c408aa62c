// A fit as text and as JSON.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "loco_sim/networks/allowed.hpp"
#include "loco_sim/networks/fit.hpp"
#include "text/json.hpp"
#include "text/words.hpp"

namespace loco::networks {

namespace {

using Json = nlohmann::ordered_json;
using model::litmus::description;
using model::litmus::name;
using text::counted;

std::string indented(const std::string& text, const char* margin) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += margin + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out;
}

Json names(RuleSet rules) {
  Json all = Json::array();
  for (const Rule r : rules.rules()) all.push_back(name(r));
  return all;
}

Json contradiction_json(const Contradiction& c) {
  return {{"test", c.test}, {"outcome", c.outcome}, {"cycle", c.cycle}, {"document", c.document}};
}

std::string set_text(const StrongestSet& s) {
  std::string out;
  for (const Rule r : s.beyond.rules()) out += fmt::format("  {:<4} {}\n", name(r), description(r));
  out += fmt::format("  as a model: --rules {}\n", with_routing_named(s.rules).text());
  for (const RuledOutRule& r : s.ruled_out) {
    out += fmt::format("not {}: {} shows {}\n", name(r.rule), r.by.test, r.by.outcome);
    out += indented(r.by.document.substr(r.by.document.find("locations:")), "    ");
  }
  return out;
}

}  // namespace

std::string fit_text(const std::string& network, const FitResult& f) {
  std::string out;
  const bool one = f.strongest.size() == 1;
  for (const StrongestSet& s : f.strongest) {
    out += fmt::format("{} {} as {}\n", network, one ? "behaves" : "may behave", words(s));
    out += set_text(s);
  }
  if (f.cut) out += "and as other sets of rules, which are not told\n";
  if (!f.exceptions.empty()) {
    const Contradiction& c = f.exceptions.front();
    out += fmt::format("but not with {}: {} contradict{} the basic rules, as {} with {}\n", f.left_out,
                       counted(f.exceptions.size(), "test"), f.exceptions.size() == 1 ? "s" : "", c.test, c.outcome);
    out += indented(c.document.substr(c.document.find("locations:")), "    ");
  }
  if (!f.untested.rules().empty()) out += fmt::format("not tested: {}\n", f.untested.text());
  out += fmt::format("{}, {} seen", counted(f.tests, "test"), counted(f.outcomes, "outcome"));
  if (one) out += fmt::format(" of {} that these rules allow", f.allowed);
  if (f.sampled != 0) out += fmt::format("; {} sampled", counted(f.sampled, "test"));
  return out + "\n";
}

std::string fit_json(const std::string& network, const FitResult& f) {
  Json sets = Json::array();
  for (const StrongestSet& s : f.strongest) {
    Json out = Json::array();
    for (const RuledOutRule& r : s.ruled_out) {
      Json j = {{"rule", name(r.rule)}};
      j.update(contradiction_json(r.by));
      out.push_back(j);
    }
    sets.push_back({{"words", words(s)},
                    {"base", s.base.rules().empty() ? Json() : Json(s.base.name())},
                    {"plus", names(s.beyond)},
                    {"rules", names(with_routing_named(s.rules))},
                    {"ruled_out", out}});
  }
  Json exceptions = Json::array();
  for (const Contradiction& c : f.exceptions) exceptions.push_back(contradiction_json(c));
  const Json all = {{"hardware", network},           {"strongest", sets},         {"more_sets", f.cut},
                    {"basic_rules_hold", f.basic},   {"exceptions", exceptions},  {"left_out", f.left_out},
                    {"untested", names(f.untested)}, {"tests", f.tests},          {"outcomes", f.outcomes},
                    {"allowed", f.allowed},          {"sampled_tests", f.sampled}};
  return text::json_text(all, 2);
}

}  // namespace loco::networks
