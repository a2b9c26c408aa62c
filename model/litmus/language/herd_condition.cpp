// The proposition at the end of herd's litmus files: in words, and of an outcome.
#include "model/litmus/language/herd.hpp"

namespace loco::model::litmus {
namespace {

std::string text_of(const HerdCondition& c, int node) {
  using Kind = HerdCondition::Node::Kind;
  const HerdCondition::Node& n = at(c.nodes, node);
  switch (n.kind) {
    case Kind::truth:
      return "true";
    case Kind::equal:
      return at(c.names, n.observable) + "=" + std::to_string(n.value);
    case Kind::negation:
      return "not (" + text_of(c, n.lhs) + ")";
    case Kind::both:
    case Kind::either: {
      const auto side = [&](int s) {
        const bool wrap = n.kind == Kind::both && at(c.nodes, s).kind == Kind::either;
        return wrap ? "(" + text_of(c, s) + ")" : text_of(c, s);
      };
      return side(n.lhs) + (n.kind == Kind::both ? " /\\ " : " \\/ ") + side(n.rhs);
    }
  }
  return "";
}

bool holds_at(const HerdCondition& c, int node, OutcomeView o) {
  using Kind = HerdCondition::Node::Kind;
  const HerdCondition::Node& n = at(c.nodes, node);
  switch (n.kind) {
    case Kind::truth:
      return true;
    case Kind::equal:
      return at(o, n.observable) == n.value;
    case Kind::negation:
      return !holds_at(c, n.lhs, o);
    case Kind::both:
      return holds_at(c, n.lhs, o) && holds_at(c, n.rhs, o);
    case Kind::either:
      return holds_at(c, n.lhs, o) || holds_at(c, n.rhs, o);
  }
  return false;
}

}  // namespace

bool holds(const HerdCondition& condition, OutcomeView outcome) { return holds_at(condition, condition.root, outcome); }

std::string text(const HerdCondition& c) {
  using Quantifier = HerdCondition::Quantifier;
  const char* const word = c.quantifier == Quantifier::exists   ? "exists"
                           : c.quantifier == Quantifier::forall ? "forall"
                                                                : "~exists";
  return std::string(word) + " (" + text_of(c, c.root) + ")";
}

}  // namespace loco::model::litmus
