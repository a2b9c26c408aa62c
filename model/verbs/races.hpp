// Races of a verbs program: pairs of accesses to one word that nothing orders, whatever the run. They are found in any
// run in which both accesses are made, whatever these saw.
//
// The rules are those of ibv_post_send(3), ibv_post_recv(3), ibv_reg_mr(3) (ordering) and of the memory model
// (graph.hpp); docs/verbs.md, "Races", has the table. CPU against CPU is ThreadSanitizer's work, not ours.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.hpp"

namespace loco::model::verbs {

enum class RaceKind : std::uint8_t {
  source_changed,
  result_before_completion,
  receive_buffer_in_use,
  two_receives_one_buffer,
  in_flight_twice,
  unordered,
  words_of_a_message,  ///< a case of `unordered`
  cq_overrun,
  no_receive,
  unreliable,  ///< ordered, but a message may be lost and the program would go on: a warning
};
inline constexpr std::size_t kRaceKinds = 10;
/// `source changed`, `unordered`, ...
[[nodiscard]] std::string_view name(RaceKind kind);

/// One side of a race.
struct Access {
  std::uint32_t call = 0;    ///< of the trace; 0: none
  std::uint32_t thread = 0;  ///< whose call it is
  std::string thread_name;
  std::string place;  ///< "ring.py:17"; empty where it is not known
  std::string text;   ///< "load of 1:0x1ff8", "WRITE on queue pair 0 of 1:0x1ff8"
};

struct Race {
  RaceKind kind = RaceKind::unordered;
  bool error = true;  ///< false: a warning
  std::uint32_t node = 0;
  std::uint64_t address = 0;  ///< of the word; 0: it is of none
  std::uint64_t count = 1;    ///< pairs of accesses between these lines
  Access first{}, second{};
  std::string advice{};  ///< a call that would order them

  [[nodiscard]] std::string to_text() const;
};

struct RaceOptions {
  /// Called now and then; to end the search early it throws.
  std::function<void()> poll{};
};

/// Each once for a pair of lines of the program, those of errors first. Throws std::invalid_argument for a trace that
/// is none of a verbs program.
[[nodiscard]] std::vector<Race> races(const trace::Trace& trace, const RaceOptions& options = {});

}  // namespace loco::model::verbs
