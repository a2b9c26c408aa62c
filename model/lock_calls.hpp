// The calls on locks of a run, lock by lock in the order in which each went from hand to hand.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "model/trace.hpp"

namespace loco::model {

struct LockStep {
  /// Steps at the same instant happen in this order: the holder releases, the next thread acquires, and that thread may
  /// release at once.
  enum class Turn : std::uint8_t { released, acquired, released_at_once };

  std::uint32_t object = 0;
  std::uint64_t lock = 0;
  Seq when = 0;
  Turn turn = Turn::released;
  CallId call = 0;

  [[nodiscard]] auto key() const { return std::tie(object, lock, when, turn, call); }
};

struct LockCalls {
  std::vector<LockStep> steps;  ///< by lock, then in their order
  std::uint64_t calls = 0;
};

[[nodiscard]] LockCalls lock_calls(const Trace& trace);

}  // namespace loco::model
