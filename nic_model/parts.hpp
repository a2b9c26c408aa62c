// A machine in parts, each a System that simulates some of the hosts and switches (fabric/share.hpp). All parts are set
// up by the same calls in the same order, so that everything has the same number everywhere, but threads run and
// packets move only in the part that simulates them. Only packets, pauses of links and replacements for timeouts
// (requester/no_answer.hpp) cross from one part to another.
//
// What happens in a part depends neither on the number of parts nor on how they take turns, because events of equal
// time are ordered by what they concern (Share::ranked). In a trace, however, ids and order stamps come from the System
// that announces the event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "nic_model/system.hpp"

namespace loco::nic {

/// The configuration for part `part` of those of `part_of` (fabric::make_parts). If `part_of` is empty, the whole
/// machine with the order of events that parts have.
[[nodiscard]] SystemConfig part_config(SystemConfig config, const std::vector<std::uint8_t>& part_of,
                                       std::uint8_t part);
/// Why a machine cannot be divided into parts; empty if it can.
[[nodiscard]] std::string_view not_parted_because(const SystemConfig& config);
/// The parts of a machine for up to this many threads; a single part if it cannot be divided.
[[nodiscard]] std::vector<std::uint8_t> parts_of(const SystemConfig& config, std::uint32_t threads);

/// A part with what runs its threads and observes it. Only one thread of the simulating machine uses them.
struct PartRun {
  System* system = nullptr;
  Context* context = nullptr;
};

/// Synchronises the threads of the simulating machine that each simulate a part. Conservative: each part runs up to the
/// least time at which another part may still affect it (Chandy and Misra, 1979; in windows as in YAWNS, Nicol, 1993).
class PartMeeting {
 public:
  /// `machine` is the configuration of the whole machine. Precondition: `part_of` is not empty.
  PartMeeting(const SystemConfig& machine, const std::vector<std::uint8_t>& part_of);
  ~PartMeeting();
  PartMeeting(const PartMeeting&) = delete;
  PartMeeting& operator=(const PartMeeting&) = delete;

  [[nodiscard]] std::size_t parts() const;
  /// Runs part `mine` on the calling thread until nothing is pending in any part; `run_until(end)` must run its events
  /// that are due before `end`. An exception from it ends all parts and is thrown again here. Returns false if another
  /// part has ended the run.
  [[nodiscard]] bool run(std::size_t mine, System& system, const std::function<void(sim::SimTime)>& run_until);
  /// Threads of all parts may gather, at no distance: they go on together at the instant at which the last one has
  /// come. Said by a part that has such threads of group `group`, before run(): `release(at)` is called when all of the
  /// group have come, on the part's thread, and between events that are due before `at` and what follows.
  void gathers(std::size_t mine, std::size_t group, std::function<void(sim::SimTime at)> release);
  /// All of the part's threads of the group have come, at `at`, which is now. must_return() is true until the next
  /// window.
  void gathered(std::size_t mine, std::size_t group, sim::SimTime at);
  /// run_until() has to return, whatever is due: an event may have to wait for other parts now.
  [[nodiscard]] bool must_return(std::size_t mine) const;
  /// Runs all parts in turn on the calling thread. Throws what a part throws.
  void take_turns(std::span<const PartRun> parts);
  /// The part's thread will not run it any further, so the others do not wait for it. Does nothing after run() has
  /// ended.
  void leave(std::size_t mine);

 private:
  class Windows;
  std::unique_ptr<Windows> windows_;
};

/// Which threads of the simulating machine run the parts: one for each, with the first part on the calling thread, or
/// the calling thread for all in turn.
enum class PartThreads : std::uint8_t { each, one };

/// Runs all parts of a machine until nothing is pending. Throws what a part throws, preferring the first part.
void run_parts(std::span<const PartRun> parts, PartThreads threads = PartThreads::each);

}  // namespace loco::nic
