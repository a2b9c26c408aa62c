// A campaign as one HTML page without scripts or external files.
#include <fmt/format.h>

#include "loco_sim/networks/campaign.hpp"
#include "text/words.hpp"

namespace loco::networks {

namespace {

constexpr const char* kStyle =
    "body{font:15px/1.45 sans-serif;margin:2em auto;max-width:75em;padding:0 "
    "1em}table{border-collapse:collapse;margin:1em 0}td,th{padding:.25em .6em;text-align:right;border-bottom:1px solid "
    "#ddd}th{background:#f3f3f3}td:first-child,th:first-child{text-align:left}.paper{color:#777}.bad{color:#b00020}pre{"
    "background:#f6f6f6;padding:.8em;overflow:auto}";

std::string error_cell(std::uint64_t errors) {
  return errors == 0 ? "<td></td>" : fmt::format("<td class=bad>{}</td>", errors);
}

std::string paper_cells(const PaperRow& paper, int column) {
  if (column < 0) return "<td></td><td></td>";
  const auto c = static_cast<std::size_t>(column);
  return fmt::format("<td class=paper>{}</td><td class=paper>{}</td>",
                     paper.errors[c] == 0 ? "" : std::to_string(paper.errors[c]), paper.observed[c]);
}

std::string table(const Campaign& c) {
  std::string out =
      "<table><tr><th rowspan=2>rule<th rowspan=2>processes<th rowspan=2>size<th rowspan=2>tests<th rowspan=2>of<th "
      "rowspan=2>ms a test<th rowspan=2>outcomes<th colspan=2 class=paper>paper";
  for (const Network& n : c.networks) out += fmt::format("<th colspan=4>{}", n.title);
  out += "</tr><tr><th class=paper>tests<th class=paper>outcomes";
  for (std::size_t n = 0; n < c.networks.size(); ++n)
    out += "<th>errors<th>seen, %<th class=paper>errors<th class=paper>seen, %";
  out += "</tr>\n";
  for (const CampaignRow& r : c.rows) {
    out += fmt::format("<tr><td>{}<td>{}<td>{}<td>{}<td>{}<td>{:.2f}<td>{}<td class=paper>{}<td class=paper>{}",
                       r.paper.pivot, r.paper.processes, r.size, r.tests, r.in_bound, ms_a_test(r), r.outcomes,
                       r.paper.tests, r.paper.outcomes);
    for (std::size_t n = 0; n < c.networks.size(); ++n)
      out += error_cell(r.networks[n].errors) + fmt::format("<td>{:.1f}", percent(r.networks[n].observed, r.outcomes)) +
             paper_cells(r.paper, c.networks[n].paper);
    out += "</tr>\n";
  }
  return out + "</table>\n";
}

std::string section(const Campaign& c, std::size_t n) {
  const Network& network = c.networks[n];
  const Tally t = total(c, n);
  std::string out = fmt::format(
      "<h2>{}</h2><p>Profile <code>{}</code>. Under its own rules, <code>{}</code>: {} tests with errors, {:.1f} % of "
      "what they allow seen.</p>\n",
      network.title, network.hardware, network.rules.name(), t.own_errors, percent(t.own_observed, t.own_expected));
  if (t.errors != 0) out += "<h3>Shortest test with an error, by rule</h3>\n";
  for (const CampaignRow& r : c.rows) {
    const auto& e = r.networks[n].example;
    if (!e) continue;
    out += fmt::format("<details><summary>{}, {} process{}: {} of {} (size {})</summary><pre>{}\n{}</pre></details>\n",
                       r.paper.pivot, r.paper.processes, r.paper.processes == 1 ? "" : "es", text::in_html(e->outcome),
                       text::in_html(e->test), e->size, text::in_html(e->document),
                       text::in_html(e->cycle.empty() ? "No execution has these values." : e->cycle));
  }
  if (t.unobserved.empty()) return out;
  out +=
      "<h3>Expected and not seen, by the guarantees that would each explain "
      "it</h3>\n<table><tr><th>guarantee<th>outcomes<th>for example</tr>\n";
  for (const auto& [by, u] : t.unobserved)
    out += fmt::format("<tr><td>{}<td>{}<td>{} of {}</tr>\n", text::in_html(by), u.outcomes, text::in_html(u.outcome),
                       text::in_html(u.test));
  return out + "</table>\n";
}

}  // namespace

std::string campaign_html(const Campaign& c) {
  std::string out = fmt::format(
      "<!doctype html><html lang=en><meta charset=utf-8><title>coreRMA on simulated networks</title><style>{}</style>\n"
      "<h1>coreRMA tests on simulated networks</h1>\n<p>Table 6 of the coreRMA paper, for our networks: tests "
      "generated for each rule, outcomes that the stock rules expect, tests with other outcomes (errors), and how many "
      "of the expected outcomes are seen. The paper's numbers are grey.</p>\n",
      kStyle);
  out += table(c);
  out += "<h2>Why our numbers are not the paper's</h2>\n";
  for (const std::string& why : why_numbers_differ()) out += "<p>" + text::in_html(why) + "</p>\n";
  for (std::size_t n = 0; n < c.networks.size(); ++n) out += section(c, n);
  out += "<h2>Guarantees beyond the paper's rules</h2>\n<table>\n";
  for (const Rule rule : {Rule::so, Rule::sr, Rule::oa, Rule::sf, Rule::rl, Rule::fa, Rule::at})
    out += fmt::format("<tr><td>{}<td style=text-align:left>{}</tr>\n", name(rule), text::in_html(description(rule)));
  return out + "</table></html>\n";
}

}  // namespace loco::networks
