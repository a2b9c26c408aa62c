// An execution "at a level": for a set of libraries L, the outermost calls whose library is in L. Calls of other
// libraries are transparent (their children stand for them), and what lies under a call of L is its
// implementation and does not appear itself (LOCO paper, Section 3.6 and Fig. 1: towers of abstraction).
//
// LOCO has one wait for all operations. It is sv's when its work id was used by a broadcast of its thread; else it
// is transparent, and the base library's wait stands for itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/check.hpp"
#include "model/trace_index.hpp"

namespace loco::model {

using LibrarySet = std::uint32_t;  ///< bit i: static_cast<Library>(i)
[[nodiscard]] constexpr LibrarySet bit(Library l) { return LibrarySet{1} << static_cast<unsigned>(l); }

/// The subevents of an implementation that stand for those of the call (bit per stamp): where the concrete
/// counterpart exists, a library's subevent is that one.
[[nodiscard]] constexpr std::uint32_t visible_stamps(Library library, Method method) {
  const auto of = [](Stamp s) { return 1U << static_cast<unsigned>(s); };
  if (library == Library::rdmawait) return ~0U;
  switch (method) {
    case Method::sv_write:
    case Method::msw_write:
      return of(Stamp::aCW);
    case Method::sv_read:
    case Method::msw_tryread:
      return of(Stamp::aCR);
    case Method::bcast:
    case Method::msw_put:
      return of(Stamp::aNLR) | of(Stamp::aNRW);
    case Method::msw_get:
      return of(Stamp::aNRR) | of(Stamp::aNLW);
    default:
      return 0;
  }
}

class Level {
 public:
  Level(const TraceIndex& index, LibrarySet libraries);

  [[nodiscard]] LibrarySet libraries() const { return libraries_; }
  [[nodiscard]] const TraceIndex& index() const { return *index_; }
  /// The event that a call belongs to; 0 when it is transparent.
  [[nodiscard]] CallId event_of(CallId call) const { return event_[call - 1]; }
  [[nodiscard]] bool visible(SubeventId id) const { return library_[id - 1] != kHidden; }
  /// The library to whose execution a subevent belongs; only for visible ones.
  [[nodiscard]] Library library_of(SubeventId id) const { return static_cast<Library>(library_[id - 1]); }
  /// The next visible write of the word after a write (or, for 0, its first); 0 is none.
  [[nodiscard]] SubeventId next_write(SubeventId id, std::uint32_t word);

 private:
  static constexpr std::uint8_t kHidden = 0xff;

  const TraceIndex* index_;
  LibrarySet libraries_;
  std::vector<CallId> event_;
  std::vector<std::uint8_t> library_;  // by subevent
  std::vector<SubeventId> skip_;       // by subevent: a later write of the word, hidden ones jumped over
};

}  // namespace loco::model
