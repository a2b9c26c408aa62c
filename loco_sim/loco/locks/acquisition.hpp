// How a thread takes a lock of a mutex_array, in steps that never wait: used by mutex_array::lock and by the key-value
// store's operations.
//
//   step       waits for                             then
//   queue      the turn among this node's threads    held, if the node has the lock already; else draw
//   draw       the ticket, and which one is served   held, if it is this one; else announce, or ask
//   announce   the name written; the look behind it  wait, claim, ask, or announce once more
//   claim      its name taken back from the home     held, announce on the holder's seat, or wait
//   wait       its `turn`, on its own seat           held; withdraw once a node does not answer
//   withdraw   its name taken back, from wherever    ask
//   ask        which ticket is served                held, ask again after a rest, or give_back
//   give_back  the ticket given back                 an exception, or ask
//
// The thread draws a ticket and, right behind that, reads on the home which ticket is served. If it is another one, the
// thread writes its name where its predecessor (the thread with the ticket before its own) will look, and behind that,
// in one list of work requests, reads whether the predecessor has let go meanwhile:
//   - the two values tell that the predecessor is the holder: the name goes to `link` on the holder's seat, and the
//     thread reads `released` there;
//   - more tickets are before its own: the name goes to the home, together with a sign that the thread waits. There it
//     reads what is served, and its predecessor's sign. If the predecessor has come to be the holder, the name moves to
//     its seat. If the sign is there, the predecessor has not found the lock free, and will look on the home. Else it
//     may do so yet, and see nobody behind: what is served and what is drawn next are read in one get, whose words come
//     in any order. So the thread looks again, until one of the three is so: the time that the predecessor takes from
//     its draw to its sign.
// Whoever waits on a seat puts its sign on the home as well.
// Each thread writes before it reads, so at least one of the two sees the other (Dekker). If both do, then on the home
// the one that takes the name away with a compare-and-swap decides; a thread whose name is on a seat reads the home and
// its own `turn`, one of which will tell. Else it waits for `turn` on its own node, where reading costs nothing on the
// network, however long it takes: after MCS locks (Mellor-Crummey and Scott, TOCS 1991), with tickets for a swap.
//
// The thread reads the home again in two cases only: when the predecessor has let go and its write to the home is on
// its way, and when a node that may have the lock does not answer. Then the name is taken back first.
#pragma once

#include <cstdint>
#include <optional>

#include "loco_sim/loco/locks/lock_array.hpp"
#include "loco_sim/loco/membership/patience.hpp"
#include "loco_sim/loco/operations/ack_key.hpp"
#include "loco_sim/loco/operations/mem_ref.hpp"

namespace loco {

/// A lock on its way to one of a thread's several tasks: poll() never waits for the network. One lock at a time; it may
/// be used again.
class acquisition {
 public:
  /// May it let time pass between its questions to the home, with compute()? A thread with other tasks may when a
  /// packet must have been lost, and for less at a time.
  enum class Rests : bool { no, yes };

  explicit acquisition(lock_array& locks, Rests rests = Rests::no);
  /// Joins the queue for lock k. The trace's calls are in the given lane.
  void start(std::uint64_t k, std::uint32_t lane);
  /// Is the lock held? Then a handover lets go of it. What it throws ends the attempt.
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
  lock_array::local_lock* local_ = nullptr;  ///< stays where it is
  std::uint64_t turn_ = 0;                   ///< among this node's threads
  lock_array::word_at name_;                 ///< where the own name is
  bool at_home_ = false;                     ///< it is on the home, else on a seat
  bool turn_comes_ = false;                  ///< whoever passes the lock on has seen the name before it was taken back
  std::uint64_t serving_ = 0;                ///< at the latest look
  std::uint64_t latest_ = 0;                 ///< the latest ticket that is known to be drawn
  std::uint32_t looks_ = 0;                  ///< again, on the home
  std::uint64_t seen_sign_ = 0;              ///< where the sign lands that a look brings
  std::int64_t asked_ps_ = 0;
  std::int64_t rest_ps_ = 0;
  std::int64_t rests_from_ps_ = 0;
  patience patience_;
  Step step_ = Step::held;
  mem_ref answers_;
  ack_key key_;
};

}  // namespace loco
