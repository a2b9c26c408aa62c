#include "verify/drawing.hpp"

#include <fmt/format.h>
#include <map>
#include <vector>

#include "verify/schedule.hpp"

namespace loco::verify {

namespace {

std::string in_dot(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string label(const StepInWords& step) {
  std::string result = in_dot(step.action);
  if (step.operation) result += fmt::format(" #{}", *step.operation);
  if (!step.effect.empty()) result += "\\n" + in_dot(step.effect);
  return result;
}

}  // namespace

std::string to_dot(const Report& report) {
  if (!report.answer.counterexample) return "";
  const Semantics semantics(report.program, report.flushes, report.network);
  const std::vector<StepInWords> steps = in_words(semantics, report.answer.counterexample->schedule);
  std::string result = fmt::format(
      "digraph counterexample {{\n  label=\"{}: {} under {}\";\n  labelloc=t;\n  splines=line;\n  node [shape=box, "
      "fontname=\"sans-serif\", fontsize=10];\n",
      in_dot(report.program.file), in_dot(report.answer.why), name(report.network));
  // A column for each CPU and each NIC; invisible edges keep the rows in the order of the schedule.
  std::vector<std::string> last;
  for (std::size_t p = 0; p < report.program.processes.size(); ++p) {
    for (const char* kind : {"CPU", "NIC"}) {
      const std::string column = fmt::format("{}{}", kind, p);
      result += fmt::format("  {} [label=\"{} {}\", shape=plaintext, group={}];\n", column, kind,
                            report.program.processes[p].name(), column);
      last.push_back(column);
    }
  }
  result += "  { rank=same;";
  for (const std::string& column : last) result += " " + column + ";";
  result += " }\n";
  for (std::size_t c = 0; c + 1 < last.size(); ++c)
    result += fmt::format("  {} -> {} [style=invis];\n", last[c], last[c + 1]);
  std::map<std::uint32_t, std::string> operations;  // the latest step of each
  std::string before;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const StepInWords& step = steps[i];
    const std::string node = fmt::format("s{}", i + 1);
    std::string& column = last[2 * step.process + (step.nic ? 1 : 0)];
    result +=
        fmt::format("  {} [label=\"{}. {}\", group={}{}{}];\n", node, i + 1, label(step), step.nic ? "NIC" : "CPU",
                    step.process, i + 1 == steps.size() ? ", penwidth=2, color=red" : "");
    result += fmt::format("  {} -> {} [weight=10, arrowhead=none, color=gray];\n", column, node);
    if (!before.empty() && before != column) result += fmt::format("  {} -> {} [style=invis];\n", before, node);
    column = before = node;
    if (!step.operation) continue;
    const auto issued = operations.find(*step.operation);
    if (issued != operations.end())
      result += fmt::format("  {} -> {} [color=blue, constraint=false];\n", issued->second, node);
    operations[*step.operation] = node;
  }
  return result + "}\n";
}

}  // namespace loco::verify
