// The locks of a mutex_array as their words and what this node's threads know of them: what taking a lock
// (acquisition.hpp) and letting go of one (handover.hpp) are made of.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loco_sim/loco/membership/channel.hpp"

namespace loco {

class ack_key;
class acquisition;
class handover;
class patience;

/// What a lock promises of what its holder wrote, on top of mutual exclusion (docs/atomics.md): that it is in memory
/// before the next holder goes on.
enum class lock_class : std::uint8_t {
  strong,  ///< everything, wherever it was written
  weak,    ///< what CPUs stored: the rest is for the holder to fence
  node,    ///< what CPUs stored, and what was put to one node
};

/// Known mistakes in locks. For experiments: to prove that checkers find them.
enum class lock_fault : std::uint8_t {
  none,
  release_before_data,  ///< the lock is let go first, what was written under it is fenced then
  no_home_fence,        ///< what was written to the home is not fenced, as if all turns were told there
  get_and_put,          ///< a ticket is drawn by a get and a put in place of an atomic
  home_cas,             ///< the home's CPU draws its tickets by its own compare-and-swap
};

struct mutex_options {
  std::uint32_t hand_overs_max = 16;  ///< in a row, between threads of one node
  /// False: letting go does not fence. For experiments: the bug that Section 6.2 tells of.
  bool fence = true;
  bool device_memory = false;  ///< the home's words are on its NIC, not in its host's memory
  /// False: with device_memory letting go does not fence the home, as if what is written there came in order with the
  /// lock. For experiments: wrong where the NIC's memory has a path of its own (nic.device_own_path).
  bool fence_home = true;
  lock_class kind = lock_class::strong;
  std::optional<NodeId> fenced_node = {};  ///< of a lock to a node; empty: its home
  lock_fault fault = lock_fault::none;
  std::optional<expect_num> peers = {};  ///< how many other nodes take part; empty means all, as an array needs
  /// Once a node does not answer, whoever sees nobody get the lock for so long takes it that this node had it. On top
  /// of the time in which an operation fails (Transport::retries_ps), which a holder that answers may have to wait.
  std::int64_t patience_ps = 1'000'000'000;
};

/// Locks 0, 1, ..., count - 1; striped over the nodes, lock k lives on node k % nodes, or all on one home.
class lock_array : public channel {
 public:
  [[nodiscard]] std::uint64_t size() const { return count_; }

 protected:
  lock_array(within where, std::string_view name, std::optional<NodeId> home, std::uint64_t count,
             mutex_options options);

  /// What the threads of this node know of a lock. The plain members belong to whoever holds the lock locally.
  struct local_lock {
    explicit local_lock(Transport& transport) : next(transport), serving(transport) {}

    owned_flag next;     ///< local ticket to be given out
    owned_flag serving;  ///< local ticket whose turn it is
    std::uint64_t turn = 0;
    std::uint64_t drawn = 0;                ///< this node's ticket, and what was drawn with it
    bool contended = false;                 ///< others were seen to have drawn: look for their names on the home, too
    std::atomic<std::uint32_t> holder = 0;  ///< thread + 1; 0 is none. Any thread may ask whether it is the one
    std::uint32_t hand_overs = 0;
    bool handed_over = false;  ///< the node has the lock already
  };
  struct word_at {
    Region region;
    std::uint64_t offset = 0;
  };

  [[nodiscard]] const mutex_options& options() const { return options_; }
  /// A word of a lock's home (lock_words.hpp).
  [[nodiscard]] word_at home_word(std::uint64_t k, std::uint64_t word) const;
  [[nodiscard]] local_lock& mine(std::uint64_t k);
  /// The node's turn at a lock ends without the lock.
  void give_up(local_lock& lock);
  [[nodiscard]] bool held(const local_lock& lock) const;
  [[nodiscard]] std::string caller() const;  ///< for messages
  void require_held(std::uint64_t k, const local_lock& lock) const;

 private:
  friend class acquisition;
  friend class handover;

  void create();
  [[nodiscard]] std::uint64_t home_bytes() const;  ///< of a lock
  [[nodiscard]] NodeId home(std::uint64_t k) const;
  /// Of a lock to a node.
  [[nodiscard]] NodeId fenced_node(std::uint64_t k) const { return options_.fenced_node.value_or(home(k)); }
  /// Name and sign of who drew a ticket on a lock's home, a word of a node's seat (lock_words.hpp).
  [[nodiscard]] word_at name_word(std::uint64_t k, std::uint64_t drawn) const;
  [[nodiscard]] word_at sign_word(std::uint64_t k, std::uint64_t drawn) const;
  [[nodiscard]] word_at seat_word(NodeId node, std::uint64_t k, std::uint64_t word) const;
  [[nodiscard]] Address my_seat(std::uint64_t k, std::uint64_t word) const;
  /// A node that does not answer and may have the lock, when it has been seen in the same state for so many times the
  /// time that a holder which answers may need.
  [[nodiscard]] std::optional<NodeId> lost_with(std::uint64_t state, patience& waited, std::int64_t times) const;
  [[nodiscard]] std::int64_t longest_rest_ps() const;
  /// Draws a ticket and looks which one is served and which one comes next, one right behind the other.
  void draw(std::uint64_t k, Address drawn, Address serving_and_next, ack_key& key);
  void draw_by_get_and_put(std::uint64_t k, Address drawn);
  void draw_by_home_cas(std::uint64_t k, Address drawn);
  /// Gives a ticket back if it is the latest one: whoever draws next gets it again. With later ones drawn it stays
  /// drawn, for nobody would pass on its turn. The answer says what came next.
  void give_back(std::uint64_t k, std::uint64_t drawn, Address answer, ack_key& key);
  /// Throws operation_error when a node that does not answer may hold lock k: at once if the own ticket is given back,
  /// else when no later one that stands in the way can be expected to be.
  void require_hope(std::uint64_t k, bool given_back, std::uint64_t state, patience& waited) const;

  std::optional<NodeId> home_;  ///< of all locks; else striped
  std::uint64_t count_;
  mutex_options options_;
  RegionIndex words_ = 0;  ///< on the home nodes
  RegionIndex seats_ = 0;  ///< on every node
  std::mutex mutex_;
  std::vector<std::atomic<local_lock*>> locks_;  ///< by lock; null until first used
  std::deque<local_lock> made_;                  ///< a deque never moves what it holds
};

}  // namespace loco
