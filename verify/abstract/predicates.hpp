// The predicates of an abstraction and what steps do to their values.
//
// A predicate is an atom `linear <= 0` over memory, or over memory and the element of one channel's operand: that one
// has a value for each number in the operand's set. An abstract memory is a value for each predicate over memory; an
// abstract set is a set of values for the predicates of its elements, so that a set is as precise as its members, and
// "all are", "none is" and "some are" (the paper's three values) are special cases of it.
//
// Transformers are the best ones for each memory and element: the successors of a value are all the values that are
// consistent with it, with the guards and with each other (Facts decides; for differences that is exact).
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

/// A value for each predicate over memory. Bits of predicates that are not looked at are 0.
using MemoryBits = std::array<std::uint64_t, kMemoryPredicatesMax / 64>;
using ElementBits = std::uint64_t;
/// Sorted, without doubles.
using ElementSet = std::vector<ElementBits>;

[[nodiscard]] constexpr bool bit(const MemoryBits& bits, std::size_t i) { return (bits[i / 64] >> (i % 64) & 1U) != 0; }
constexpr void set_bit(MemoryBits& bits, std::size_t i, bool value) {
  const std::uint64_t mask = std::uint64_t{1} << (i % 64);
  bits[i / 64] = value ? bits[i / 64] | mask : bits[i / 64] & ~mask;
}

struct TooManyPredicates : std::runtime_error {
  TooManyPredicates() : std::runtime_error("more predicates than this engine has room for") {}
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
  ElementBits bits = 0;
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

  /// What is known of a memory, of the predicates in `relevant`.
  [[nodiscard]] const Facts& facts(const MemoryBits& bits, const MemoryBits& relevant);
  /// What the elements add to it; false when it contradicts.
  bool assume(Facts& facts, const Pick& pick, ElementBits relevant) const;

  /// All values of `changed` that are consistent with `facts`: `emit` gets the facts with them assumed. `bits` is what
  /// predicates had before, those of `changed` overwritten; predicates outside of `relevant` become 0.
  void memories(const Facts& facts, const std::vector<Transformer::Changed>& changed, const MemoryBits& bits,
                const MemoryBits& relevant, const std::function<void(const MemoryBits&, const Facts&)>& emit) const;
  /// The values that an element of an operand may have after the step, into `result`.
  void follow(const Facts& facts, std::uint32_t operand, const std::vector<Transformer::Changed>& changed,
              ElementBits bits, ElementBits relevant_before, ElementBits relevant_after, ElementSet& result) const;
  /// The values of an element that is `value` (over the state before), into `result`.
  void capture(const Facts& facts, std::uint32_t operand, const Linear& value, const Command& command,
               ElementBits relevant, ElementSet& result) const;

  [[nodiscard]] std::vector<MemoryBits> initial(const MemoryBits& relevant) const;

 private:
  struct Hash {
    std::size_t operator()(const MemoryBits& bits) const;
  };

  const Reduced* reduced_;
  Predicates predicates_;
  std::vector<std::vector<Linear>> others_;  ///< [operand]: its predicates, of Reduced::other
  std::vector<Operand> operands_;
  std::vector<std::uint32_t> first_operand_;
  std::unordered_map<MemoryBits, std::unordered_map<MemoryBits, Facts, Hash>, Hash> facts_;  ///< by relevant, bits
  std::size_t facts_count_ = 0;
};

void normalise(ElementSet& set);

}  // namespace loco::verify::abstract
