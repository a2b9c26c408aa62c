// Explanations in words and as Graphviz; results in herd7's layout.
#include <algorithm>
#include <map>
#include <ostream>
#include <sstream>

#include "model/litmus/answers/litmus.hpp"
#include "model/litmus/language/herd.hpp"
#include "text/shown.hpp"

namespace loco::model::litmus {
namespace {

std::string thread_name(const Explanation& e, int thread) {
  return "thread " + std::to_string(thread) + " (node " + std::to_string(at(e.thread_nodes, thread)) + ")";
}

std::string node_text(const Explanation& e, int node) {
  const Explanation::Node& n = at(e.nodes, node);
  return "thread " + std::to_string(n.thread) + " `" + n.statement + "` [" + n.label + "]";
}

/// The edge of the cycle that leaves its k-th node.
const Explanation::Edge* cycle_edge(const Explanation& e, std::size_t k) {
  const int from = e.cycle[k], to = e.cycle[(k + 1) % e.cycle.size()];
  for (const Explanation::Edge& edge : e.edges)
    if (edge.on_cycle && edge.from == from && edge.to == to) return &edge;
  return nullptr;
}

std::string escape(const std::string& s) {
  std::string r;
  for (const char c : s)
    r += c == '"' || c == '\\' ? std::string("\\") + c : c == '\n' ? std::string("\\n") : std::string(1, c);
  return r;
}

std::string colour(const std::string& relation) {
  static const std::map<std::string, std::string> kColours = {
      {"rf", "forestgreen"}, {"mo", "darkorange"}, {"rb", "firebrick"}, {"so", "blue"},   {"pf", "blue"},
      {"nfo", "purple"},     {"rao", "purple"},    {"fb", "firebrick"}, {"po", "gray50"}, {"hb", "blue"}};
  const auto it = kColours.find(relation);
  return it == kColours.end() ? "black" : it->second;
}

}  // namespace

std::string to_text(const Explanation& e) {
  std::string s = e.title + "\n";
  if (!e.cycle.empty()) {
    s += e.candidates == 1 ? "1 candidate execution has this cycle:\n"
                           : std::to_string(e.candidates) + " candidate executions have this cycle:\n";
    for (std::size_t k = 0; k < e.cycle.size(); ++k) {
      const Explanation::Edge* edge = cycle_edge(e, k);
      s += "  " + node_text(e, e.cycle[k]) + "\n";
      if (edge != nullptr) s += "    --" + edge->relation + "--> (" + edge->why + ")\n";
    }
    return s + "  " + node_text(e, e.cycle.front()) + "\n";
  }
  int thread = kNone;
  for (const Explanation::Node& n : e.nodes) {
    if (n.thread != thread) s += "  " + thread_name(e, n.thread) + "\n";
    thread = n.thread;
    s += "    " + n.statement + "  [" + n.label + "]\n";
  }
  for (const Explanation::Edge& edge : e.edges)
    if (edge.relation != "po")
      s += "  " + edge.relation + ": " + node_text(e, edge.from) + " -> " + node_text(e, edge.to) + " (" + edge.why +
           ")\n";
  return s;
}

std::string to_dot(const Explanation& e) {
  std::string s = "digraph \"" + escape(e.title) + "\" {\n";
  s += "  label=\"" + escape(e.title) +
       "\"; labelloc=t; splines=true; newrank=true;"
       " fontname=\"Helvetica\";\n";
  s += "  node [shape=box, style=rounded, fontname=\"Helvetica\", fontsize=11];\n";
  s += "  edge [fontname=\"Helvetica\", fontsize=10];\n";
  for (int t = 0; t < len(e.thread_nodes); ++t) {
    s += "  subgraph cluster_" + std::to_string(t) + " {\n    label=\"" + thread_name(e, t) + "\"; color=gray80;\n";
    for (int n = 0; n < len(e.nodes); ++n) {
      const Explanation::Node& node = at(e.nodes, n);
      if (node.thread != t) continue;
      const bool marked = std::find(e.cycle.begin(), e.cycle.end(), n) != e.cycle.end();
      s += "    n" + std::to_string(n) + " [label=\"" + escape(node.statement + "\n" + node.label) + "\"" +
           (marked ? ", penwidth=2" : "") + "];\n";
    }
    s += "  }\n";
  }
  for (const Explanation::Edge& edge : e.edges) {
    // Program order lays the threads out as columns; the other edges do not move nodes.
    // Where the cycle goes along it, program order is not drawn.
    const bool po = edge.relation == "po" && !edge.on_cycle;
    const bool covered = po && std::any_of(e.edges.begin(), e.edges.end(), [&](const Explanation::Edge& other) {
                           return other.on_cycle && other.from == edge.from && other.to == edge.to;
                         });
    s += "  n" + std::to_string(edge.from) + " -> n" + std::to_string(edge.to) + " [color=" + colour(edge.relation);
    if (po)
      s += std::string(", style=") + (covered ? "invis" : "dotted") + ", arrowsize=0.6, weight=10";
    else
      s += ", constraint=false, label=\"" + edge.relation + "\", fontcolor=" + colour(edge.relation);
    s += std::string(edge.on_cycle ? ", penwidth=2.5" : "") + "];\n";
  }
  return s + "}\n";
}

namespace {

/// herd7 asks of one condition whether it can happen. Ours are the outcomes that a document names, each one.
std::vector<PartialOutcome> conditions_of(const Program& program, const Result& result) {
  const auto by_model = program.outcomes_by_model.find(result.model);
  if (by_model != program.outcomes_by_model.end()) return by_model->second;
  std::vector<PartialOutcome> all = program.allowed;
  all.insert(all.end(), program.forbidden.begin(), program.forbidden.end());
  if (all.empty()) all.emplace_back();  // "true"
  return all;
}

/// In how many of the states does the condition hold, and in how many not?
std::string observation(const Program& program, const Result& result, const PartialOutcome& condition) {
  std::size_t positive = 0;
  for (std::size_t i = 0; i < result.outcomes.size(); ++i)
    positive += matches(condition, result.outcomes.row(i)) ? 1U : 0U;
  const std::size_t negative = result.outcomes.size() - positive;
  const char* const word = positive == 0 ? "Never" : negative == 0 ? "Always" : "Sometimes";
  return "Observation " + text::shown(program.name) + " " + word + " " + std::to_string(positive) + " " +
         std::to_string(negative) + "\n";
}

/// The document's condition in herd's syntax.
const char* asked(const Program& program, const Result& result) {
  using Quantifier = HerdCondition::Quantifier;
  if (program.condition)
    return program.condition->quantifier == Quantifier::exists   ? " Allowed"
           : program.condition->quantifier == Quantifier::forall ? " Required"
                                                                 : " Forbidden";
  const bool by_model = program.outcomes_by_model.count(result.model) > 0;
  return program.allowed.empty() && !program.forbidden.empty() && !by_model ? " Forbidden" : " Allowed";
}

/// herd's last lines, of its own files.
void tell_condition(std::ostream& out, const Program& program, const Result& result) {
  std::size_t positive = 0;
  for (std::size_t i = 0; i < result.outcomes.size(); ++i)
    positive += holds(*program.condition, result.outcomes.row(i)) ? 1U : 0U;
  const std::size_t negative = result.outcomes.size() - positive;
  out << "Witnesses\nPositive: " << positive << " Negative: " << negative << "\n";
  out << "Condition " << text(*program.condition) << "\n";
  out << "Observation " << text::shown(program.name)
      << (positive == 0   ? " Never "
          : negative == 0 ? " Always "
                          : " Sometimes ")
      << positive << " " << negative << "\n";
}

const char* verdict_word(const Result& result) {
  switch (verdict_of(result)) {
    case Verdict::ok:
      return "Ok";
    case Verdict::fail:
      return "No";
    case Verdict::incomplete:
      return "Incomplete";
    case Verdict::not_run:
      return "Not run";
  }
  return "";
}

}  // namespace

void list_outcomes(Result& result, const std::function<bool()>& stop, const std::function<void(std::size_t)>& list) {
  constexpr std::size_t kAskEvery = 256;
  const std::size_t n = result.outcomes.size();
  std::size_t i = 0;
  if (!result.cut_short || !stop || !stop()) {
    for (; i < n; ++i) {
      if (i % kAskEvery == 0 && i >= kListedAnyway && stop && stop()) break;
      list(i);
    }
  } else {
    for (const std::uint32_t place : result.outcomes.least(kListedAnyway)) {
      list(place);
      ++i;
    }
  }
  if (i == n) return;
  result.cut_short = true;
  result.complete = false;
  result.notes.push_back("of the outcomes found, " + std::to_string(n) + ", only " + std::to_string(i) +
                         " are listed: there was no more time");
}

void write_herd_text(std::ostream& out, const Program& program, Result& result, const std::function<bool()>& stop) {
  out << "Test " << text::shown(program.name) << asked(program, result) << "\n";
  out << "States " << result.outcomes.size() << "\n";
  std::string state;
  list_outcomes(result, stop, [&](std::size_t i) {
    state.clear();
    const OutcomeView o = result.outcomes.row(i);
    for (std::size_t k = 0; k < o.size(); ++k)
      state += (k > 0 ? " " : "") + program.observables[k].name + "=" + program.text(o[k]) + ";";
    out << state << (i < result.counts.size() ? " (" + std::to_string(result.counts[i]) + ")\n" : "\n");
  });
  out << verdict_word(result) << "\n";
  for (const std::string& m : result.missing) out << "Missing: " << m << "\n";
  for (const std::string& u : result.unexpected) out << "Unexpected: " << u << "\n";
  for (const std::string& r : result.races) out << "Race: " << r << "\n";
  for (const std::string& n : result.notes) out << "Note: " << n << "\n";
  if (!result.ran) return;
  if (program.condition) {
    tell_condition(out, program, result);
    return;
  }
  const std::vector<PartialOutcome> conditions = conditions_of(program, result);
  constexpr std::size_t kCountedAnyway = 2'000'000;  // comparisons
  if (result.cut_short && conditions.size() * result.outcomes.size() > kCountedAnyway && stop && stop()) return;
  for (const PartialOutcome& c : conditions) {
    if (conditions.size() > 1) out << "Condition exists (" << program.text(c, "true", " /\\ ") << ")\n";
    out << observation(program, result, c);
  }
}

std::string to_herd_text(const Program& program, const Result& result) {
  std::ostringstream out;
  Result told = result;
  write_herd_text(out, program, told);
  return out.str();
}

}  // namespace loco::model::litmus
