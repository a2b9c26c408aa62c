// How a thread takes a lock of a mutex_array, in steps that never block: used by mutex_array::lock and by the key-value
// store's operations. The predecessor is the thread with the ticket before one's own.
//
//   step       waits for                             then
//   queue      the turn among this node's threads    held, if the node has the lock already; else draw
//   draw       the ticket, and which one is served   held, if it is this one; else announce, or ask
//   announce   the name written, the look after it   wait, claim, ask, or announce once more
//   claim      its name taken back from the home     held, announce on the holder's seat, or wait
//   wait       its `turn`, on its own seat           held; withdraw once a node does not answer
//   withdraw   its name taken back, from wherever    ask
//   ask        which ticket is served                held, ask again after a rest, or give_back
//   give_back  the ticket returned                   an exception, or ask
//
// The thread draws a ticket and directly afterwards reads on the home which ticket is served. If it is another one, the
// thread writes its name where its predecessor will look. In the same list of work requests it then reads whether the
// predecessor has released the lock meanwhile:
//   - If the two values show that the predecessor is the holder, the name goes to `link` on the holder's seat, and the
//     thread reads `released` there.
//   - If more tickets are before its own, the name goes to the home, with a sign that the thread waits. The thread
//     reads the served ticket and its predecessor's sign there. If the predecessor has become the holder, the name
//     moves to its seat. If the sign is there, the predecessor has not found the lock free and will look on the home.
//     Otherwise the predecessor may still find the lock free and see no successor, because one get reads the served
//     and the next ticket in any order. So the thread looks again until the name has moved, the sign is there, or its
//     turn has come, which takes no longer than the predecessor needs from its draw to its sign.
// A thread that waits on a seat puts its sign on the home as well.
// Each thread writes before it reads, so at least one of the two sees the other (Dekker). If both do and the name is on
// the home, the one that removes it with a compare-and-swap decides; if the name is on a seat, the thread reads the
// home and its own `turn`, one of which will tell. In all other cases it waits for `turn` on its own node, where
// polling costs the network nothing. This follows MCS locks (Mellor-Crummey and Scott, TOCS 1991), with tickets instead
// of a swap.
//
// The thread reads the home again in two cases only: when the predecessor has released and its put to the home is in
// flight, and when a node that may have the lock does not answer. In the second case it takes its name back first.
#pragma once

#include <cstdint>
#include <optional>

#include "loco_sim/loco/locks/lock_array.hpp"
#include "loco_sim/loco/membership/patience.hpp"
#include "loco_sim/loco/operations/ack_key.hpp"
#include "loco_sim/loco/operations/mem_ref.hpp"

namespace loco {

/// A lock that one of a thread's tasks is acquiring: poll() never waits for the network. Handles one lock at a time and
/// can be reused.
class acquisition {
 public:
  /// Whether poll() may pass time between its polls of the home, with compute(). With `no`, for a thread with other
  /// tasks, it does so only once a packet must have been lost, and for shorter times.
  enum class Rests : bool { no, yes };

  explicit acquisition(lock_array& locks, Rests rests = Rests::no);
  /// Joins the queue for lock k. The trace shows its calls in the given lane.
  void start(std::uint64_t k, std::uint32_t lane);
  /// True once the lock is held; a handover releases it. An exception ends the attempt.
  [[nodiscard]] bool poll();

 private:
  enum class Step : std::uint8_t { queue, draw, announce, claim, wait, withdraw, ask, give_back, held };
  enum class Goes : std::uint8_t { on, not_yet, held };

  bool advance();
  [[nodiscard]] bool answered();
  Goes take_step();
  Goes queue();
  Goes drawn();
  [[nodiscard]] bool is_next() const;
  void announce();
  void announce_at_home();
  void look_at_home();
  Goes announced();
  void take_name_back(Step step);
  Goes claimed();
  Goes wait();
  void ask();
  Goes asked();
  void rest();

  lock_array& locks_;
  Rests rests_;
  std::uint64_t lock_ = 0;
  std::uint32_t lane_ = 0;
  lock_array::local_lock* local_ = nullptr;  ///< its address is stable
  std::uint64_t turn_ = 0;                   ///< local ticket, among this node's threads
  lock_array::word_at name_;                 ///< where this thread's name is
  bool at_home_ = false;                     ///< the name is on the home; otherwise on a seat
  bool turn_comes_ = false;                  ///< the predecessor saw the name before it was taken back
  std::uint64_t serving_ = 0;                ///< the served ticket when last read
  std::uint64_t latest_ = 0;                 ///< the greatest ticket known to be drawn
  std::uint32_t looks_ = 0;                  ///< number of repeated looks on the home
  std::uint64_t seen_sign_ = 0;              ///< offset in answers_ of the sign that a look reads
  std::int64_t asked_ps_ = 0;
  std::int64_t rest_ps_ = 0;
  std::int64_t rests_from_ps_ = 0;
  patience patience_;
  Step step_ = Step::held;
  mem_ref answers_;
  ack_key key_;
};

}  // namespace loco
