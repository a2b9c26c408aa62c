// What every level of a trace shares: who called what in which order, which word a subevent touches, and the
// modification order of each word, read off the recorded `overwrote` links. Linear in the trace.
//
// A write that had not finished when the run ended is taken to finish after everything that did: such writes are
// appended to their word's order by `start`. What had not even begun comes after these, in no order among itself: the
// run may go on in any (docs/checking.md, "Runs that end early").
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/poll.hpp"
#include "model/trace.hpp"

namespace loco::model {

[[nodiscard]] constexpr bool is_read(Stamp s) {
  return s == Stamp::aCR || s == Stamp::aCAS || s == Stamp::aNLR || s == Stamp::aNRR || s == Stamp::aNAR;
}
[[nodiscard]] constexpr bool is_write(Stamp s) {
  return s == Stamp::aCW || s == Stamp::aCAS || s == Stamp::aNLW || s == Stamp::aNRW;
}
[[nodiscard]] constexpr bool is_access(Stamp s) { return is_read(s) || is_write(s); }
/// Starts and finishes at once (the paper's Inst).
[[nodiscard]] constexpr bool is_instant(Stamp s) { return s != Stamp::aCW && s != Stamp::aNLW && s != Stamp::aNRW; }
[[nodiscard]] constexpr bool is_remote_atomic(Method m) { return m == Method::remote_faa || m == Method::remote_cas; }
/// The stamp by which an operation reads what it writes. `places`: Trace::atomics_have_places.
[[nodiscard]] constexpr Stamp read_stamp(Method m, bool places) {
  if (m == Method::put) return Stamp::aNLR;
  return places && is_remote_atomic(m) ? Stamp::aNAR : Stamp::aNRR;
}
/// The value that a subevent read, to be compared with the write that rf names.
[[nodiscard]] constexpr std::uint64_t value_read(const Subevent& s) {
  return s.stamp == Stamp::aCAS ? s.value_read : s.value;
}

/// The fields that every pass reads, apart from the other fields so that they stay in cache.
struct Kind {
  Stamp stamp = Stamp::aCR;
  bool unbegun = false;
  std::uint16_t peer = 0;
};

struct CallKind {
  CallId parent = 0;
  Library library = Library::rdmawait;
  Method method = Method::read;
  bool own_wait = false;  ///< sv_wait: a broadcast of its thread has used its work id
};

inline constexpr std::uint32_t kNoWord = 0xffffffffU;

/// Requires a trace whose structure is sound (witness.hpp).
class TraceIndex {
 public:
  /// `poll` outlives the index.
  TraceIndex(const Trace& trace, const Poll& poll);

  [[nodiscard]] const Trace& trace() const { return *trace_; }
  [[nodiscard]] const Subevent& subevent(SubeventId id) const { return trace_->subevents[id - 1]; }
  [[nodiscard]] Kind kind(SubeventId id) const { return kinds_[id - 1]; }
  [[nodiscard]] CallKind kind_of_call(CallId id) const { return call_kinds_[id - 1]; }
  /// To be called in every loop over the trace, so that it can be interrupted; `steps`: elements looked at since the
  /// last call.
  void poll(std::size_t steps = 1) const { (*poll_)(steps); }
  [[nodiscard]] const Poll& poller() const { return *poll_; }
  [[nodiscard]] const Call& call(CallId id) const { return trace_->calls[id - 1]; }

  /// Calls of a thread in program order; a call precedes those it is made of.
  [[nodiscard]] std::span<const CallId> calls_of(std::uint32_t thread) const {
    return std::span(thread_calls_).subspan(thread_begin_[thread], thread_begin_[thread + 1] - thread_begin_[thread]);
  }
  /// Subevents of one innermost call, in order of creation.
  [[nodiscard]] std::span<const SubeventId> subevents_of(CallId call) const {
    return std::span(call_subevents_).subspan(call_begin_[call - 1], call_begin_[call] - call_begin_[call - 1]);
  }

  [[nodiscard]] std::uint32_t words() const { return static_cast<std::uint32_t>(first_.size()); }
  /// Number of the word that a subevent accesses; kNoWord for fences.
  [[nodiscard]] std::uint32_t word(SubeventId id) const { return word_[id - 1]; }
  /// mo of the writes that have begun: first write of a word, the write after one, the position of one (from 1); 0 is
  /// none.
  [[nodiscard]] SubeventId first_write(std::uint32_t word) const { return first_[word]; }
  [[nodiscard]] SubeventId next_write(SubeventId id) const { return next_[id - 1]; }
  [[nodiscard]] std::uint32_t mo_position(SubeventId id) const { return id == 0 ? 0 : position_[id - 1]; }

  /// Has anything been posted that had not begun when the run ended?
  [[nodiscard]] bool has_unbegun() const { return has_unbegun_; }
  /// A word's writes that had not begun: after all others in mo.
  struct UnbegunWrite {
    std::uint32_t word = 0;
    SubeventId write = 0;
  };
  [[nodiscard]] std::span<const UnbegunWrite> unbegun_writes(std::uint32_t word) const;
  /// When the node of a thread first learnt that one of the thread's operations had failed before all of it had begun;
  /// kNever when it did not.
  [[nodiscard]] Seq gave_up(std::uint32_t thread) const { return gave_up_.empty() ? kNever : gave_up_[thread]; }

  /// Where the recorded run puts a subevent's finish, as a number to compare: instants are even, other writes
  /// odd, writes that did not finish come after everything, and what had not begun after these. At least 2.
  [[nodiscard]] std::uint64_t finish_position(SubeventId id) const { return finish_[id - 1]; }

  /// A write whose `overwrote` link breaks the chain of its word; 0 when mo is total. Nothing above may be asked
  /// about mo when it is not.
  [[nodiscard]] SubeventId broken_mo() const { return broken_mo_; }

 private:
  void index_calls();
  void index_words();
  void index_mo();
  void index_finishes();
  void index_unbegun();
  void append_unfinished(std::vector<SubeventId>& last);

  const Trace* trace_;
  const Poll* poll_;
  std::vector<CallKind> call_kinds_;
  std::vector<std::uint32_t> thread_begin_, call_begin_;
  std::vector<CallId> thread_calls_;
  std::vector<SubeventId> call_subevents_;
  std::vector<std::uint32_t> word_;
  std::vector<SubeventId> first_, next_;
  std::vector<std::uint32_t> position_;
  std::vector<std::uint64_t> finish_;
  std::vector<Kind> kinds_;
  bool has_unbegun_ = false;
  std::vector<UnbegunWrite> unbegun_writes_;  // by word
  std::vector<Seq> gave_up_;                  // by thread; empty: nobody did
  SubeventId broken_mo_ = 0;
};

}  // namespace loco::model
