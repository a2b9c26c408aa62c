// Fibers: blocking code that the simulator suspends and resumes. Boost.Context switches, pooled stacks.
//
// Ownership: a pool owns its fibers and their stacks. A FiberId remains safe after its fiber has ended, because the
// generation then differs. A finished fiber's stack is reused, so in steady state nothing is mapped for a fiber.
// Threads: a pool and its fibers belong to the one OS thread that uses them. Fibers are not copyable state.
// Determinism: a fiber runs only inside resume(); nothing here decides who runs next.
// Exceptions: one that leaves a fiber's body is thrown by the resume() that ran it. A fiber may suspend inside a catch
// block or a destructor. Destroying the pool unwinds unfinished fibers in the order of their slots.
// Each stack ends in a guard page, so an overflow is a fault at that place and not a corruption of a neighbour.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace loco::sim {

/// Identifies a fiber of one pool.
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

  /// Runs the fiber until it suspends or ends, and throws what its body threw. To call from outside this pool's fibers
  /// (fibers of another pool are outside). Throws std::logic_error if the fiber has ended or one is running.
  void resume(FiberId id);

  /// Returns control to resume(). To call from a fiber of this pool; otherwise std::logic_error.
  void suspend();

  /// Prefetches what resuming the fiber will access first. Changes nothing.
  void prefetch(FiberId id) const;

  /// True once the body has returned, has thrown or has been unwound.
  [[nodiscard]] bool finished(FiberId id) const;

  /// True if an exception is in flight in a suspended fiber, i.e. if it was suspended by a destructor.
  [[nodiscard]] bool throwing(FiberId id) const;

  /// Unwinds one unfinished fiber now, from outside; no effect if it has ended.
  void cancel(FiberId id);

  [[nodiscard]] bool inside() const { return current_ != kNone; }
  /// Number of fibers created and not finished.
  [[nodiscard]] std::size_t unfinished() const { return unfinished_; }
  /// Number of stacks mapped so far, i.e. the greatest number of fibers alive at one time.
  [[nodiscard]] std::size_t stacks() const { return fibers_.size(); }

 private:
  class Fiber;
  static constexpr std::uint32_t kNone = 0xffffffffU;

  [[nodiscard]] Fiber* find(FiberId id) const;
  void run(std::uint32_t slot);

  Options options_;
  std::vector<std::unique_ptr<Fiber>> fibers_;  // by slot; the address must survive create() inside a fiber
  std::vector<const std::byte*> tops_;          // by slot: top of its stack when it was suspended
  std::vector<std::uint32_t> free_;
  std::uint32_t current_ = kNone;
  std::size_t unfinished_ = 0;
};

}  // namespace loco::sim
