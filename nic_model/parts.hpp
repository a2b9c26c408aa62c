// A machine in parts, each a System of its own that simulates some of the hosts and switches (fabric/share.hpp). All
// are set up alike, by the same calls in the same order, so that everything has the same number everywhere; but threads
// run and packets move only where they are simulated. Nothing crosses but packets, pauses of links, and what stands for
// a time-out (requester/no_answer.hpp).
//
// What happens in a part does not depend on how many parts there are, nor on how they take turns: events of equal time
// are ordered by what they are about (Share::ranked). A trace, though, has its ids and order stamps from the one System
// that announces it.
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

/// What `config` says, as part `part` of those of `part_of` (fabric::make_parts); as all of them, in their order of
/// events, where `part_of` is empty.
[[nodiscard]] SystemConfig part_config(SystemConfig config, const std::vector<std::uint8_t>& part_of,
                                       std::uint8_t part);
/// Why a machine cannot be parted; empty when it can.
[[nodiscard]] std::string_view not_parted_because(const SystemConfig& config);
/// The parts of a machine that up to so many threads simulate; one where it cannot be parted.
[[nodiscard]] std::vector<std::uint8_t> parts_of(const SystemConfig& config, std::uint32_t threads);

/// A part, with what runs its threads and watches it. Both are used by one thread of the simulating machine alone.
struct PartRun {
  System* system = nullptr;
  Context* context = nullptr;
};

/// Where the threads of the simulating machine meet that each simulate a part. Conservative: each part goes on to the
/// least time at which another one may still have an effect on it (Chandy and Misra, 1979; in windows as in YAWNS,
/// Nicol, 1993).
class PartMeeting {
 public:
  /// Of the machine, whose parts these are: `part_of` is not empty.
  PartMeeting(const SystemConfig& machine, const std::vector<std::uint8_t>& part_of);
  ~PartMeeting();
  PartMeeting(const PartMeeting&) = delete;
  PartMeeting& operator=(const PartMeeting&) = delete;

  [[nodiscard]] std::size_t parts() const;
  /// Runs part `mine` on the calling thread until nothing is pending in any part; `run_until(end)` runs its events that
  /// are due before `end`. What it throws ends all parts, and comes out here. False: another part has ended them.
  [[nodiscard]] bool run(std::size_t mine, System& system, const std::function<void(sim::SimTime)>& run_until);
  /// Threads of all parts may gather, at no distance: they go on together at the instant at which the last one has
  /// come. Said by a part that has such threads, before run(): `release(at)` is called when all have come, on the
  /// part's thread, and between events that are due before `at` and what follows.
  void gathers(std::size_t mine, std::function<void(sim::SimTime at)> release);
  /// All of the part's threads have come, at `at`, which is now. must_return() is true until the next window.
  void gathered(std::size_t mine, sim::SimTime at);
  /// run_until() has to return, whatever is due: an event may have to wait for other parts now.
  [[nodiscard]] bool must_return(std::size_t mine) const;
  /// Runs all parts on the calling thread, which take turns. Throws what a part throws.
  void take_turns(std::span<const PartRun> parts);
  /// The part's thread will not run it (any more): the others do not wait for it. Does nothing when run() has ended.
  void leave(std::size_t mine);

 private:
  class Windows;
  std::unique_ptr<Windows> windows_;
};

/// On how many threads of the simulating machine: `each` its own, the first part this one; or all take turns on this.
enum class PartThreads : std::uint8_t { each, one };

/// Runs all parts of a machine, in their order, until nothing is pending. Throws what a part throws, the first part's
/// first.
void run_parts(std::span<const PartRun> parts, PartThreads threads = PartThreads::each);

}  // namespace loco::nic
