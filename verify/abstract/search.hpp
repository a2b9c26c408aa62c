// Reachability in the abstraction of a reduced program: breadth first over where processes stand, how many operations
// each channel holds (0, 1, ... a cap that stands for all above), the values of the predicates over memory, and the set
// of each operand. A state that another one covers is not looked at. When no violation is reached, none is in the
// program; else the search gives the path, which refine.hpp takes apart.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "verify/abstract/footprint.hpp"
#include "verify/abstract/predicates.hpp"
#include "verify/engine.hpp"
#include "verify/semantics.hpp"

namespace loco::verify::abstract {

struct AbstractState {
  std::vector<std::uint32_t> at;   ///< location of each process
  std::vector<std::uint8_t> held;  ///< operations in each channel
  std::vector<bool> behind;        ///< [Reduced::ordered]: every operation of the second waits for one of the first
  std::uint32_t mover = 0;         ///< 1 + the process that has to move next, before its NICs' steps; 0: anyone;
                                   ///< 1 + processes: nobody, a property looks
  MemoryCube memory;
  std::vector<ElementSet> sets;  ///< [operand]
};

/// A step of a path: of Reduced::cpu or of Reduced::nic, with the elements that it takes out.
struct AbstractStep {
  bool nic = false;
  std::uint32_t step = 0;
  std::vector<Pick> picks;
};

/// From the initial state to one that violates, or with a last step that is an assertion that fails.
struct AbstractPath {
  std::vector<AbstractStep> steps;
  std::vector<AbstractState> states;       ///< before each step, and the last one
  std::optional<std::uint32_t> violation;  ///< of Reduced::violations
};

/// The numbers of operations in a channel that states tell apart.
using Caps = std::vector<std::uint8_t>;

struct SearchResult {
  Verdict verdict = Verdict::kUnknown;
  std::string why;  ///< of kUnknown
  std::uint64_t states = 0;
  std::optional<AbstractPath> path;  ///< of kUnsafe: in the abstraction
  std::vector<AbstractState> kept;   ///< of kSafe with Order::kAll: together they are inductive
};

/// Which steps a search takes.
enum class Order : std::uint8_t {
  kReduced,  ///< those that Footprint leaves
  kAll,      ///< all of them, everywhere: for certificates
};

/// The steps of a reduced program on abstract states. Used by the search, and to follow a path again.
class Stepper {
 public:
  /// The arguments outlive the search.
  Stepper(Abstraction& abstraction, const FlushMask& flushes, const Caps& caps, const Limits& limits);
  Stepper(const Stepper&) = delete;
  Stepper& operator=(const Stepper&) = delete;
  virtual ~Stepper() = default;

  using Emit = std::function<void(const AbstractState& after, const std::vector<Pick>& picks)>;

  [[nodiscard]] virtual AbstractState initial();
  /// Calls `emit` for each successor; `mover` is for the caller to set.
  void cpu(const AbstractState& state, std::uint32_t step, const Emit& emit);
  void nic(const AbstractState& state, std::uint32_t step, const Emit& emit);
  /// Whether an assertion of the step may fail, or a violation may hold.
  [[nodiscard]] virtual bool may_fail(const AbstractState& state, std::uint32_t step);
  [[nodiscard]] virtual bool may_violate(const AbstractState& state, std::uint32_t violation);
  [[nodiscard]] bool ended(const AbstractState& state) const {
    return all_ended(*abstraction_->reduced().program, state.at);
  }

  [[nodiscard]] Abstraction& abstraction() { return *abstraction_; }
  [[nodiscard]] const Limits& limits() const { return *limits_; }
  [[nodiscard]] MemoryBits relevant(const AbstractState& state) const;
  [[nodiscard]] ElementBits relevant(const AbstractState& state, std::uint32_t operand) const;
  [[nodiscard]] const Transformer& cpu_transformer(std::uint32_t step) const { return cpu_[step]; }
  [[nodiscard]] const Transformer& nic_transformer(std::uint32_t step) const { return nic_[step]; }

 protected:
  struct Which {
    bool nic = false;
    std::uint32_t number = 0;
  };
  /// Whether the processes stand where the violation says, and have ended if it asks for that.
  [[nodiscard]] bool stands(const AbstractState& state, const Violation& violation) const;
  /// Memory and sets after a step; `after` has the rest already. `captures` are elements that the step itself adds.
  virtual void apply(const AbstractState& state, AbstractState after, Which step, const std::vector<Pick>& picks,
                     const std::vector<Transformer::Capture>& captures, const Emit& emit);

 private:
  void take_out(const AbstractState& state, std::uint32_t step, const std::vector<Pick>& picks, const Emit& emit);

  Abstraction* abstraction_;
  const FlushMask* flushes_;
  const Caps* caps_;
  const Limits* limits_;
  std::vector<Transformer> cpu_;
  std::vector<Transformer> nic_;
  std::vector<Members> waits_;                                            ///< [flush]
  std::vector<std::vector<MemoryBits>> relevant_;                         ///< [process][location]
  std::vector<std::vector<std::vector<ElementBits>>> relevant_elements_;  ///< [process][location][operand]
};

[[nodiscard]] SearchResult search(Stepper& stepper, const Footprint& footprint, const Limits& limits, Order order);

}  // namespace loco::verify::abstract
