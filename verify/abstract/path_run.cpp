#include "verify/abstract/path_run.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace loco::verify::abstract {

namespace {

using Node = std::uint32_t;
using Steps = std::set<std::uint32_t>;

/// An operation of a channel, on the path.
struct Operation {
  std::uint32_t number = 0;   ///< in the schedule
  std::uint32_t entered = 0;  ///< the step
};

class Runner {
 public:
  Runner(Stepper& stepper, const AbstractPath& path)
      : stepper_(stepper),
        abstraction_(stepper.abstraction()),
        reduced_(abstraction_.reduced()),
        path_(path),
        held_(reduced_.channels.size()),
        origins_(abstraction_.operands()),
        captured_(abstraction_.operands()) {}

  PathRun run() {
    run_.nodes.emplace_back();
    current_.push_back(0);
    for (Variable v = 1; v < reduced_.memory_end(); ++v)
      current_.push_back(node(v, 0, Linear::of_constant(reduced_.initial[v - 1])));
    for (now_ = 1; now_ <= path_.steps.size(); ++now_) {
      stepper_.limits().tick();
      const AbstractStep& step = path_.steps[now_ - 1];
      if (!(step.nic ? nic(step) : cpu(step))) return std::move(run_);
    }
    if (path_.violation) {
      for (const Linear& atom : reduced_.violations[*path_.violation].where.atoms) {
        if (!guard(atom, {})) return std::move(run_);
      }
    }
    write_schedule();
    return std::move(run_);
  }

 private:
  using Elements = std::map<Variable, Node>;

  // -- nodes and constraints

  Node node(Variable variable, std::uint32_t since, std::optional<Linear> made) {
    PathNode n;
    n.variable = variable;
    n.since = since;
    n.made = std::move(made);
    const auto number = static_cast<Node>(run_.nodes.size());
    if (n.made) {
      n.value = value(*n.made);
      const Linear here = Linear::of(number);
      constrain(minus(here, *n.made), since);
      constrain(minus(*n.made, here), since);
    }
    run_.nodes.push_back(std::move(n));
    return number;
  }

  void constrain(const Linear& atom, std::uint32_t since) {
    if (const auto d = as_difference(atom)) run_.edges.push_back({d->left, d->right, d->bound, since});
  }

  Number value(const Linear& over_nodes) const {
    Number sum = over_nodes.constant;
    for (const Term& t : over_nodes.terms)
      sum = checked_add(sum, checked_multiply(t.factor, run_.nodes[t.variable].value));
    return sum;
  }

  Linear over_nodes(const Linear& linear, const Elements& elements) const {
    Linear result = Linear::of_constant(linear.constant);
    for (const Term& t : linear.terms) {
      const auto element = elements.find(t.variable);
      const Node n = element != elements.end() ? element->second : current_.at(t.variable);
      result = plus(result, times(Linear::of(n), t.factor));
    }
    return result;
  }

  bool guard(const Linear& atom, const Elements& elements) {
    const Linear here = over_nodes(atom, elements);
    if (value(here) > 0) {
      run_.failed = here;
      run_.failed_at = now_;
      return false;
    }
    constrain(here, now_);
    return true;
  }

  bool execute(const Command& command, const Elements& elements) {
    for (const Linear& atom : command.guards) {
      if (!guard(atom, elements)) return false;
    }
    std::vector<std::pair<Variable, Node>> written;
    for (const Assignment& a : command.assignments) {
      std::optional<Linear> made;
      if (a.value) made = over_nodes(*a.value, elements);
      written.emplace_back(a.target, node(a.target, now_, made));
    }
    for (const auto& [variable, n] : written) {
      run_.nodes[current_[variable]].until = now_;
      current_[variable] = n;
    }
    return true;
  }

  // -- which numbers the values of an abstract set stand for: from which steps they come

  void trace_elements(const AbstractStep& step, const Transformer& transformer, const Command& command,
                      const std::vector<Transformer::Capture>& own) {
    const AbstractState& before = path_.states[now_ - 1];
    const AbstractState& after = path_.states[now_];
    Facts facts = abstraction_.facts(before.memory);
    for (const Pick& pick : step.picks) abstraction_.assume(facts, pick);
    for (const Linear& atom : transformer.guards) facts.assume(atom);
    for (std::uint32_t c = 0; c < reduced_.channels.size(); ++c) {
      const std::uint32_t first = abstraction_.first_operand(c);
      for (std::uint32_t o = first; o < first + reduced_.channels[c].operands.size(); ++o) {
        std::map<ElementCube, Steps> next;
        const ElementBits now = stepper_.relevant(after, o);
        if (after.held[c] > 0) {
          for (const auto& [element, steps] : origins_[o]) {
            const auto then = abstraction_.after(facts, o, transformer.elements[o], element, now);
            if (then) next[*then].insert(steps.begin(), steps.end());
          }
          const auto add = [&](const Transformer::Capture& capture) {
            if (capture.operand == o) next[abstraction_.capture(facts, o, capture.value, command, now)].insert(now_);
          };
          if (before.held[c] > 0) std::for_each(transformer.captures.begin(), transformer.captures.end(), add);
          std::for_each(own.begin(), own.end(), add);
        }
        origins_[o] = std::move(next);
      }
    }
  }

  void note_captures() {
    for (std::uint32_t o = 0; o < abstraction_.operands(); ++o) {
      const Variable source = abstraction_.operand(o).source;
      if (source != kZero) captured_[o][now_] = current_[source];
    }
  }

  // -- steps

  bool cpu(const AbstractStep& step) {
    const CpuStep& s = reduced_.cpu[step.step];
    if (!execute(s.command, {})) return false;
    events_.push_back({now_, 0, {Step::Kind::kCpu, s.process, s.edge, s.choice, 0}});
    note_captures();
    std::vector<Transformer::Capture> own;
    if (s.issues) {
      held_[*s.issues].push_back({issued_++, now_});
      const auto& operands = reduced_.channels[*s.issues].operands;
      for (std::uint32_t i = 0; i < operands.size(); ++i)
        own.push_back({abstraction_.first_operand(*s.issues) + i, Linear::of(operands[i].source)});
    }
    if (!s.fails) trace_elements(step, stepper_.cpu_transformer(step.step), s.command, own);
    return true;
  }

  /// The operation that leaves and, for each pick, the step whose value it takes. Operands are read in their order.
  bool choose(const AbstractStep& step, std::uint32_t channel, Operation& operation, Steps::value_type (&read)[2]) {
    auto& held = held_[channel];
    for (std::size_t i = 0; i < held.size(); ++i) {
      std::uint32_t from = held[i].entered;
      bool fits = true;
      for (std::size_t k = 0; k < step.picks.size() && fits; ++k) {
        const Steps& steps = origins_[step.picks[k].operand][step.picks[k].element];
        const auto at = steps.lower_bound(from);
        fits = at != steps.end() && (!reduced_.channels[channel].results || *at == held[i].entered);
        if (fits) from = read[k] = *at;
      }
      if (!fits) continue;
      operation = held[i];
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    }
    run_.not_there = channel;
    return false;
  }

  bool nic(const AbstractStep& step) {
    const NicStep& s = reduced_.nic[step.step];
    const Channel& channel = reduced_.channels[s.channel];
    Operation operation;
    Steps::value_type read[2] = {0, 0};
    if (!choose(step, s.channel, operation, read)) return false;
    Elements elements;
    for (std::size_t k = 0; k < step.picks.size(); ++k) {
      const std::uint32_t o = step.picks[k].operand;
      const Variable element = abstraction_.operand(o).element;
      elements[element] = node(element, read[k], Linear::of(captured_[o].at(read[k])));
    }
    std::uint32_t read_at = operation.entered;
    for (std::size_t i = 0; i < channel.reads.size(); ++i) {
      if (channel.reads[i]) read_at = read[*channel.reads[i]];
      events_.push_back({read_at, 1 + static_cast<std::uint32_t>(i), nic_step(operation)});
    }
    std::optional<Linear> result;
    if (s.result) result = over_nodes(*s.result, elements);
    if (!execute(s.command, elements)) return false;
    // A get whose read was put off has its last part here, and nothing between.
    events_.push_back({now_, 0, nic_step(operation)});
    note_captures();
    std::vector<Transformer::Capture> own;
    if (s.result) {
      const std::uint32_t next = channel.next.value();
      held_[next].push_back({operation.number, now_});
      const std::uint32_t o = abstraction_.first_operand(next);
      captured_[o][now_] = node(abstraction_.operand(o).element, now_, result);
      own.push_back({o, *s.result});
    }
    trace_elements(step, stepper_.nic_transformer(step.step), s.command, own);
    return true;
  }

  static Step nic_step(const Operation& operation) { return {Step::Kind::kNic, 0, 0, 0, operation.number}; }

  void write_schedule() {
    std::stable_sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) {
      return std::tie(a.step, a.rank) < std::tie(b.step, b.rank);
    });
    for (const Event& e : events_) run_.schedule.push_back(e.what);
  }

  /// In the schedule: the step of the path itself, then the reads that take what it wrote.
  struct Event {
    std::uint32_t step = 0;
    std::uint32_t rank = 0;
    Step what;
  };

  Stepper& stepper_;
  Abstraction& abstraction_;
  const Reduced& reduced_;
  const AbstractPath& path_;
  PathRun run_;
  std::uint32_t now_ = 0;
  std::uint32_t issued_ = 0;
  std::vector<Node> current_;                            ///< [variable of memory]
  std::vector<std::vector<Operation>> held_;             ///< [channel]
  std::vector<std::map<ElementCube, Steps>> origins_;    ///< [operand]
  std::vector<std::map<std::uint32_t, Node>> captured_;  ///< [operand][step]
  std::vector<Event> events_;
};

}  // namespace

PathRun run(Stepper& stepper, const AbstractPath& path) { return Runner(stepper, path).run(); }

}  // namespace loco::verify::abstract
