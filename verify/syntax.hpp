// What the parser reads before names are looked up: the tree of a program file. `build.hpp` makes a Program of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "verify/expression.hpp"
#include "verify/program.hpp"

namespace loco::verify::syntax {

struct Name {
  std::string text;
  Place place;
};

/// An integer with its place.
struct Number {
  Integer value;
  Place place;
};

/// A leaf of an expression is a literal, a name (kLocal, whatever it turns out to be), `name@number`, or
/// `at(number, name)` (kAt), or `in(number, name)` (kIn).
struct Node {
  Operator op = Operator::kLiteral;
  Integer literal;
  Name name;
  std::optional<Number> process;
};

struct Expression {
  std::vector<Node> nodes;  ///< postfix
  std::string text;
};

enum class StatementKind : std::uint8_t {
  kSkip,
  kAssign,
  kChoose,
  kLoad,
  kStore,
  kPut,
  kGet,
  kRga,
  kCas,
  kFlush,
  kAssume,
  kAssert,
  kGoto,
  kBreak,
  kIf,
  kWhile,
  kBlock,
};

struct Statement {
  StatementKind kind = StatementKind::kSkip;
  std::optional<Name> label;
  std::vector<Name> names;  ///< variables, the assigned one first, or the label of goto
  std::optional<Number> process;
  std::optional<Expression> expression;  ///< none: `*`
  std::vector<Integer> choices;
  std::vector<Statement> body;
  std::vector<Statement> otherwise;  ///< of if
  std::string text;                  ///< of a simple statement; of if and while the condition
  Place place;
};

struct Declaration {
  Name name;
  Integer initial;
};

struct Process {
  Number id;
  std::vector<Declaration> shared;
  std::vector<Declaration> locals;
  std::vector<Statement> body;
  Place end;  ///< of its closing brace
};

struct Property {
  PropertyKind kind = PropertyKind::kAlways;
  Expression expression;
  Place place;
};

/// `at(number, name)`.
struct Standing {
  Number process;
  Name label;
};

struct Liveness {
  LivenessKind kind = LivenessKind::kEnds;
  std::vector<Number> processes;        ///< of ends; none: all
  std::vector<Standing> labels;         ///< of progress
  std::vector<Expression> expressions;  ///< of eventually and leads_to
  std::optional<Fairness> under;
  std::string text;
  Place place;
};

struct File {
  std::vector<Process> processes;
  std::vector<Property> properties;
  std::vector<Liveness> liveness;
};

}  // namespace loco::verify::syntax
