#include <algorithm>
#include <fmt/format.h>
#include <iterator>

#include "model/check.hpp"

namespace loco::model {
namespace {

const char* colour(Rule r) {
  switch (r) {
    case Rule::rf:
    case Rule::rbl_rf:
      return "forestgreen";
    case Rule::mo:
      return "darkorange";
    case Rule::rb:
    case Rule::rb_i:
    case Rule::rbl_fb:
      return "crimson";
    case Rule::nfo:
      return "purple";
    case Rule::ppo:
    case Rule::ippo:
      return "magenta";
    default:
      return "red";
  }
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string label(const Step& s) { return s.call_text + "\n" + s.subevent_text; }

/// Graphviz wants "\n" as two characters, so line breaks are put in after quoting.
std::string quoted_label(const Step& s) {
  std::string out = quoted(label(s));
  for (std::size_t at = out.find('\n'); at != std::string::npos; at = out.find('\n', at)) out.replace(at, 1, "\\n");
  return out;
}

void cycle_text(std::string& out, const std::vector<Step>& cycle) {
  std::size_t widest = 0;
  for (const Step& s : cycle) widest = std::max(widest, s.thread_name.size());
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    const Step& s = cycle[i];
    fmt::format_to(std::back_inserter(out), "    {:>2}. {:<{}}  {}: {}\n", i + 1, s.thread_name, widest, s.call_text,
                   s.subevent_text);
    const std::string next = i + 1 == cycle.size() ? "1" : std::to_string(i + 2);
    fmt::format_to(std::back_inserter(out), "        --{}--> {}\n", s.edge_text, next);
  }
}

std::string violations_text(const std::vector<Violation>& violations) {
  std::string out;
  for (const Violation& v : violations) {
    if (v.cycle.empty()) {
      fmt::format_to(std::back_inserter(out), "  {}: {}\n", name(v.rule), v.message);
    } else {
      fmt::format_to(std::back_inserter(out), "  {}\n", v.message);
      cycle_text(out, v.cycle);
    }
  }
  return out;
}

}  // namespace

bool Verdict::consistent() const {
  return std::all_of(results.begin(), results.end(), [](const LibraryResult& r) { return r.consistent; });
}

bool Verdict::undecided() const {
  return !consistent() &&
         std::ranges::all_of(results, [](const LibraryResult& r) { return r.consistent || r.undecided; });
}

std::vector<std::string> Verdict::without_calls() const {
  std::vector<std::string> names;
  for (const LibraryResult& r : results)
    if (r.calls == 0 && r.library != Library::rdmawait) names.emplace_back(name(r.library));
  return names;
}

std::string Verdict::to_text() const {
  std::string good;
  for (const LibraryResult& r : results)
    if (r.consistent) good += (good.empty() ? "" : ", ") + std::string(name(r.library));
  std::string out;
  if (!good.empty()) out = fmt::format("consistent: {} ({} subevents)\n", good, subevents);
  std::string previous;  // higher levels often have the violation of the lower one
  for (const LibraryResult& r : results) {
    if (r.consistent) continue;
    fmt::format_to(std::back_inserter(out), "{}: {} ({} calls, {} subevents)\n",
                   r.undecided ? "undecided" : "inconsistent", name(r.library), r.calls, r.subevents);
    const std::string text = violations_text(r.violations);
    out += text == previous ? "  as above\n" : text;
    previous = text;
  }
  for (const std::string& library : without_calls()) out += fmt::format("no {} calls in this trace\n", library);
  return out;
}

std::string Verdict::to_dot() const {
  std::string out =
      "digraph violation {\n  newrank=true; node [shape=box, fontname=\"Helvetica\", fontsize=10];\n"
      "  edge [fontname=\"Helvetica\", fontsize=9];\n";
  const std::vector<Step>* cycle = nullptr;
  for (const LibraryResult& r : results)
    for (const Violation& v : r.violations)
      if (cycle == nullptr && !v.cycle.empty()) cycle = &v.cycle;
  if (cycle == nullptr) return out + "}\n";

  std::vector<std::uint32_t> threads;
  for (const Step& s : *cycle) threads.push_back(s.thread);
  std::sort(threads.begin(), threads.end());
  threads.erase(std::unique(threads.begin(), threads.end()), threads.end());
  for (const std::uint32_t t : threads) {
    fmt::format_to(std::back_inserter(out), "  subgraph cluster_{} {{\n", t);
    std::vector<std::size_t> column;
    for (std::size_t i = 0; i < cycle->size(); ++i)
      if ((*cycle)[i].thread == t) column.push_back(i);
    std::stable_sort(column.begin(), column.end(),
                     [&](std::size_t a, std::size_t b) { return (*cycle)[a].call < (*cycle)[b].call; });
    fmt::format_to(std::back_inserter(out), "    label={}; style=rounded; color=gray;\n",
                   quoted((*cycle)[column.front()].thread_name));
    for (const std::size_t i : column)
      fmt::format_to(std::back_inserter(out), "    s{} [label={}];\n", i, quoted_label((*cycle)[i]));
    for (std::size_t i = 1; i < column.size(); ++i)  // keeps the column in program order
      fmt::format_to(std::back_inserter(out), "    s{} -> s{} [style=invis, weight=10];\n", column[i - 1], column[i]);
    out += "  }\n";
  }
  for (std::size_t i = 0; i < cycle->size(); ++i) {
    const Step& s = (*cycle)[i];
    fmt::format_to(std::back_inserter(out), "  s{} -> s{} [label={}, color={}, fontcolor={}, constraint=false];\n", i,
                   (i + 1) % cycle->size(), quoted(s.edge_text), colour(s.rule), colour(s.rule));
  }
  return out + "}\n";
}

}  // namespace loco::model
