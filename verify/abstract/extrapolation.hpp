// Extrapolation (sections 4.2 and 4.3 of the paper): from the boolean program of a program without a network to one of
// its reduction, without a solver.
//
// Predicates: V, and for each operand (set) and each predicate with the variable that it collects, that predicate over
// all elements, which is true, false or unknown; and the count of each channel (the paper's flag). Transformers: a
// value that enters a set has what is known of its variable then, and the set keeps what it had in common with that;
// taking one out does what the part of the statement did without a network, with the set's predicates in place of the
// variable's. A set's predicate that also mentions what a NIC writes becomes unknown. So does, and here the paper's
// rule as printed would be unsound, a predicate that mentions what is written together with the variable that the
// element is a value of: after `Y = X` it holds that Y = X, after `Y = random element of XSet` it need not. That reads
// `remote` of rga and cas in the same way: their results are a set of values of `remote`, taken before it changes.
#pragma once

#include <string>
#include <vector>

#include "verify/abstract/boolean_program.hpp"
#include "verify/abstract/search.hpp"

namespace loco::verify::abstract {

/// V with the predicates over sets.
[[nodiscard]] Predicates extrapolated(const Reduced& reduced, const std::vector<Linear>& predicates);

/// The steps of the extrapolated boolean program on three-valued states: every set is one cube.
class ExtrapolatedStepper final : public Stepper {
 public:
  /// `abstraction` is over `extrapolated(...)`.
  ExtrapolatedStepper(Abstraction& abstraction, const BooleanProgram& program, const FlushMask& flushes,
                      const Caps& caps, const Limits& limits);

  [[nodiscard]] bool may_fail(const AbstractState& state, std::uint32_t step) override;
  [[nodiscard]] bool may_violate(const AbstractState& state, std::uint32_t violation) override;

 protected:
  void apply(const AbstractState& state, AbstractState after, Which step, const std::vector<Pick>& picks,
             const std::vector<Transformer::Capture>& captures, const Emit& emit) override;

 private:
  /// What is known of a predicate, with the elements that are taken out (or one that stays) in place of variables.
  struct View {
    const AbstractState* state;
    const std::vector<Pick>* picks;
  };
  [[nodiscard]] Truth literal(const View& view, std::uint32_t predicate) const;
  [[nodiscard]] bool any(const View& view, const Cubes& cubes) const;
  [[nodiscard]] Truth value(const View& view, const BooleanAssignment& assignment) const;
  [[nodiscard]] ElementCube captured(const MemoryCube& memory, std::uint32_t operand) const;
  [[nodiscard]] ElementCube kept(const AbstractState& state, std::uint32_t operand, Which step) const;

  const Reduced* reduced_;
  const BooleanProgram* program_;
  std::vector<std::vector<std::uint32_t>> over_;  ///< by operand: the predicates in which its variable occurs
  std::vector<Variable> collects_;                ///< by operand: that variable
};

/// The reduction, for people: what each statement becomes.
[[nodiscard]] std::string reduction_text(const Reduced& reduced);
[[nodiscard]] std::string extrapolation_text(const Reduced& reduced, const BooleanProgram& program);

}  // namespace loco::verify::abstract
