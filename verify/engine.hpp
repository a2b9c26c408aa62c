// What decides whether a program keeps its properties: one narrow interface, several engines behind it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "verify/network.hpp"
#include "verify/program.hpp"
#include "verify/trace.hpp"

namespace loco::verify {

/// How far an engine may go. It looks at them often, and gives up with Verdict::kUnknown when one is reached.
struct Limits {
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  std::uint64_t memory_bytes = std::uint64_t{2} << 30U;  ///< of what the engine stores
  std::uint32_t pending = 4;   ///< instances of one remote statement that are told apart while they are pending
  bool shortest = true;        ///< look for a shortest counterexample once there is one
  std::function<void()> look;  ///< called now and then; may throw to end it all (Ctrl-C in Python)

  [[nodiscard]] bool out_of_time() const { return std::chrono::steady_clock::now() >= deadline; }
};

struct Task {
  const Program& program;
  FlushMask flushes;  ///< as long as program.flushes
  Network network = Network::kUnordered;
  Limits limits;
};

enum class Verdict : std::uint8_t { kSafe, kUnsafe, kUnknown };

struct Answer {
  Verdict verdict = Verdict::kUnknown;
  std::string why;     ///< one line for the user: how it was proved, what broke, or what was reached
  std::string engine;  ///< who decided it
  std::optional<Counterexample> counterexample;  ///< of kUnsafe: confirmed by the exact semantics
  std::string certificate;  ///< of kSafe, when the engine writes one: an inductive invariant (docs/verify.md)
  std::optional<std::uint32_t> predicates{};  ///< how many it took, of an engine that has predicates
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
