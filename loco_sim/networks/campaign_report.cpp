// A campaign as text, JSON and CSV.
#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "loco_sim/networks/campaign.hpp"
#include "text/json.hpp"

namespace loco::networks {

namespace {

using Json = nlohmann::ordered_json;

Json tally_json(const Tally& t, std::uint64_t expected) {
  Json unobserved = Json::array();
  for (const auto& [by, u] : t.unobserved)
    unobserved.push_back({{"explained_by", by}, {"outcomes", u.outcomes}, {"test", u.test}, {"outcome", u.outcome}});
  Json j = {{"errors", t.errors},
            {"unexpected_outcomes", t.unexpected},
            {"observed_percent", percent(t.observed, expected)},
            {"own_rules_errors", t.own_errors},
            {"own_rules_observed_percent", percent(t.own_observed, t.own_expected)},
            {"sampled_tests", t.inexact},
            {"unobserved", unobserved}};
  if (t.example)
    j["shortest_error"] = {{"test", t.example->test},
                           {"size", t.example->size},
                           {"outcome", t.example->outcome},
                           {"cycle", t.example->cycle},
                           {"document", t.example->document}};
  return j;
}

Json paper_json(const PaperRow& p) {
  return {{"size", p.size == 0 ? Json() : Json(p.size)},
          {"tests", p.tests},
          {"ms_a_test", p.ms_a_test},
          {"outcomes", p.outcomes},
          {"errors", {{"DMAPP", p.errors[0]}, {"Verbs", p.errors[1]}, {"Portals", p.errors[2]}}},
          {"observed_percent", {{"DMAPP", p.observed[0]}, {"Verbs", p.observed[1]}, {"Portals", p.observed[2]}}}};
}

std::uint64_t all_tests(const Campaign& c) {
  std::uint64_t n = 0;
  for (const CampaignRow& r : c.rows) n += r.tests;
  return n;
}
std::uint64_t all_outcomes(const Campaign& c) {
  std::uint64_t n = 0;
  for (const CampaignRow& r : c.rows) n += r.outcomes;
  return n;
}

std::string line(const CampaignRow& r) {
  std::string text = fmt::format("{:<6}{:>5}{:>6}{:>8}{:>9}{:>9.2f}{:>9}", r.paper.pivot, r.paper.processes, r.size,
                                 r.tests, r.in_bound, ms_a_test(r), r.outcomes);
  for (const Tally& t : r.networks) text += fmt::format("{:>9}{:>7.1f}", t.errors, percent(t.observed, r.outcomes));
  return text + "\n";
}

std::string tail(const Campaign& c, std::size_t n) {
  const Network& network = c.networks[n];
  const Tally t = total(c, n);
  std::string text = fmt::format(
      "\n{} ({})\n  under its own rules, {}: {} tests with errors, {:.1f} % of what they allow seen\n", network.title,
      network.hardware, network.rules.name(), t.own_errors, percent(t.own_observed, t.own_expected));
  if (t.example) {
    text += fmt::format("  shortest error: {}, {}\n", t.example->test, t.example->outcome);
    for (std::size_t at = 0; at < t.example->document.size();) {
      const std::size_t end = std::min(t.example->document.find('\n', at), t.example->document.size());
      text += "    " + t.example->document.substr(at, end - at) + "\n";
      at = end + 1;
    }
    text += t.example->cycle.empty() ? "    no execution has these values\n" : "";
  }
  for (const auto& [by, u] : t.unobserved)
    text += fmt::format("  not seen, explained by {}: {} outcomes, as {} of {}\n", by, u.outcomes, u.outcome, u.test);
  return text;
}

}  // namespace

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 100.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

double ms_a_test(const CampaignRow& row) {
  return row.tests == 0 ? 0.0 : row.seconds * 1000 / static_cast<double>(row.tests);
}

const std::vector<std::string>& why_numbers_differ() {
  static const std::vector<std::string> kWhy = {
      "Tests: the paper's generator leaves out, within its bounds, programs that Alloy's scopes and symmetry breaking "
      "do not reach; ours has every program up to the bound, each once up to renaming, so that most rows have more. "
      "Where a row has more tests than are run, those are evenly spaced among all. IR says nothing about a process's "
      "own memory, and a single process can read nothing else locally: in that row IR is taken to hold there, too "
      "(SO), as the paper has such tests. WS has none: when every write is read, R2 and R1 order two writes of a "
      "location as WS does, so that no cycle hangs on WS alone.",
      "Expected outcomes: of other tests, and counted as the values of all registers.",
      "Errors: hardware runs each test some thousand times, and shows what its delays happen to allow. Exploring tries "
      "every schedule of the model, so a network that lets a get overtake a put shows it in every test that can tell.",
      "Observed: for the same reason more is seen than on hardware. What is not seen is excluded by an order that the "
      "network keeps and the rules do not ask for.",
  };
  return kWhy;
}

std::string campaign_text(const Campaign& c) {
  std::string text =
      fmt::format("{:<6}{:>5}{:>6}{:>8}{:>9}{:>9}{:>9}", "rule", "proc", "size", "tests", "of", "ms/test", "outputs");
  for (const Network& n : c.networks) text += fmt::format("{:>16}", n.name.substr(0, 15));
  text += fmt::format("\n{:52}", "");
  for (std::size_t n = 0; n < c.networks.size(); ++n) text += fmt::format("{:>9}{:>7}", "errors", "obs %");
  text += "\n";
  for (const CampaignRow& r : c.rows) text += line(r);
  text += fmt::format("{:<17}{:>8}{:>27}", "all", all_tests(c), all_outcomes(c));
  for (std::size_t n = 0; n < c.networks.size(); ++n) {
    const Tally t = total(c, n);
    text += fmt::format("{:>9}{:>7.1f}", t.errors, percent(t.observed, all_outcomes(c)));
  }
  text += "\n";
  for (std::size_t n = 0; n < c.networks.size(); ++n) text += tail(c, n);
  return text;
}

std::string campaign_json(const Campaign& c, bool times) {
  Json rows = Json::array();
  for (const CampaignRow& r : c.rows) {
    Json networks = Json::object();
    for (std::size_t n = 0; n < c.networks.size(); ++n)
      networks[std::string(c.networks[n].name)] = tally_json(r.networks[n], r.outcomes);
    Json row = {{"rule", r.paper.pivot}, {"processes", r.paper.processes}, {"rules", r.rules.name()}, {"size", r.size},
                {"tests", r.tests},      {"tests_in_bound", r.in_bound}};
    if (times) row["ms_a_test"] = ms_a_test(r);
    row.update({{"outcomes", r.outcomes}, {"networks", networks}, {"paper", paper_json(r.paper)}});
    rows.push_back(std::move(row));
  }
  Json networks = Json::array();
  for (std::size_t n = 0; n < c.networks.size(); ++n) {
    Json j = tally_json(total(c, n), all_outcomes(c));
    j.update({{"name", c.networks[n].name},
              {"title", c.networks[n].title},
              {"hardware", c.networks[n].hardware},
              {"own_rules", c.networks[n].rules.name()}});
    networks.push_back(j);
  }
  const Json all = {{"tests", all_tests(c)},
                    {"outcomes", all_outcomes(c)},
                    {"networks", networks},
                    {"rows", rows},
                    {"why_numbers_differ", why_numbers_differ()}};
  return text::json_text(all, 2);
}

std::string campaign_csv(const Campaign& c, bool times) {
  std::string text = "rule,processes,size,tests,tests_in_bound," + std::string(times ? "ms_a_test," : "") +
                     "outcomes,network,errors,observed_percent,own_rules,own_rules_errors,own_rules_observed_percent,"
                     "paper_tests,paper_outcomes,paper_errors,paper_observed_percent\n";
  for (const CampaignRow& r : c.rows)
    for (std::size_t n = 0; n < c.networks.size(); ++n) {
      const Tally& t = r.networks[n];
      const int paper = c.networks[n].paper;
      const auto column = static_cast<std::size_t>(std::max(paper, 0));
      text +=
          fmt::format("{},{},{},{},{},{}{},{},{},{:.2f},\"{}\",{},{:.2f},{},{},{},{}\n", r.paper.pivot,
                      r.paper.processes, r.size, r.tests, r.in_bound, times ? fmt::format("{:.3f},", ms_a_test(r)) : "",
                      r.outcomes, c.networks[n].name, t.errors, percent(t.observed, r.outcomes),
                      c.networks[n].rules.name(), t.own_errors, percent(t.own_observed, t.own_expected), r.paper.tests,
                      r.paper.outcomes, paper < 0 ? "" : std::to_string(r.paper.errors[column]),
                      paper < 0 ? "" : fmt::format("{}", r.paper.observed[column]));
    }
  return text;
}

}  // namespace loco::networks
