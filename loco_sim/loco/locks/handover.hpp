// How a thread lets go of a lock of a mutex_array, in steps that never wait for the network but in fences
// (mutex_array::unlock and the key-value store's operations). acquisition.hpp is the other side.
//
//   step         waits for                               then
//   (start)      the fence of what the thread has written next thread, name on the seat: told; else next_name, or free
//   next_name    the name on the home                    told, or free
//   name_behind  the name on the home, once more, after  done, or taking
//                the lock was set free
//   taking       the compare-and-swap that takes it away told, if this node took it; else done
//   late_answer  a name asked for that is not needed     none
//
// The lock goes to the node's next thread, if there is one and it may have it; else to the next ticket. If the name of
// that ticket's thread is known, the holder puts the turn on that thread's seat, and nowhere else. Names are on the
// holder's own seat or, where other tickets were waiting when it drew its own, on the home, which it has read
// meanwhile. If no name is known, the holder frees the lock: it writes that to `released` on its own seat, and to the
// home; then it reads both places a second time, for a name that came at the same time, takes such a name away with a
// compare-and-swap, and puts the turn there.
//
// A holder whose ticket was served, and which saw no later one drawn, does not look on the home: letting go of a lock
// that no other thread wants is one put, and waits for nothing. It may have missed somebody who had its name on the
// home before that ticket was served, since the words of what it read come in any order; that one sees to it
// (acquisition.hpp).
//
// The served ticket on the home only ever grows. It is written by a holder whose ticket was served there; or by one
// that got its turn on its seat, either not written to the home at all or after it was there.
#pragma once

#include <cstdint>
#include <optional>

#include "loco_sim/loco/locks/lock_array.hpp"
#include "loco_sim/loco/operations/ack_key.hpp"
#include "loco_sim/loco/operations/mem_ref.hpp"

namespace loco {

class handover {
 public:
  /// `fences`: what the thread has written is in memory before the next holder goes on. Else it must be when it starts.
  handover(lock_array& locks, bool fences);
  /// The thread, which holds lock k, will soon let go of it: asks for what has to be known then.
  void prepare(std::uint64_t k);
  /// Lets go of lock k. The trace's calls are in the given lane.
  void start(std::uint64_t k, std::uint32_t lane);
  /// Is it finished? Does not throw operation_error: manager::check() does.
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
  lock_array::local_lock* local_ = nullptr;  ///< stays where it is
  bool asked_ = false;                       ///< for the name on the home, before it is needed
  bool wanted_here_ = false;
  std::uint64_t name_ = 0;  ///< that is being taken away
  Step step_ = Step::none;
  mem_ref answers_;
  ack_key key_;
};

}  // namespace loco
