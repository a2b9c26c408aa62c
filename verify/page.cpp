#include "verify/page.hpp"

#include <fmt/format.h>
#include <string_view>

#include "text/words.hpp"
#include "verify/liveness/words.hpp"
#include "verify/schedule.hpp"

namespace loco::verify {

namespace {

constexpr const char* kStyle =
    "body{font:15px/1.45 sans-serif;margin:2em auto;max-width:75em;padding:0 1em}h1{font-size:1.5em}h2{font-size:1.2em;"
    "margin:1.6em 0 .3em;overflow-wrap:anywhere}.wide{overflow-x:auto}table{border-collapse:collapse;margin:.6em 0}"
    "td,th{padding:.3em .7em;text-align:left;vertical-align:top;border-bottom:1px solid #ddd}th{background:#f3f3f3}"
    ".steps td{border-bottom:0;padding:.15em .7em;white-space:nowrap}.steps td:first-child,.number{text-align:right;"
    "color:#777}.nic{background:#eef4fb}.what{display:block}.effect{display:block;color:#555;font-size:.85em}"
    ".broken{outline:2px solid #b00020}.safe{color:#1a7f37}.unsafe{color:#b00020}.unknown{color:#9a6700}"
    "pre{background:#f6f6f6;padding:.8em;overflow-x:auto;white-space:pre-wrap}td a{overflow-wrap:anywhere}"
    // On a phone a step is a line that begins with who takes it.
    "@media(max-width:45em){.steps,.steps tbody{display:block}.more,.steps th,.steps td:empty{display:none}.steps "
    "tr{display:flex}.steps td{"
    "white-space:normal}.steps td:first-child{flex:0 0 1.6em}.steps td[data-who]{flex:1}.steps td[data-who]::before{"
    "content:attr(data-who);font-size:.85em;font-weight:bold}}";

std::string verdict(const Report& report) { return fmt::format("<b class={0}>{0}</b>", name(report.answer.verdict)); }

std::string flushes(const Report& report) {
  const std::size_t given = report.program.flushes.size();
  if (!report.search || !report.search->found) return fmt::format("{}", given);
  return fmt::format("{} of {}", report.search->placements.front().size(), given);
}

std::string overview(const std::vector<Report>& reports) {
  std::string out =
      "<div class=wide><table><tr><th>program<th>verdict<th class=more>network<th class=more>by<th>flushes</tr>\n";
  for (std::size_t i = 0; i < reports.size(); ++i)
    out += fmt::format("<tr><td><a href=\"#p{}\">{}</a><td>{}<td class=more>{}<td class=more>{}<td>{}</tr>\n", i,
                       text::in_html(reports[i].program.file), verdict(reports[i]), name(reports[i].network),
                       text::in_html(reports[i].answer.engine), flushes(reports[i]));
  return out + "</table></div>\n";
}

std::string placements(const Report& report) {
  if (!report.search || report.answer.verdict == Verdict::kUnsafe) return {};
  std::string out = fmt::format("<p>{}</p>\n", text::in_html(report.search->why));
  if (report.answer.verdict != Verdict::kSafe || report.search->placements.empty()) return out;
  out += "<ul>\n";
  for (const Elements& placement : report.search->placements) {
    out += placement.empty() ? "<li>none" : "<li>";
    for (std::size_t i = 0; i < placement.size(); ++i)
      out += fmt::format("{}{}", i == 0 ? "" : ", ", text::in_html(flush_text(report, placement[i])));
    out += "</li>\n";
  }
  return out + "</ul>\n";
}

/// Verdicts on liveness, and lassos, as the command line prints them.
std::string lively(const Report& report) {
  if (report.liveness.empty()) return {};
  const Semantics semantics(report.program, report.flushes, report.network);
  const std::string text = liveness::to_text(semantics, report.liveness);
  return fmt::format("<p>{}: {}.</p>\n{}", liveness::verdict_text(report.liveness),
                     text::in_html(liveness::deciding(report.liveness).why),
                     text.empty() ? "" : fmt::format("<pre>{}</pre>\n", text::in_html(text)));
}

std::string steps(const Report& report) {
  if (!report.answer.counterexample) return {};
  const Program& program = report.program;
  const std::vector<StepInWords> steps =
      in_words(Semantics(program, report.flushes, report.network), report.answer.counterexample->schedule);
  std::string out = "<div class=wide><table class=steps><tr><th>";
  for (const Process& process : program.processes)
    out += fmt::format("<th>CPU {0}<th>NIC {0}", text::in_html(process.name()));
  out += "<th class=number>line</tr>\n";
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const StepInWords& step = steps[i];
    out += fmt::format("<tr><td>{}", i + 1);
    for (std::size_t column = 0; column < 2 * program.processes.size(); ++column) {
      const bool nic = column % 2 == 1;
      if (column != 2 * step.process + (step.nic ? 1U : 0U)) {
        out += nic ? "<td class=nic>" : "<td>";
        continue;
      }
      const std::string number = step.operation ? fmt::format(" #{}", *step.operation) : "";
      out += fmt::format(
          "<td class=\"{}{}\" data-who=\"{} {}\"><span class=what>{}{}</span><span class=effect>{}</span>",
          nic ? "nic" : "cpu", i + 1 == steps.size() ? " broken" : "", nic ? "NIC" : "CPU",
          program.processes[step.process].name(), text::in_html(step.action), number, text::in_html(step.effect));
    }
    out += fmt::format("<td class=number>{}</tr>\n", step.place.line);
  }
  return out + "</table></div>\n";
}

}  // namespace

std::string to_html(const std::vector<Report>& reports, const std::vector<std::string>& notes) {
  std::string out = fmt::format(
      "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport "
      "content=\"width=device-width,initial-scale=1\"><title>RMA programs, verified</title><style>{}</style>\n"
      "<h1>RMA programs, verified</h1>\n<p>For every schedule of CPUs and NICs, with any number of operations pending. "
      "In a counterexample time goes downward; #n is the number of an operation, and the last step is the one after "
      "which a property is broken.</p>\n",
      kStyle);
  out += overview(reports);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const Report& report = reports[i];
    out += fmt::format("<h2 id=p{}>{}</h2>\n<p>{} under {}: {}.", i, text::in_html(report.program.file),
                       verdict(report), name(report.network), text::in_html(report.answer.why));
    if (report.answer.counterexample && report.answer.counterexample->shortest)
      out += " No schedule with fewer steps breaks anything.";
    out += "</p>\n" + placements(report) + steps(report) + lively(report);
    if (i < notes.size() && !notes[i].empty()) out += fmt::format("<pre>{}</pre>\n", text::in_html(notes[i]));
  }
  return out + "</html>\n";
}

}  // namespace loco::verify
