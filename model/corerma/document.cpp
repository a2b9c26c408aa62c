#include "model/corerma/document.hpp"

#include <algorithm>

#include "model/litmus/answers/litmus.hpp"

namespace loco::model::corerma {
namespace {

std::string variable(int v) { return std::string(1, static_cast<char>('A' + v)); }
std::string number(std::int64_t n) { return std::to_string(n); }

/// The statement as a document has it. `reg` numbers local reads.
std::string statement_text(const Statement& s, std::int64_t constant, int reg) {
  const std::string x = s.local == kNobody ? "" : variable(s.local), z = s.remote == kNobody ? "" : variable(s.remote);
  switch (s.kind) {
    case Kind::read:
      return "u" + number(reg) + " = " + x;
    case Kind::write:
      return x + " = " + number(constant);
    case Kind::get:
      return x + " = get(" + z + ")";
    case Kind::put:
      return "put(" + z + ", " + x + ")";
    case Kind::rga:
      return x + " = rga(" + z + ", " + variable(s.operand) + ")";
    case Kind::cas:
      return x + " = cas(" + z + ", " + variable(s.operand) + ", " + variable(s.operand2) + ")";
    case Kind::flush:
      return "flush(" + number(s.host) + ")";
  }
  return "";
}

std::vector<std::string> statement_texts(const Program& program) {
  const Constants constants(program);
  std::vector<std::string> texts;
  int reg = 0;
  for (int i = 0; i < program.count; ++i) {
    const Statement& s = program.statement(i);
    texts.push_back(statement_text(s, constants.written[index(i)], reg));
    if (s.kind == Kind::read) ++reg;
  }
  return texts;
}

std::string action_text(const Program& program, const ActionGraph& graph, int action) {
  static constexpr std::array<std::array<const char*, 4>, kKinds> kTypes = {
      {{"r"}, {"w"}, {"er", "ew"}, {"er", "ew"}, {"er", "erw", "ew"}, {"er", "er", "erw", "ew"}, {"flush"}}};
  const int s = graph.statement[index(action)];
  const auto kind = static_cast<std::size_t>(program.statement(s).kind);
  const std::string on = graph.variable[index(action)] == kNobody ? "" : " " + variable(graph.variable[index(action)]);
  return kTypes[kind][index(action - graph.first[index(s)])] + on + " of `" + statement_texts(program)[index(s)] + "`";
}

std::string outcome_text(const litmus::Program& program, const litmus::Outcome& outcome) {
  std::string s;
  for (int i = 0; i < litmus::len(program.observables); ++i)
    s += (i > 0 ? ", " : "") + litmus::at(program.observables, i).name + ": " + program.text(litmus::at(outcome, i));
  return "{" + s + "}";
}

static_assert(kNobody == litmus::kNone);

/// As the parser has it, but for registers and constants. What is absent has the same number in both.
litmus::Instruction instruction(const Statement& s) {
  using enum litmus::Op;
  static constexpr std::array<litmus::Op, kKinds> kOps = {read, write, get, put, rga, remote_cas, flush};
  litmus::Instruction i;
  i.op = kOps[static_cast<std::size_t>(s.kind)];
  i.location = s.kind == Kind::put ? s.remote : s.local;
  i.source = s.kind == Kind::put ? s.local : s.remote;
  i.operand = s.operand;
  i.operand2 = s.operand2;
  i.node = s.host;
  return i;
}

/// The registers' values in the candidate, in the order of to_litmus()'s observables; nothing if one depends on itself.
std::optional<litmus::Outcome> outcome_of(const Program& program, const ActionGraph& graph, const Witness& witness) {
  const CandidateValues values(program, graph, witness);
  litmus::Outcome outcome;
  for (int i = 0; i < program.count; ++i) {
    if (program.statement(i).kind != Kind::read) continue;
    const auto value = values.read(graph.first[index(i)]);
    if (!value) return std::nullopt;
    outcome.push_back(*value);
  }
  return outcome;
}

}  // namespace

std::string bare_document(const Test& test, RuleSet rules) {
  const Program& p = test.program;
  const Constants constants(p);
  const std::vector<std::string> texts = statement_texts(p);
  std::string out = "name: " + test.name + "\nmodel: " + rules.name() + "\nlocations: {";
  for (int v = 0; v < p.variables; ++v)
    out += (v > 0 ? ", " : "") + variable(v) + ": {node: " + number(p.home_of(v)) +
           ", init: " + number(constants.initial[index(v)]) + "}";
  out += "}\nthreads:\n";
  for (int process = 0; process < p.processes; ++process) {
    out += "  - {node: " + number(process) + ", code: \"";
    for (int i = p.begin_of(process); i < p.end_of(process); ++i)
      out += (i > p.begin_of(process) ? "; " : "") + texts[index(i)];
    out += "\"}\n";
  }
  return out;
}

litmus::Program to_litmus(const Test& test, RuleSet rules) {
  const Program& p = test.program;
  const Constants constants(p);
  const std::vector<std::string> texts = statement_texts(p);
  litmus::Program out;
  out.name = out.file = test.name;
  out.model = rules.name();
  for (int v = 0; v < p.variables; ++v) {
    litmus::Location& l = out.locations.emplace_back();
    l.name = variable(v);
    l.node = out.mention(p.home_of(v));
    l.init = constants.initial[index(v)];
  }
  for (int process = 0; process < p.processes; ++process) {
    litmus::Thread& thread = out.threads.emplace_back();
    thread.node = out.mention(process);
    for (int i = p.begin_of(process); i < p.end_of(process); ++i) {
      litmus::Instruction& x = thread.code.emplace_back(instruction(p.statement(i)));
      x.text = texts[index(i)];
      if (x.op == litmus::Op::write)
        x.expr = out.add({.op = litmus::ExprOp::constant, .constant = constants.written[index(i)]});
      if (x.op == litmus::Op::flush) out.mention(x.node);
      if (x.op != litmus::Op::read) continue;
      x.target = litmus::len(thread.registers);
      const std::string name = "u" + number(litmus::len(out.observables));
      thread.registers.push_back({name});
      out.observables.push_back({.name = name, .thread = process, .reg = x.target});
    }
  }
  return out;
}

Expectation expect(const Test& test, const GenerateOptions& options) {
  Expectation e;
  e.program = to_litmus(test, options.rules);
  litmus::Options enumeration;
  enumeration.outcomes_only = true;
  e.outcomes = litmus::enumerate(e.program, enumeration).outcomes.all();
  WitnessSearch search(options.rules, options.pivot, options.reads);
  const auto tells = [&](const Witness& w) {
    const auto outcome = outcome_of(test.program, search.graph(), w);
    if (!outcome || std::binary_search(e.outcomes.begin(), e.outcomes.end(), *outcome)) return false;
    e.forbidden = outcome;
    return true;
  };
  if (const Witness* w = search.find(test.program, tells))
    e.edge = action_text(test.program, search.graph(), w->from) + " before " +
             action_text(test.program, search.graph(), w->to);
  return e;
}

std::string document(const Test& test, const GenerateOptions& options, const Expectation& e) {
  std::string out = bare_document(test, options.rules);
  out += "outcomes_by_model:\n  " + options.rules.name() + ": [";
  for (std::size_t i = 0; i < e.outcomes.size(); ++i)
    out += (i > 0 ? ", " : "") + outcome_text(e.program, e.outcomes[i]);
  out += "]\n";
  if (e.forbidden) {
    out += "outcomes: {forbidden: [" + outcome_text(e.program, *e.forbidden) + "]}\n# by " + text(options.pivot) +
           ": " + e.edge + "\n";
  } else {
    out += "# no outcome tells " + text(options.pivot) + ": what it forbids has the values of what is allowed\n";
  }
  return out;
}

}  // namespace loco::model::corerma
