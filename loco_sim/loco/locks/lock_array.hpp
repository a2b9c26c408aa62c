// The locks of a mutex_array: their words, and what this node's threads know about them. Acquiring (acquisition.hpp)
// and releasing (handover.hpp) are built on it.
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

/// Which of the holder's writes a lock guarantees to be in memory before the next holder continues, besides mutual
/// exclusion (docs/atomics.md).
enum class lock_class : std::uint8_t {
  strong,  ///< all writes, to any node
  weak,    ///< stores of the CPUs; the holder fences its puts itself
  node,    ///< stores of the CPUs, and puts to one node
};

/// Deliberate faults, which prove that the checkers find them.
enum class lock_fault : std::uint8_t {
  none,
  release_before_data,  ///< releases first and fences afterwards
  no_home_fence,        ///< does not fence the home, as if every turn were told there
  get_and_put,          ///< draws a ticket with a get and a put instead of an atomic
  home_cas,             ///< the home's CPU draws tickets with its own compare-and-swap
};

struct mutex_options {
  std::uint32_t hand_overs_max = 16;  ///< consecutive hand-overs between threads of one node
  /// False: a release does not fence, the bug described in Section 6.2. For experiments.
  bool fence = true;
  bool device_memory = false;  ///< the home's words are in its NIC's memory
  /// False: a release with device_memory does not fence the home. That is wrong if the NIC's memory has a path of its
  /// own (nic.device_own_path), because then earlier puts to the home need not be in memory when the lock is passed on.
  /// For experiments.
  bool fence_home = true;
  lock_class kind = lock_class::strong;
  std::optional<NodeId> fenced_node = {};  ///< lock_class::node: the fenced node; empty: the home
  lock_fault fault = lock_fault::none;
  std::optional<expect_num> peers = {};  ///< other nodes that take part; empty: all, as an array needs
  /// Once some node does not answer: how long nobody may get the lock before a waiter assumes that this node had it. It
  /// is added to the time in which an operation fails (Transport::retries_ps), for which a healthy holder may be
  /// blocked.
  std::int64_t patience_ps = 1'000'000'000;
};

/// Locks 0, 1, ..., count - 1. They are striped over the nodes (lock k lives on node k % nodes), or all live on one
/// home.
class lock_array : public channel {
 public:
  [[nodiscard]] std::uint64_t size() const { return count_; }

 protected:
  lock_array(within where, std::string_view name, std::optional<NodeId> home, std::uint64_t count,
             mutex_options options);

  /// What this node's threads know about a lock. The plain members belong to the local holder.
  struct local_lock {
    explicit local_lock(Transport& transport) : next(transport), serving(transport) {}

    owned_flag next;     ///< next local ticket
    owned_flag serving;  ///< local ticket whose turn it is
    std::uint64_t turn = 0;
    std::uint64_t drawn = 0;                ///< this node's ticket, with the sum drawn with it
    bool contended = false;                 ///< others have drawn: look for names on the home, too
    std::atomic<std::uint32_t> holder = 0;  ///< thread + 1; 0: none. Any thread may compare it
    std::uint32_t hand_overs = 0;
    bool handed_over = false;  ///< this node has the lock already
  };
  struct word_at {
    Region region;
    std::uint64_t offset = 0;
  };

  [[nodiscard]] const mutex_options& options() const { return options_; }
  /// A word of lock k on its home (lock_words.hpp).
  [[nodiscard]] word_at home_word(std::uint64_t k, std::uint64_t word) const;
  [[nodiscard]] local_lock& mine(std::uint64_t k);
  /// Ends the node's turn without the lock.
  void give_up(local_lock& lock);
  [[nodiscard]] bool held(const local_lock& lock) const;
  [[nodiscard]] std::string caller() const;  ///< names the calling thread in errors
  void require_held(std::uint64_t k, const local_lock& lock) const;

 private:
  friend class acquisition;
  friend class handover;

  void create();
  [[nodiscard]] std::uint64_t home_bytes() const;  ///< bytes of a lock's words on its home
  [[nodiscard]] NodeId home(std::uint64_t k) const;
  /// The node to fence for a lock of class `node`.
  [[nodiscard]] NodeId fenced_node(std::uint64_t k) const { return options_.fenced_node.value_or(home(k)); }
  /// Words on the lock's home: the name and the sign of a ticket's owner. seat_word(): a word of a node's seat. See
  /// lock_words.hpp.
  [[nodiscard]] word_at name_word(std::uint64_t k, std::uint64_t drawn) const;
  [[nodiscard]] word_at sign_word(std::uint64_t k, std::uint64_t drawn) const;
  [[nodiscard]] word_at seat_word(NodeId node, std::uint64_t k, std::uint64_t word) const;
  [[nodiscard]] Address my_seat(std::uint64_t k, std::uint64_t word) const;
  /// A node that does not answer and may have the lock, once `state` has not changed for `times` as long as a healthy
  /// holder may need.
  [[nodiscard]] std::optional<NodeId> lost_with(std::uint64_t state, patience& waited, std::int64_t times) const;
  [[nodiscard]] std::int64_t longest_rest_ps() const;
  /// Draws a ticket, then reads the served and the next ticket in one get.
  void draw(std::uint64_t k, Address drawn, Address serving_and_next, ack_key& key);
  void draw_by_get_and_put(std::uint64_t k, Address drawn);
  void draw_by_home_cas(std::uint64_t k, Address drawn);
  /// Returns a ticket if it is the latest, so that the next draw gets it again. If later ones are drawn it stays drawn,
  /// because nobody would pass on its turn. `answer` gets the value that was found.
  void give_back(std::uint64_t k, std::uint64_t drawn, Address answer, ack_key& key);
  /// Throws operation_error if a node that does not answer may hold lock k: at once if this node's ticket has been
  /// returned, otherwise once the later tickets should have been returned.
  void require_hope(std::uint64_t k, bool given_back, std::uint64_t state, patience& waited) const;

  std::optional<NodeId> home_;  ///< the home of all locks; empty: striped
  std::uint64_t count_;
  mutex_options options_;
  RegionIndex words_ = 0;  ///< on the home nodes
  RegionIndex seats_ = 0;  ///< on every node
  std::mutex mutex_;
  std::vector<std::atomic<local_lock*>> locks_;  ///< by lock; null until it is first used
  std::deque<local_lock> made_;                  ///< a deque, because addresses must be stable
};

}  // namespace loco
