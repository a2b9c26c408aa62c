// A distributed key-value store: lookups take no lock, changes take one of an array of locks (LOCO paper, Section 6.2,
// Fig. 15, App. I).
//
// Values are in slots, on the node that inserted them; every node has an index of all keys. A slot is a word with its
// valid bit and its counter, which every insert into it raises, the value, and a checksum over value and counter: it
// tells a torn read also when the slot has been given to another key meanwhile. App. I, in short:
//   lookup  index, then one read of the slot: torn, again; another counter or not valid, there is no such key
//   update  lock; put value and checksum, fence; unlock
//   insert  lock; fill a free slot of this node, not valid; tell all indices, wait for them; valid; unlock
//   erase   lock; not valid, fence; tell all indices, wait for them; unlock
// An insert or update takes effect when the slot is written, an erase when it is invalid: linearisable. Slots of the
// own node are accessed by the CPU, others through the NIC. Where the paper leaves it open: the tracker thread of a
// node (kv_tracker) sends the announcements for all its threads, because a ring buffer has one writer.
//
// A thread may have many operations under way: the paper's window. Each kv_operation is one at a time, and poll() never
// waits for the network; lookup(), insert(), update(), erase() wait for theirs. Keys are any 64-bit numbers, hashed by
// CityHash64 to their lock, as in the paper; values are 64-bit numbers but 0, which stands for "none".
// Where nodes may stop or be cut off (kv_tracker says how the others go on without them), a node's index may be old,
// and what an insert or erase that failed has left may be in it. So what an index has is believed under the lock once
// the slot has been looked at, and that a key is absent once a majority of the nodes has been asked: a round trip more.
//
// Ends: all nodes must have finished with the store before the first one destroys it (a barrier).
// Errors: std::invalid_argument for the value 0; size_error when a node has no free slot; operation_error when the node
// that has the slot or the lock does not answer: the operation lets go of its lock and is finished, and nobody knows
// whether it was done. Nodes that do not answer need not acknowledge what is announced: a majority goes on, with all
// that is not in slots or under locks of these. Who has been left out, or has no majority to turn to, is out of the
// store for good: it still finds the keys that are there, and gets operation_error from all other calls, with whatever
// lock it had in the middle of an announcement.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "loco_sim/loco/locks/acquisition.hpp"
#include "loco_sim/loco/locks/handover.hpp"
#include "loco_sim/loco/locks/mutex.hpp"
#include "loco_sim/loco/membership/channel.hpp"
#include "loco_sim/loco/operations/ack_key.hpp"
#include "loco_sim/loco/operations/mem_ref.hpp"
#include "loco_sim/loco/store/kv_index.hpp"
#include "loco_sim/loco/store/kv_tracker.hpp"

namespace loco {

struct kv_options {
  std::uint64_t slots_per_node = 1024;
  std::uint64_t locks = 256;          ///< striped over the nodes
  std::uint64_t ring_bytes = 4096;    ///< of each node's tracker; an announcement takes 48
  std::uint32_t hand_overs_max = 16;  ///< see mutex_options
  bool device_locks = false;          ///< see mutex_options::device_memory
  /// False: an update does not wait until its write is in memory. For experiments: the bug that Section 6.2 tells of.
  bool fence = true;
};

class kv_operation;

class kvstore : public channel {
 public:
  using Entry = std::pair<std::uint64_t, std::uint64_t>;  ///< key, value

  kvstore(networked_node& mgr, std::string_view name, kv_options options = {});
  kvstore(channel& parent, std::string_view name, kv_options options = {});
  ~kvstore() override;

  [[nodiscard]] std::optional<std::uint64_t> lookup(std::uint64_t key);
  /// False when the key is there already.
  bool insert(std::uint64_t key, std::uint64_t value);
  /// False when there is no such key.
  bool update(std::uint64_t key, std::uint64_t value);
  bool erase(std::uint64_t key);

  /// Fills an empty store: all nodes call it with the same entries, once, before anything else, and wait for each other
  /// behind it (a barrier). Entry i goes to node i modulo nodes.
  void load(std::uint64_t count, const std::function<Entry(std::uint64_t)>& entry);

  /// Reads of this node that found a torn value and were made again.
  [[nodiscard]] std::uint64_t torn_reads() const { return torn_reads_; }

 private:
  friend class kv_operation;
  friend class kv_window;

  /// Within a manager or a channel.
  struct Within {};
  template <typename Parent>
  kvstore(Within, Parent& parent, std::string_view name, kv_options options);
  /// The word of an own slot.
  [[nodiscard]] local_words::reference own_slot(std::uint64_t slot, std::uint64_t word) const {
    return own_slots_[slot * kSlotBytes / kWord + word];
  }
  [[nodiscard]] static std::uint64_t slot_offset(std::uint64_t slot) { return slot * kSlotBytes; }
  std::uint64_t take_slot();
  /// Writes an own slot, in the order in which it may be seen.
  void fill_slot(const kv_location& where, std::uint64_t value, bool valid);
  void note(const kv_change& change);
  kv_operation& mine();
  /// A lock that this node had when it was left out: nobody gets it again.
  void keep(std::uint64_t lock);
  [[nodiscard]] bool keeps(std::uint64_t lock);

  static constexpr std::uint64_t kSlotBytes = 32;  ///< three words; a slot never straddles a cache line

  kv_options options_;
  RegionIndex slots_ = 0;
  local_words own_slots_;
  kv_index index_;
  mutex_array locks_;
  std::mutex mutex_;
  std::vector<std::uint64_t> counters_;                             ///< by own slot: of its latest entry
  std::vector<std::uint64_t> free_;                                 ///< own slots
  std::map<std::uint32_t, std::unique_ptr<kv_operation>> waiting_;  ///< by thread: of the calls that wait
  std::atomic<std::uint64_t> torn_reads_ = 0;
  std::set<std::uint64_t> kept_;
  std::atomic<bool> keeps_any_ = false;
  kv_tracker tracker_;  // last: its thread uses the others
};

/// One operation at a time, of the thread that made it. A thread with several gives each a lane of its own, not 0.
class kv_operation {
 public:
  enum class Kind : std::uint8_t { lookup, insert, update, erase };

  /// What the trace says of an operation, of any store: `lane` and `object` as in CallInfo.
  [[nodiscard]] static CallInfo call_of(Kind kind, std::string_view object, std::uint64_t key, std::uint64_t value,
                                        std::uint32_t lane = 0);

  explicit kv_operation(kvstore& store, std::uint32_t lane = 0);
  kv_operation(const kv_operation&) = delete;
  kv_operation& operator=(const kv_operation&) = delete;
  ~kv_operation();

  /// Begins an operation. Precondition: the last one is finished.
  void start(Kind kind, std::uint64_t key, std::uint64_t value = 0);
  /// Goes on as far as it can. Is it finished? It is, too, when this throws operation_error.
  bool poll();
  [[nodiscard]] bool finished() const { return step_ == Step::idle; }

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] std::uint64_t key() const { return for_key_; }
  /// Of the finished operation: a lookup's value, 0 for none; else whether it was done, 1 or 0.
  [[nodiscard]] std::uint64_t result() const { return result_; }

 private:
  enum class Step : std::uint8_t { idle, search, read, lock, inspect, ask, place, announce, unlock };

  [[nodiscard]] bool is_mine() const { return where_.node == store_.my_node(); }
  void advance();
  void fail();
  void search();
  void look_at(std::uint64_t state, std::uint64_t value, std::uint64_t sum);
  void change();
  /// Under the lock: what the slot says of a key that the index has.
  void inspect();
  void inspected(std::uint64_t state);
  void present();
  /// The index, or the slot, says that there is no such key; once that is certain, absent_indeed() goes on.
  void absent();
  void ask();
  void asked();
  void absent_indeed();
  void begin_insert();
  void begin_update();
  void begin_erase();
  void put_and_fence(std::uint64_t first, std::uint64_t words, bool fence);
  void placed();
  void announced();
  [[nodiscard]] std::uint64_t lock_index() const;
  void unlock();
  void unlock_and_finish(std::uint64_t result);
  void unlocked();
  void finish(std::uint64_t result);

  kvstore& store_;
  Transport& transport_;
  std::uint32_t lane_;
  acquisition acquisition_;
  handover handover_;
  ack_key ack_;
  mem_ref block_;                   ///< a slot's words, then where the fence's read lands
  std::optional<mem_ref> answers_;  ///< of the nodes that are asked
  std::vector<Region> asked_;       ///< their words
  Flag announced_;
  bool locked_ = false;
  std::exception_ptr failure_;  ///< once the lock has been let go of
  Step step_ = Step::idle;
  Kind kind_ = Kind::lookup;
  std::uint64_t for_key_ = 0;
  std::uint64_t value_ = 0;
  std::uint64_t result_ = 0;
  kv_location where_;
};

/// A thread's operations under way, at most `size` of them, in lanes 1 to size: one window at a time in a thread.
class kv_window {
 public:
  kv_window(kvstore& store, std::uint32_t size);
  kv_window(const kv_window&) = delete;
  kv_window& operator=(const kv_window&) = delete;
  /// Waits for what is under way, which may hold locks.
  ~kv_window();

  /// An operation that may be started; null when all are under way.
  [[nodiscard]] kv_operation* idle();
  /// Lets all go on, and calls finished(i, operation) for each one that ends. A thread that waits for them pauses when
  /// none has ended.
  template <typename Finished>
  void poll(Finished finished) {
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      kv_operation& operation = *operations_[i];
      if (!operation.finished() && operation.poll()) finished(i, operation);
    }
  }
  [[nodiscard]] std::size_t size() const { return operations_.size(); }
  [[nodiscard]] kv_operation& operator[](std::size_t i) { return *operations_[i]; }

 private:
  Transport& transport_;
  std::vector<std::unique_ptr<kv_operation>> operations_;
};

}  // namespace loco
