// The interface of engines, which decide whether a program keeps its properties.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "verify/network.hpp"
#include "verify/program.hpp"
#include "verify/trace.hpp"

namespace loco::verify {

/// A limit was reached. Engines give up with Verdict::kUnknown then.
class LimitReached : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;  ///< `out of time`, `out of memory`, `out of steps`
};

/// How far an engine may go. Whatever takes long calls tick() again and again, so that a limit ends it wherever it is.
struct Limits {
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  std::uint64_t memory_bytes = std::uint64_t{2} << 30U;  ///< of what the engine stores
  std::uint32_t pending = 4;   ///< instances of one remote statement that are told apart while they are pending
  bool shortest = true;        ///< look for a shortest counterexample once there is one
  bool suspicious = false;     ///< a counterexample is likely: look for one with few pending operations first
  std::function<void()> look;  ///< called now and then; may throw to end it all (Ctrl-C in Python)

  /// Of the processor, by the thread that checks; 0: no limit.
  double cpu_seconds_max = 0;
  double cpu_seconds_begin = 0;  ///< CPU time of the thread when the search began
  /// Ticks: a measure of work that is the same on every machine; 0: no limit.
  std::uint64_t ticks_max = 0;
  /// Bytes that the process had allocated at the beginning, and may have when nothing else allocates meanwhile.
  std::uint64_t heap_begin = 0;
  std::uint64_t heap_max = 0;  ///< 0: no limit

  [[nodiscard]] bool out_of_time() const;
  /// Notes a small step of work. Throws LimitReached.
  void tick() const {
    if ((++ticks_ & 0x3fU) == 0) look_at_all();
  }
  /// From here on so many ticks.
  void grant(std::uint64_t ticks) {
    ticks_max = ticks;
    ticks_ = 0;
  }
  /// Looks at once. Throws LimitReached.
  void look_at_all() const;

 private:
  mutable std::uint64_t ticks_ = 0;  // of this copy
};

/// The CPU time of this thread until now, in seconds.
[[nodiscard]] double thread_cpu_seconds();
/// Bytes that the process has allocated and not freed; 0 where the C library does not tell.
[[nodiscard]] std::uint64_t heap_bytes();

struct Task {
  const Program& program;
  FlushMask flushes;  ///< as long as program.flushes
  Network network = Network::kUnordered;
  Limits limits;
};

enum class Verdict : std::uint8_t { kSafe, kUnsafe, kUnknown };

struct Answer {
  Verdict verdict = Verdict::kUnknown;
  std::string why;     ///< one line for the user: the way of the proof, the violation, or the limit reached
  std::string engine;  ///< who decided it
  std::optional<Counterexample> counterexample;  ///< of kUnsafe: confirmed by the exact semantics
  std::string certificate;  ///< of kSafe, when the engine writes one: an inductive invariant (docs/verify.md)
  std::optional<std::uint32_t> predicates{};  ///< how many it took, of an engine that has predicates
  /// Of kUnsafe, when the counterexample is none of safety: flushes of which any one would have made it impossible.
  std::optional<std::vector<std::uint32_t>> passed{};
  bool more = false;  ///< of kUnknown: with more points, or more ticks, it may know
};

/// `safe` is a proof for every schedule and any number of pending operations; `unsafe` comes with a schedule that the
/// exact semantics takes.
class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual Answer check(const Task& task) = 0;
};

}  // namespace loco::verify
