// Fibers: blocking code that the simulator stops and continues at will. Boost.Context switches, pooled stacks.
//
// Ownership: a pool owns its fibers and their stacks; a FiberId is a handle that stays safe after its fiber ended
// (the generation no longer fits). A finished fiber's stack serves the next one: no mapping per fiber in steady state.
// Threads: a pool and its fibers belong to the one OS thread that uses them. Fibers are not copyable state.
// Determinism: a fiber runs only inside resume(); nothing here decides who runs next.
// Exceptions: one that leaves a fiber's body comes out of the resume() that ran it. A fiber may suspend inside a catch
// block or a destructor. Destroying the pool unwinds unfinished fibers in the order of their slots.
// Each stack ends in a guard page: an overflow is a fault at the spot, not a corruption of a neighbour.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace loco::sim {

/// Names a fiber of one pool.
struct FiberId {
  std::uint32_t slot = 0xffffffffU;
  std::uint32_t generation = 0;

  bool operator==(const FiberId&) const = default;
};

/// Thrown out of suspend() in a fiber that is being destroyed. Not a std::exception, so that a body's error handling
/// does not swallow it; a body that catches everything must rethrow it.
struct FiberCancelled {};

class FiberPool {
 public:
  struct Options {
    std::size_t stack_bytes = 64U << 10U;  ///< usable stack of each fiber; rounded up to whole pages
  };

  FiberPool() : FiberPool(Options{}) {}
  explicit FiberPool(Options options);
  ~FiberPool();
  FiberPool(const FiberPool&) = delete;
  FiberPool& operator=(const FiberPool&) = delete;

  /// A new fiber, not started: the first resume() calls `body`.
  FiberId create(std::function<void()> body);

  /// Runs the fiber until it suspends or ends; throws what its body threw. Called from outside of this pool's fibers
  /// (a fiber of another pool is outside). Throws std::logic_error when the fiber has ended or one is running.
  void resume(FiberId id);

  /// Gives control back to resume(). Called from inside a fiber of this pool, else std::logic_error.
  void suspend();

  /// Has the processor's cache fetch what resuming the fiber will touch first. Changes nothing.
  void prefetch(FiberId id) const;

  /// True once the body has returned, thrown or been unwound.
  [[nodiscard]] bool finished(FiberId id) const;

  /// Is an exception on its way in a fiber that has suspended? Then what waits is a destructor.
  [[nodiscard]] bool throwing(FiberId id) const;

  /// Unwinds one unfinished fiber now, from outside; no effect when it has ended.
  void cancel(FiberId id);

  [[nodiscard]] bool inside() const { return current_ != kNone; }
  /// Fibers created and not yet finished.
  [[nodiscard]] std::size_t unfinished() const { return unfinished_; }
  /// Stacks mapped so far: the greatest number of fibers alive at one time.
  [[nodiscard]] std::size_t stacks() const { return fibers_.size(); }

 private:
  class Fiber;
  static constexpr std::uint32_t kNone = 0xffffffffU;

  [[nodiscard]] Fiber* find(FiberId id) const;
  void run(std::uint32_t slot);

  Options options_;
  std::vector<std::unique_ptr<Fiber>> fibers_;  // by slot; the address must survive create() inside a fiber
  std::vector<const std::byte*> tops_;          // by slot: where its stack was when it was left
  std::vector<std::uint32_t> free_;
  std::uint32_t current_ = kNone;
  std::size_t unfinished_ = 0;
};

}  // namespace loco::sim
