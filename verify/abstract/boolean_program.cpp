#include "verify/abstract/boolean_program.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <optional>
#include <utility>
#include <z3++.h>

namespace loco::verify::abstract {

namespace {

constexpr std::size_t kWideMax = 8;  ///< predicates among which cubes of three literals are looked for, too

class CubeSearch {
 public:
  CubeSearch(const std::vector<Linear>& predicates, const Limits& limits)
      : predicates_(predicates), limits_(limits), solver_(context_) {}

  /// The cubes that contradict the atoms, none part of another one.
  Cubes against(const std::vector<Linear>& atoms) {
    solver_.reset();
    for (const Linear& atom : atoms) solver_.add(holds(atom));
    literals_.clear();
    std::vector<z3::expr> names;
    for (const std::uint32_t p : relevant(atoms)) {
      for (const std::int32_t literal : {static_cast<std::int32_t>(p) + 1, -static_cast<std::int32_t>(p) - 1}) {
        const z3::expr name = context_.bool_const(fmt::format("l{}", literal).c_str());
        const z3::expr atom = holds(predicates_[p]);
        solver_.add(z3::implies(name, literal > 0 ? atom : !atom));
        literals_.push_back(literal);
        names.push_back(name);
      }
    }
    found_.clear();
    Cube cube;
    const std::size_t most = literals_.size() <= 2 * kWideMax ? 3 : 2;
    for (std::size_t size = 0; size <= most; ++size) extend(names, cube, 0, size);
    return found_;
  }

  std::uint64_t calls() const { return calls_; }

 private:
  z3::expr variable(Variable v) { return context_.int_const(fmt::format("v{}", v).c_str()); }

  z3::expr holds(const Linear& atom) {
    z3::expr sum = context_.int_val(static_cast<std::int64_t>(atom.constant));
    for (const Term& t : atom.terms)
      sum = sum + context_.int_val(static_cast<std::int64_t>(t.factor)) * variable(t.variable);
    return sum <= 0;
  }

  /// Predicates that share a variable with the atoms, or connect two predicates that do.
  std::vector<std::uint32_t> relevant(const std::vector<Linear>& atoms) const {
    const auto mentioned = [](const std::vector<Linear>& list, Variable v) {
      return std::any_of(list.begin(), list.end(), [&](const Linear& a) { return a.mentions(v); });
    };
    std::vector<std::uint32_t> result;
    std::vector<Linear> near = atoms;
    for (const Linear& p : predicates_) {
      if (std::any_of(p.terms.begin(), p.terms.end(), [&](const Term& t) { return mentioned(atoms, t.variable); }))
        near.push_back(p);
    }
    for (std::uint32_t p = 0; p < predicates_.size(); ++p) {
      const auto& terms = predicates_[p].terms;
      const bool shares =
          std::any_of(terms.begin(), terms.end(), [&](const Term& t) { return mentioned(atoms, t.variable); });
      const bool connects =
          std::all_of(terms.begin(), terms.end(), [&](const Term& t) { return mentioned(near, t.variable); });
      if (shares || connects) result.push_back(p);
    }
    return result;
  }

  bool contains_found(const Cube& cube) const {
    return std::any_of(found_.begin(), found_.end(), [&](const Cube& known) {
      return std::all_of(known.begin(), known.end(),
                         [&](std::int32_t l) { return std::find(cube.begin(), cube.end(), l) != cube.end(); });
    });
  }

  void extend(const std::vector<z3::expr>& names, Cube& cube, std::size_t from, std::size_t missing) {
    if (contains_found(cube)) return;
    if (missing == 0) {
      z3::expr_vector assumed(context_);
      for (const std::int32_t l : cube) {
        const auto i = std::find(literals_.begin(), literals_.end(), l) - literals_.begin();
        assumed.push_back(names[static_cast<std::size_t>(i)]);
      }
      ++calls_;
      limits_.look_at_all();
      if (solver_.check(assumed) == z3::unsat) found_.push_back(cube);
      return;
    }
    for (std::size_t i = from; i < literals_.size(); ++i) {
      cube.push_back(literals_[i]);
      extend(names, cube, (i / 2 + 1) * 2, missing - 1);  // one literal of a predicate
      cube.pop_back();
    }
  }

  const std::vector<Linear>& predicates_;
  const Limits& limits_;
  z3::context context_;
  z3::solver solver_;
  std::vector<std::int32_t> literals_;
  Cubes found_;
  std::uint64_t calls_ = 0;
};

std::vector<Linear> with(std::vector<Linear> atoms, const Linear& atom) {
  atoms.push_back(atom);
  return atoms;
}

/// The command of a NIC's step with variables in place of elements; nothing when one of them is there already.
std::optional<Command> synchronous(const Reduced& reduced, const NicStep& step) {
  const Channel& channel = reduced.channels[step.channel];
  std::vector<std::pair<Variable, Linear>> sources;
  for (std::uint32_t o = 0; o < channel.operands.size(); ++o) {
    const Variable source = collected(reduced, step.channel, o);
    for (const auto& [element, value] : sources) {
      if (value == Linear::of(source)) return std::nullopt;
    }
    sources.emplace_back(channel.operands[o].element, Linear::of(source));
  }
  const auto replaced = [&](const Linear& linear) {
    return substitute(linear, [&](Variable v) -> const Linear* {
      for (const auto& [element, value] : sources) {
        if (element == v) return &value;
      }
      return nullptr;
    });
  };
  const auto twice = [&](const Linear& linear) {
    return std::any_of(sources.begin(), sources.end(),
                       [&](const auto& s) { return linear.mentions(s.second.terms.front().variable); });
  };
  Command command;
  for (const Linear& guard : step.command.guards) {
    if (twice(guard)) return std::nullopt;
    command.guards.push_back(replaced(guard));
  }
  for (const Assignment& a : step.command.assignments) {
    if (a.value && twice(*a.value)) return std::nullopt;
    command.assignments.push_back({a.target, replaced(a.value.value())});
  }
  return command;
}

BooleanStep boolean_step(const Command& command, const Reduced& reduced, const std::vector<Linear>& predicates,
                         CubeSearch& search) {
  BooleanStep result;
  result.blocked = search.against(command.guards);
  const Linear anything = Linear::of(reduced.anything);
  for (std::uint32_t p = 0; p < predicates.size(); ++p) {
    bool changed = changes(command, predicates[p]);
    for (const Linear& guard : command.guards) {
      for (const Term& t : guard.terms) changed = changed || predicates[p].mentions(t.variable);
    }
    if (!changed) continue;
    const Linear after = substitute(predicates[p], [&](Variable v) { return assigned(command, v, anything); });
    // F(guards imply wp): the cubes that contradict the guards together with the negation of wp.
    result.assignments.push_back(
        {p, search.against(with(command.guards, negation(after))), search.against(with(command.guards, after))});
  }
  return result;
}

}  // namespace

Cubes cubes_against(const std::vector<Linear>& atoms, const std::vector<Linear>& predicates) {
  return CubeSearch(predicates, {}).against(atoms);
}

Variable collected(const Reduced& reduced, std::uint32_t channel, std::uint32_t operand) {
  const Channel& c = reduced.channels[channel];
  return c.results ? reduced.shared(reduced.program->remotes[c.remote].remote) : c.operands[operand].source;
}

BooleanProgram boolean_program(const Reduced& reduced, const std::vector<Linear>& predicates, const Limits& limits) {
  BooleanProgram result;
  result.predicates = predicates;
  CubeSearch search(result.predicates, limits);
  for (const CpuStep& step : reduced.cpu) {
    result.cpu.push_back(boolean_step(step.command, reduced, predicates, search));
  }
  for (const NicStep& step : reduced.nic) {
    const auto command = synchronous(reduced, step);
    if (command) {
      result.nic.push_back(boolean_step(*command, reduced, predicates, search));
      continue;
    }
    BooleanStep unknown;
    for (std::uint32_t p = 0; p < predicates.size(); ++p) {
      if (changes(step.command, predicates[p])) unknown.assignments.push_back({p, {}, {}});
    }
    result.nic.push_back(std::move(unknown));
  }
  for (const Violation& v : reduced.violations) result.impossible.push_back(search.against(v.where.atoms));
  result.solver_calls = search.calls();
  return result;
}

namespace {

std::string cubes_text(const Cubes& cubes) {
  std::string result;
  for (const Cube& cube : cubes) {
    result += result.empty() ? "" : " | ";
    if (cube.empty()) result += "true";
    for (std::size_t i = 0; i < cube.size(); ++i)
      result += fmt::format("{}{}b{}", i == 0 ? "" : " & ", cube[i] < 0 ? "!" : "", std::abs(cube[i]) - 1);
  }
  return result.empty() ? "false" : result;
}

}  // namespace

std::string to_text(const Reduced& reduced, const BooleanProgram& program) {
  std::string text;
  const auto step = [&](const BooleanStep& s) {
    if (!s.blocked.empty()) text += fmt::format("    assume !({})\n", cubes_text(s.blocked));
    for (const BooleanAssignment& a : s.assignments)
      text += fmt::format("    b{} = choose({}, {})\n", a.predicate, cubes_text(a.holds), cubes_text(a.fails));
  };
  for (std::size_t p = 0; p < program.predicates.size(); ++p)
    text += fmt::format("b{} = {}\n", p, to_string(program.predicates[p], [&](Variable v) { return reduced.name(v); }));
  for (std::size_t i = 0; i < program.cpu.size(); ++i) {
    const CpuStep& s = reduced.cpu[i];
    const Process& process = reduced.program->processes[s.process];
    text += fmt::format("{} {} -> {}: {}{}\n", process.name(), s.from, s.to, process.edges[s.edge].text,
                        s.fails ? " fails" : "");
    step(program.cpu[i]);
  }
  for (std::size_t i = 0; i < program.nic.size(); ++i) {
    const Channel& c = reduced.channels[reduced.nic[i].channel];
    text += fmt::format("{}: {}\n", reduced.program->remotes[c.remote].text, c.results ? "result" : "request");
    step(program.nic[i]);
  }
  return text;
}

}  // namespace loco::verify::abstract
