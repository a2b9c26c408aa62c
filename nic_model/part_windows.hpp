// How the parts of a machine go on together, window by window (parts.hpp). Private to nic_model/.
#pragma once

#include <algorithm>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "nic_model/parcel.hpp"
#include "nic_model/parts.hpp"

namespace loco::nic {

/// What the parts share while they run. A window has two phases. What a part writes in one phase the others read in the
/// next.
class PartMeeting::Windows {
 public:
  Windows(std::size_t parts, sim::Duration lookahead)
      : all(static_cast<std::ptrdiff_t>(parts)), lookahead_(lookahead), parts_(parts), boxes_(parts * parts) {}

  /// The first phase of a window: takes in what has come for a part, and lets threads go on that have gathered in all.
  void take_in(std::size_t mine, System& system) {
    Part& part = parts_[mine];
    attempt(part, [&] {
      for (std::size_t g = 0; g < part.groups.size(); ++g) {
        if (part.groups[g].times > part.groups[g].released) release_gathered(part, g);
        part.groups[g].times_before = part.groups[g].times;
      }
      for (std::size_t p = 0; p < parts_.size(); ++p) {
        std::vector<Parcel>& box = boxes_[p * parts_.size() + mine];
        for (const Parcel& parcel : box) system.deliver(parcel);
        box.clear();
      }
      part.at = system.idle() ? sim::SimTime::max() : system.next_time();
    });
    part.ends_all = part.error != nullptr;
  }

  /// True if there is another window. The same for all parts between the phases.
  [[nodiscard]] bool goes_on() const {
    return !ended() && std::ranges::any_of(parts_, [](const Part& p) { return p.at != sim::SimTime::max(); });
  }
  /// True if a part has ended the run for all.
  [[nodiscard]] bool ended() const {
    return std::ranges::any_of(parts_, [](const Part& p) { return p.ends_all; });
  }

  /// Second phase: runs the part's events and hands over what goes to others.
  template <class RunUntil>
  void run(std::size_t mine, System& system, const RunUntil& run_until) {
    Part& part = parts_[mine];
    part.returns = false;
    attempt(part, [&] {
      run_until(until(mine));
      part.out.clear();
      system.take_parcels(part.out);
      for (Parcel& parcel : part.out) boxes_[mine * parts_.size() + parcel.to].push_back(std::move(parcel));
    });
  }

  [[nodiscard]] std::size_t parts() const { return parts_.size(); }
  [[nodiscard]] const std::exception_ptr& error(std::size_t part) const { return parts_[part].error; }
  /// True at the first call only: the part takes part in no further window.
  [[nodiscard]] bool leaves(std::size_t mine) { return !std::exchange(parts_[mine].left, true); }
  void end_all(std::size_t mine) { parts_[mine].ends_all = true; }

  void gathers(std::size_t mine, std::size_t group, std::function<void(sim::SimTime)> release) {
    std::vector<Group>& groups = parts_[mine].groups;
    if (groups.size() <= group) groups.resize(group + 1);
    groups[group].release = std::move(release);
  }
  void gathered(std::size_t mine, std::size_t group, sim::SimTime at) {
    Group& of = parts_[mine].groups[group];
    ++of.times;
    of.at = at;
    parts_[mine].returns = true;
  }
  [[nodiscard]] bool must_return(std::size_t mine) const { return parts_[mine].returns; }

  std::barrier<> all;

 private:
  /// Threads of a part that meet those of other parts. While a window's events run, others read only how often they had
  /// met before it.
  struct Group {
    std::function<void(sim::SimTime)> release{};  // empty: the part has none of them
    std::uint64_t times = 0, times_before = 0, released = 0;
    sim::SimTime at{};
  };
  struct alignas(64) Part {
    sim::SimTime at{};      // the time of its earliest event; max() if it has none
    bool ends_all = false;  // the part has failed, which ends all
    bool left = false;
    std::exception_ptr error{};
    std::vector<Parcel> out{};
    std::vector<Group> groups{};
    bool returns = false;

    /// Null if it has no threads of this group.
    [[nodiscard]] const Group* group(std::size_t g) const {
      return g < groups.size() && groups[g].release ? &groups[g] : nullptr;
    }
  };

  /// When all parts have gathered. Precondition: this one has.
  void release_gathered(Part& part, std::size_t g) {
    Group& mine = part.groups[g];
    sim::SimTime last = mine.at;
    for (const Part& other : parts_) {
      const Group* const theirs = other.group(g);
      if (theirs == nullptr) continue;
      if (theirs->times != mine.times) return;
      last = std::max(last, theirs->at);
    }
    ++mine.released;
    mine.release(last);
  }

  template <class Work>
  static void attempt(Part& part, const Work& work) {
    if (part.error) return;
    try {
      work();
    } catch (...) {
      part.error = std::current_exception();
    }
  }

  /// The time up to which a part may run. It includes the effects of its own events that come back through another
  /// part.
  [[nodiscard]] sim::SimTime until(std::size_t mine) const {
    const auto after = [this](sim::SimTime at, std::int64_t times) {
      return at == sim::SimTime::max() ? at : at + lookahead_ * times;
    };
    sim::SimTime end = after(parts_[mine].at, 2);
    for (std::size_t p = 0; p < parts_.size(); ++p)
      if (p != mine) end = std::min(end, after(parts_[p].at, 1));
    std::size_t groups = 0;
    for (const Part& p : parts_) groups = std::max(groups, p.groups.size());
    for (std::size_t g = 0; g < groups; ++g) end = std::min(end, until_gathered(mine, g));
    return end;
  }

  /// What waits for the threads of others to gather goes no further than to the earliest instant at which they can:
  /// that of an event of theirs, or of one that is due to anything that still happens.
  [[nodiscard]] sim::SimTime until_gathered(std::size_t mine, std::size_t g) const {
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    for (const Part& p : parts_)
      if (const Group* const of = p.group(g)) least = std::min(least, of->times_before);
    if (least == std::numeric_limits<std::uint64_t>::max()) return sim::SimTime::max();  // nobody meets
    const auto lags = [g, least](const Part& p) {
      const Group* const of = p.group(g);
      return of != nullptr && of->times_before == least;
    };
    if (lags(parts_[mine])) return sim::SimTime::max();
    sim::SimTime earliest = sim::SimTime::max();
    for (const Part& p : parts_) {
      if (p.at == sim::SimTime::max()) continue;
      earliest = std::min(earliest, p.at + lookahead_);
      if (lags(p)) earliest = std::min(earliest, p.at);
    }
    return earliest == sim::SimTime::max() ? earliest : earliest + sim::Duration{1};
  }

  sim::Duration lookahead_;
  std::vector<Part> parts_;
  std::vector<std::vector<Parcel>> boxes_;  // from part p for part q: p * parts + q
};

}  // namespace loco::nic
