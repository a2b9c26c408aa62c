// What the values of an execution must satisfy: the conditions of its paths, and values that are asked for.
#pragma once

#include <cstddef>
#include <vector>

#include "model/litmus/skeletons/skeleton.hpp"
#include "model/litmus/skeletons/values.hpp"

namespace loco::model::litmus {

class Checks {
 public:
  /// The conditions of the skeleton's paths, and the registers of `wanted`.
  void collect(const Skeleton& x, const PartialOutcome& wanted);
  /// `order`: the reads in the order in which their sources will be decided.
  void find_reads(const Skeleton& x, const std::vector<int>& order);

  [[nodiscard]] bool empty() const { return checks_.empty(); }
  /// False if a check is known to fail, with the sources of the first `decided` reads decided. To be called after each
  /// decision: what is known to hold is not looked at again while the reads that it was known from stay as they are.
  [[nodiscard]] bool hold(const Skeleton& x, const Sources& rf, std::size_t decided);
  /// Were all values known when hold() was last called?
  [[nodiscard]] bool known() const;
  /// Calls f(thread, symbol) for each value that is checked.
  template <class F>
  void for_each(F f) const {
    for (const Check& c : checks_) f(c.thread, c.symbol);
  }

 private:
  struct Check {
    int thread, symbol;
    bool equals;            // to `value`; else: is it other than 0?
    Value value;            // if not equals: 1 for other than 0, 0 for 0
    std::size_t reads = 0;  // its value is unknown until so many reads are decided, perhaps longer
    std::size_t held = 0;   // since so many reads are decided it is known to hold; kUnknown: it is not
  };
  static constexpr std::size_t kUnknown = ~std::size_t{0};
  std::vector<Check> checks_;
};

}  // namespace loco::model::litmus
