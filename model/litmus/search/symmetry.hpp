// Symmetries of a program: exchanges of threads, and with them of nodes, locations, registers, work identifiers,
// barriers, ring buffers and written values, that give the same program again. They map consistent executions to
// consistent executions, since no model knows threads, nodes or locations by name, so it is enough to search one of
// each orbit: an execution stands for as many as its orbit has, and its outcome for those of the whole orbit.
//
// A symmetry is determined by what it does to the threads: the code of each thread must be that of its image,
// instruction by instruction, which binds all the rest. Values may be exchanged only where they are nothing but data:
// written, copied, compared for equality.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "model/litmus/language/program.hpp"
#include "model/litmus/search/outcomes.hpp"
#include "model/litmus/skeletons/skeleton.hpp"

namespace loco::model::litmus {

/// One symmetry: the image of each thread, node, location, register and value.
struct Automorphism {
  std::vector<int> threads;
  std::vector<int> origins;  ///< the inverse of `threads`
  std::vector<int> nodes;    ///< by node number
  std::vector<int> observables;
  std::vector<std::pair<Value, Value>> values;  ///< sorted; others stay

  [[nodiscard]] Value image(Value v) const;
  /// The image of an outcome.
  void image(std::span<const Value> outcome, Outcome& to) const;
  /// Of each subevent of the skeleton. Precondition: each thread's path is that of its image.
  void map_subevents(const Skeleton& x, std::vector<std::int16_t>& image) const;
};

/// A group of symmetries. Of more than kOrderMax, a subgroup that leaves the first threads where they are.
class Symmetry {
 public:
  static constexpr std::size_t kOrderMax = 5040;

  Symmetry() = default;
  explicit Symmetry(const Program& program);

  [[nodiscard]] std::uint64_t order() const { return elements_.size() + 1; }
  /// All but the identity.
  [[nodiscard]] const std::vector<Automorphism>& elements() const { return elements_; }
  /// Adds all images of the outcomes, while `goes_on` says so; it is asked now and then.
  void close(Outcomes& outcomes, const std::function<bool()>& goes_on) const;
  /// The same for (thread, instruction).
  void close(std::vector<std::pair<int, int>>& instructions) const;

 private:
  std::vector<Automorphism> elements_;
  std::vector<std::vector<std::size_t>> factors_;  ///< by thread: one element of each factor that moves it first
};

}  // namespace loco::model::litmus
