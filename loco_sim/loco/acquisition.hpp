// How a thread comes to hold a lock of a mutex_array, in steps that never wait: the one way in which locks are taken
// (mutex_array::lock and the key-value store's operations).
//
// Draw a ticket and look, one right behind the other, which one is served. If it is not the own one, say one's name
// where the one before will look, and look behind that, in one list of work requests, whether it has let go meanwhile:
//   - the one before is the holder, whom the two values tell: on its seat, `link` and `released`;
//   - there are more before: on the home, among the names. If the latest look still says so, the one before has not
//     found the lock free, and will look there; if it does not, the name moves to the holder's seat.
// Each has written before it looks, so at least one of both sees the other (Dekker). If both do, then on the home
// whoever takes the name away with a compare-and-swap decides; who has looked at a seat looks at both, the home and its
// turn, of which one will tell. Else wait for `turn` on the own node, where looking costs nothing on the network,
// however long it takes: after MCS locks (Mellor-Crummey and Scott, TOCS 1991), with tickets for a swap.
//
// The home is asked again in two cases only: when the one before has let go and what it put there is on its way, and
// when a node does not answer, which may have the lock. Then the name is taken back first.
#pragma once

#include <cstdint>
#include <optional>

#include "loco_sim/loco/ack_key.hpp"
#include "loco_sim/loco/mem_ref.hpp"
#include "loco_sim/loco/mutex.hpp"
#include "loco_sim/loco/patience.hpp"

namespace loco {

/// A lock on its way to one of a thread's several tasks: poll() never waits for the network. One lock at a time; it may
/// be used again.
class acquisition {
 public:
  /// May it let time pass between its questions to the home, with compute()? A thread with other tasks may when a
  /// packet must have been lost, and for less at a time.
  enum class Rests : bool { no, yes };

  explicit acquisition(mutex_array& locks, Rests rests = Rests::no);
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
  Goes announced();
  void take_name_back(Step step);
  Goes claimed();
  Goes wait();
  void ask();
  Goes asked();
  void rest();

  mutex_array& locks_;
  Rests rests_;
  std::uint64_t lock_ = 0;
  std::uint32_t lane_ = 0;
  mutex_array::local_lock* local_ = nullptr;  ///< stays where it is
  std::uint64_t turn_ = 0;                    ///< among this node's threads
  mutex_array::word_at name_;                 ///< where the own name is
  bool at_home_ = false;                      ///< it is on the home, else on a seat
  bool turn_comes_ = false;                   ///< whoever passes the lock on has seen the name before it was taken back
  std::uint64_t serving_ = 0;                 ///< at the latest look
  std::uint64_t latest_ = 0;                  ///< the latest ticket that is known to be drawn
  std::int64_t asked_ps_ = 0;
  std::int64_t rest_ps_ = 0;
  std::int64_t rests_from_ps_ = 0;
  patience patience_;
  Step step_ = Step::held;
  mem_ref answers_;
  ack_key key_;
};

}  // namespace loco
