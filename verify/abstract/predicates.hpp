// The predicates of an abstraction and what steps do to their values.
//
// A predicate is an atom `linear <= 0` over memory, or over memory and the element of one channel's operand: that one
// has a value for each number in the operand's set. Values are true, false or unknown. An abstract memory is a cube, a
// value for each predicate over memory; an abstract set is a set of cubes, one for each kind of number in it, so that
// "all are", "none is" and "some are" (the paper's three values) are told apart, and more.
//
// Transformers are the best ones on cubes: a predicate is known after a step when what is known before it, with the
// guards and the elements taken out, decides it (Facts; for differences that is exact). A path that a conjunction of
// literals rules out at each of its points is ruled out by cubes, and such are the interpolants of refine.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "verify/abstract/facts.hpp"
#include "verify/abstract/reduced.hpp"

namespace loco::verify::abstract {

inline constexpr std::size_t kMemoryPredicatesMax = 256;
inline constexpr std::size_t kElementPredicatesMax = 64;

using MemoryBits = std::array<std::uint64_t, kMemoryPredicatesMax / 64>;
using ElementBits = std::uint64_t;

/// The known values of the predicates over memory. Bits of `value` that are not known are 0.
struct MemoryCube {
  MemoryBits known{};
  MemoryBits value{};
  friend bool operator==(const MemoryCube&, const MemoryCube&) = default;
};

/// ... of those of an operand's elements.
struct ElementCube {
  ElementBits known = 0;
  ElementBits value = 0;
  friend auto operator<=>(const ElementCube&, const ElementCube&) = default;
};

/// Every literal of `general` is one of `special`.
[[nodiscard]] constexpr bool covers(const ElementCube& general, const ElementCube& special) {
  return (general.known & ~special.known) == 0 && (special.value & general.known) == general.value;
}
[[nodiscard]] bool covers(const MemoryCube& general, const MemoryCube& special);

/// Sorted; none covers another one.
using ElementSet = std::vector<ElementCube>;
[[nodiscard]] bool covers(const ElementSet& general, const ElementSet& special);
void normalise(ElementSet& set);

[[nodiscard]] constexpr bool bit(const MemoryBits& bits, std::size_t i) { return (bits[i / 64] >> (i % 64) & 1U) != 0; }
constexpr void set_bit(MemoryBits& bits, std::size_t i, bool value) {
  const std::uint64_t mask = std::uint64_t{1} << (i % 64);
  bits[i / 64] = value ? bits[i / 64] | mask : bits[i / 64] & ~mask;
}

struct TooManyPredicates : GivesUp {
  TooManyPredicates() : GivesUp("more predicates than this engine has room for") {}
};

/// Operands are numbered through: of channel 0, of channel 1, ...
struct Predicates {
  std::vector<Linear> memory;
  std::vector<std::vector<Linear>> elements;  ///< [operand]
  int pinned = 0;                             ///< refinements that asked for the numbers of a path (refine.hpp)

  /// An atom and its negation are one predicate. False when it is there already or is constant.
  bool add(const Reduced& reduced, const Linear& atom);
  [[nodiscard]] bool contains(const Reduced& reduced, const Linear& atom) const;
  [[nodiscard]] std::size_t size() const;
};

/// An element that an operation takes out.
struct Pick {
  std::uint32_t operand = 0;
  ElementCube element;
};

/// A step as its effect on predicates.
struct Transformer {
  struct Changed {
    std::uint32_t predicate = 0;
    Linear after;  ///< the predicate after the step, over the state before
  };
  struct Capture {
    std::uint32_t operand = 0;
    Linear value;  ///< over the state before
  };
  std::vector<Linear> guards;
  std::vector<Changed> memory;
  std::vector<std::vector<Changed>> elements;  ///< [operand], with Reduced::other in place of the element
  std::vector<Capture> captures;               ///< by operands whose source the step writes
};

class Abstraction {
 public:
  Abstraction(const Reduced& reduced, Predicates predicates);

  [[nodiscard]] const Reduced& reduced() const { return *reduced_; }
  [[nodiscard]] const Predicates& predicates() const { return predicates_; }
  [[nodiscard]] std::uint32_t operands() const { return static_cast<std::uint32_t>(operands_.size()); }
  [[nodiscard]] const Operand& operand(std::uint32_t o) const { return operands_[o]; }
  [[nodiscard]] std::uint32_t first_operand(std::uint32_t channel) const { return first_operand_[channel]; }

  [[nodiscard]] Transformer transformer(const Command& command) const;

  /// The facts known of a memory.
  [[nodiscard]] const Facts& facts(const MemoryCube& memory);
  /// ... with an element that is taken out; false when it contradicts.
  bool assume(Facts& facts, const Pick& pick) const;

  /// Memory after a step: `facts` are those before it, with guards and elements. Only `relevant` predicates are known.
  [[nodiscard]] MemoryCube after(const Facts& facts, const std::vector<Transformer::Changed>& changed,
                                 const MemoryCube& before, const MemoryBits& relevant) const;
  /// An element after the step; nothing when no number is like that.
  [[nodiscard]] std::optional<ElementCube> after(const Facts& facts, std::uint32_t operand,
                                                 const std::vector<Transformer::Changed>& changed,
                                                 const ElementCube& before, ElementBits relevant) const;
  /// An element that is `value` (over the state before the command).
  [[nodiscard]] ElementCube capture(const Facts& facts, std::uint32_t operand, const Linear& value,
                                    const Command& command, ElementBits relevant) const;

  [[nodiscard]] MemoryCube initial(const MemoryBits& relevant) const;

 private:
  struct Hash {
    std::size_t operator()(const MemoryCube& cube) const;
  };

  const Reduced* reduced_;
  Predicates predicates_;
  std::vector<std::vector<Linear>> others_;  ///< [operand]: its predicates, of Reduced::other
  std::vector<Operand> operands_;
  std::vector<std::uint32_t> first_operand_;
  std::unordered_map<MemoryCube, Facts, Hash> facts_;
};

}  // namespace loco::verify::abstract
