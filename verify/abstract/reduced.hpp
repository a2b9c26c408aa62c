// The reduction of an RMA program to one without a network (section 3.1 of the paper that verify/program.hpp names), as
// data: what processes do to memory and to channels, and what channels do to memory.
//
// A channel holds what is pending of one remote statement, as a number of operations and, for each operand that they
// read, the set of values that the operand has had since the channel was last empty: an operation that has not read yet
// may read any of them when it is needed, so reads are no steps. The value that an operation takes out is the channel's
// element, a variable of its own. Where the paper has one kind of set, statements that come back with a value have two:
//
//   put  requests(operand): remote := element            get  requests(remote): result := element
//   rga  requests(operand): element of results := remote; remote := remote + element     results: result := element
//   cas  requests(operand, swap): element of results := remote; if remote = element, remote := element of swap
//                                                                                        results: result := element
//
// Under `in-order` and `verbs`, when a get reads its target matters: there it has results, too, and its request reads
// `remote` at once. Which requests wait for which is `ordered`. Under `sc` there are no channels.
//
// Variables that nothing ever writes are constants here, and operands that read one need no set.
//
// What is lost against the exact semantics (it only adds behaviour, so `safe` stays true): operations of one statement
// that are pending together share their sets, and so do their operands; more than a few are not counted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "verify/abstract/cases.hpp"
#include "verify/abstract/linear.hpp"
#include "verify/network.hpp"
#include "verify/program.hpp"

namespace loco::verify::abstract {

/// Parallel assignment of linear values over the state before. A target without a value gets any number.
struct Assignment {
  Variable target = kZero;
  std::optional<Linear> value;
};

/// The effect of a step on memory. The step is possible where all guards (`<= 0`) hold.
struct Command {
  std::vector<Linear> guards;
  std::vector<Assignment> assignments;
};

/// The value that a command assigns to a variable, `anything` where it may be any; null: it assigns none.
[[nodiscard]] const Linear* assigned(const Command& command, Variable v, const Linear& anything);
/// Whether it assigns a variable of the atom.
[[nodiscard]] bool changes(const Command& command, const Linear& atom);

struct Operand {
  Variable source = kZero;   ///< shared variable whose values the set collects; kZero: filled by requests
  Variable element = kZero;  ///< the value that an operation takes out
};

struct Channel {
  std::uint32_t remote = 0;  ///< of Program::remotes
  bool results = false;      ///< else requests
  std::vector<Operand> operands;
  std::vector<std::optional<std::uint32_t>> reads;  ///< put off, in their order: into which operand; none: a constant
  Variable target = kZero;                          ///< the variable that leaving it writes
  std::optional<std::uint32_t> next;                ///< of channels: the results of these requests
};

/// An operation leaves a channel.
struct NicStep {
  std::uint32_t channel = 0;
  Command command;
  std::optional<Linear> result;  ///< the value that enters Channel::next
};

/// An edge of a process, or one case of it.
struct CpuStep {
  std::uint32_t process = 0;
  std::uint32_t edge = 0;    ///< of Process::edges
  std::uint32_t choice = 0;  ///< of Action::choices
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  Command command;
  std::optional<std::uint32_t> issues;  ///< of channels
  std::optional<std::uint32_t> flush;   ///< of Program::flushes
  bool fails = false;                   ///< an assertion that does not hold
};

/// A case in which a property does not hold.
struct Violation {
  std::uint32_t property = 0;  ///< of Program::properties
  bool final = false;
  Conjunction where;
};

struct Reduced {
  const Program* program = nullptr;
  Network network = Network::kUnordered;
  std::uint32_t variables = 1;  ///< kZero, shared variables, locals, elements, `anything`, `other`
  std::vector<Channel> channels;
  std::vector<NicStep> nic;
  std::vector<CpuStep> cpu;
  std::vector<std::vector<std::vector<std::uint32_t>>> steps_at;  ///< [process][location]: of cpu
  std::vector<Violation> violations;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ordered;  ///< channels: the second waits for the first
  std::vector<Number> initial;                                   ///< of each variable of memory, from number 1 on
  std::vector<bool> fixed;                                       ///< [variable of memory]: nothing writes it
  Variable anything = kZero;                                     ///< a number of which nothing is known
  Variable other = kZero;  ///< an element that stays while another of its set is taken out

  [[nodiscard]] Variable shared(std::uint32_t index) const { return 1 + index; }
  [[nodiscard]] Variable local(std::uint32_t index) const {
    return 1 + static_cast<Variable>(program->shared.size()) + index;
  }
  [[nodiscard]] Variable memory_end() const { return local(static_cast<std::uint32_t>(program->locals.size())); }
  [[nodiscard]] bool is_element(Variable v) const { return v >= memory_end() && v < anything; }
  [[nodiscard]] std::string name(Variable v) const;
  /// The channel and the operand of an element.
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> place_of(Variable element) const;
  /// The value of a variable of memory: itself, or its initial value when no step writes it.
  [[nodiscard]] Linear value(Variable v) const {
    return fixed[v] ? Linear::of_constant(initial[v - 1]) : Linear::of(v);
  }
};

/// The program outlives the result. Throws TooLarge and TooManyCases.
[[nodiscard]] Reduced reduce(const Program& program, Network network);

}  // namespace loco::verify::abstract
