// How a thread lets go of a lock of a mutex_array, in steps that never wait for the network but in fences
// (mutex_array::unlock and the key-value store's operations).
//
// To the node's next thread, if there is one and it may; else to the next ticket. If its name is known, because it is
// on the own seat or, where others were seen when the ticket was drawn, on the home, where it has been asked for
// meanwhile, the turn is put on that node's seat, and nowhere else. If not, the lock is free: `released` on the own
// seat says so, and the home; then come the second looks at the two places, for a name that came at the same time. One
// that is there is taken away with a compare-and-swap, and told. Who has seen nobody has nobody behind it whose name
// stays on the home: letting go of a lock that nobody wants is one put, and waits for nothing. acquisition.hpp is the
// other side.
//
// What is served, on the home, only ever grows: it is put there by a holder whose ticket was served there, or who was
// told the turn by one that put it nowhere else, or after it was there.
#pragma once

#include <cstdint>
#include <optional>

#include "loco_sim/loco/ack_key.hpp"
#include "loco_sim/loco/mem_ref.hpp"
#include "loco_sim/loco/mutex.hpp"

namespace loco {

class handover {
 public:
  /// `fences`: what the thread has written is in memory before the next holder goes on. Else it must be when it starts.
  handover(mutex_array& locks, bool fences);
  /// The thread, which holds lock k, will soon let go of it: asks for what has to be known then.
  void prepare(std::uint64_t k);
  /// Lets go of lock k. The trace's calls are in the given lane.
  void start(std::uint64_t k, std::uint32_t lane);
  /// Is it finished? Does not throw operation_error: manager::check() does.
  [[nodiscard]] bool poll();

 private:
  enum class Step : std::uint8_t { none, next_name, name_behind, taking, late_answer };

  [[nodiscard]] bool to_next_thread();
  void fence_writes(std::optional<NodeId> except);
  [[nodiscard]] std::optional<NodeId> likely_told();
  void hand_to_next_thread();
  void pass_on();
  void after_answer();
  void ask_name();
  void set_free();
  void write_released();
  void put_released(mutex_array::word_at at, bool more);
  void put_served();
  void take_name(std::uint64_t name);
  [[nodiscard]] std::uint64_t link();
  void tell(NodeId node);
  void finish();

  mutex_array& locks_;
  bool fences_;
  std::uint64_t lock_ = 0;
  std::uint32_t lane_ = 0;
  mutex_array::local_lock* local_ = nullptr;  ///< stays where it is
  bool asked_ = false;                        ///< for the name on the home, before it is needed
  bool wanted_here_ = false;
  std::uint64_t name_ = 0;  ///< that is being taken away
  Step step_ = Step::none;
  mem_ref answers_;
  ack_key key_;
};

}  // namespace loco
