// How a thread releases a lock of a mutex_array, in steps that block in fences only (mutex_array::unlock and the
// key-value store's operations). acquisition.hpp is the counterpart.
//
//   step         waits for                                  then
//   (start)      the fence of the thread's writes           told: next thread, or name on the seat; next_name; free
//   next_name    the name on the home                       told, or free
//   name_behind  the name on the home, once more, after     done, or taking
//                the lock was set free
//   taking       the compare-and-swap that takes the name   told, if this node took it; else done
//   late_answer  a name requested early and not needed      none
//
// The lock goes to this node's next thread if one waits and may have it, otherwise to the next ticket. If the name of
// that ticket's thread is known, the holder puts the turn on that thread's seat and nowhere else. Names are on the
// holder's own seat or, if other tickets were waiting when it drew its own, on the home. If no name is known, the
// holder frees the lock: it writes the next ticket to `released` on its own seat and to the home. Then it reads both
// places a second time for a name that came at the same moment, takes such a name with a compare-and-swap, and puts the
// turn on that thread's seat.
//
// A holder that found its ticket served and no later one drawn does not look on the home. Releasing an uncontended lock
// is thus one put, without waiting. It may have missed a thread that wrote its name to the home before that ticket was
// served, because the words of a get are read in any order; that thread notices (acquisition.hpp).
//
// The served ticket on the home only grows. It is written by a holder whose ticket was served there, or by one that got
// its turn on its seat, whose predecessor wrote nothing to the home or did so earlier.
#pragma once

#include <cstdint>
#include <optional>

#include "loco_sim/loco/locks/lock_array.hpp"
#include "loco_sim/loco/operations/ack_key.hpp"
#include "loco_sim/loco/operations/mem_ref.hpp"

namespace loco {

class handover {
 public:
  /// With `fences`, the thread's writes are in memory before the next holder continues. Without, they must be in memory
  /// before start().
  handover(lock_array& locks, bool fences);
  /// Announces that the thread, which holds lock k, will soon release it, so that a needed name can be read early.
  void prepare(std::uint64_t k);
  /// Releases lock k. The trace shows its calls in the given lane.
  void start(std::uint64_t k, std::uint32_t lane);
  /// True once the release is finished. Errors of operations are thrown by manager::check(), not here.
  [[nodiscard]] bool poll();

 private:
  enum class Step : std::uint8_t { none, next_name, name_behind, taking, late_answer };

  [[nodiscard]] bool to_next_thread();
  [[nodiscard]] bool fences_early() const;
  void fence_writes(std::optional<NodeId> except);
  void fence_class(std::optional<NodeId> except);
  void fence_who_answers();
  [[nodiscard]] std::optional<NodeId> likely_told();
  void hand_to_next_thread();
  void pass_on();
  void after_answer();
  void ask_name();
  void set_free();
  void write_released();
  void put_released(lock_array::word_at at, bool more);
  void put_served();
  void take_name(std::uint64_t name);
  [[nodiscard]] std::uint64_t link();
  void tell(NodeId node);
  void finish();

  lock_array& locks_;
  bool fences_;
  std::uint64_t lock_ = 0;
  std::uint32_t lane_ = 0;
  lock_array::local_lock* local_ = nullptr;  ///< its address is stable
  bool asked_ = false;                       ///< the name on the home was requested before it is needed
  bool wanted_here_ = false;
  std::uint64_t name_ = 0;  ///< the name that is being taken
  Step step_ = Step::none;
  mem_ref answers_;
  ack_key key_;
};

}  // namespace loco
