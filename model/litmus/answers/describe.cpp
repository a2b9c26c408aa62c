// A test in sentences: the steps of each thread; then, for each outcome that the document names, whether it is allowed
// and which orders decide that.
#include "model/litmus/answers/describe.hpp"

#include <algorithm>

#include "model/litmus/language/herd.hpp"
#include "text/shown.hpp"
#include "text/words.hpp"

namespace loco::model::litmus {
namespace {

/// The statements of a thread, each once, as written.
std::string statements(const Thread& t) {
  std::string s;
  const std::string* last = nullptr;
  text::Mark at;
  for (const Instruction& i : t.code) {
    if (last != nullptr && i.text == *last && i.at.line == at.line && i.at.column == at.column) continue;
    last = &i.text;
    at = i.at;
    if (!i.text.empty() && i.op != Op::jump) s += (s.empty() ? "" : ", then ") + text::shown(i.text);
  }
  return s.empty() ? "nothing" : s;
}

std::string who(const Program& p) {
  std::string s;
  for (int t = 0; t < len(p.threads); ++t)
    s += (t == 0 ? "Thread " : "; thread ") + std::to_string(t) + " on node " + std::to_string(at(p.threads, t).node) +
         " does " + statements(at(p.threads, t));
  return s + ".";
}

/// The cycle as a chain of reasons.
std::string reasons(const Explanation& e) {
  std::string s;
  for (std::size_t k = 0; k < e.cycle.size(); ++k) {
    const int from = e.cycle[k], to = e.cycle[(k + 1) % e.cycle.size()];
    const auto edge = std::ranges::find_if(
        e.edges, [&](const Explanation::Edge& x) { return x.on_cycle && x.from == from && x.to == to; });
    s += (k == 0 ? "" : ", ") + text::shown(at(e.nodes, from).statement) + " is before " +
         text::shown(at(e.nodes, to).statement) + (edge == e.edges.end() ? "" : " (" + edge->why + ")");
  }
  return s;
}

std::string under(const Program& p, const PartialOutcome& asked, const Options& options) {
  return "Under " + (options.model.empty() ? p.model : options.model) + ", " + p.text(asked, "any end");
}

}  // namespace

std::string describe_threads(const Program& program) { return text::shown(program.name) + ": " + who(program); }

std::string describe_forbidden(const Program& program, const PartialOutcome& asked,
                               const std::vector<Explanation>& cycles, const Options& options) {
  return under(program, asked, options) + " is never seen: it would need a circle, as " + reasons(cycles.front()) + ".";
}

std::string describe_allowed(const Program& program, const PartialOutcome& asked, const Options& options) {
  return under(program, asked, options) + " may be seen: nothing orders these accesses the other way.";
}

std::string describe(const Program& program, const Options& options) {
  std::vector<PartialOutcome> asked = program.allowed;
  asked.insert(asked.end(), program.forbidden.begin(), program.forbidden.end());
  std::string s = describe_threads(program);
  for (const PartialOutcome& o : asked) {
    s += " ";
    if (witness(program, o, options)) {
      s += describe_allowed(program, o, options);
      continue;
    }
    const std::vector<Explanation> cycles = explain_forbidden(program, o, options);
    s += cycles.empty() ? under(program, o, options) + " " + why_no_candidate(program, options).text + "."
                        : describe_forbidden(program, o, cycles, options);
  }
  if (program.condition) s += " Asked: " + text(*program.condition) + ".";
  return s;
}

}  // namespace loco::model::litmus
