// A distributed key-value store: lookups take no lock, changes take one lock of an array (LOCO paper, Section 6.2, Fig.
// 15, App. I).
//
// A value lies in a slot on the node that inserted it, and every node has an index of all keys. A slot holds a word
// with its valid bit and its generation, which every insert raises, the value, and a checksum over generation and
// value. The checksum detects a torn read, even if the slot has meanwhile been reused for another key. App. I, in
// short:
//   lookup  index, then one read of the slot; torn: again; another generation or not valid: no such key
//   update  lock; put value and checksum, fence; unlock
//   insert  lock; fill a free slot of this node, not valid; tell all indices, wait for them; valid; unlock
//   erase   lock; not valid, fence; tell all indices, wait for them; unlock
// An insert or update takes effect when the slot is written, an erase when it becomes invalid: linearisable. The CPU
// accesses its own node's slots, the NIC all others. One choice that the paper leaves open: a node's tracker thread
// (kv_tracker) sends the announcements of all its threads, because a ring buffer has one writer.
//
// A thread may have many operations in flight: the paper's window. A kv_operation is one of them, and its poll() never
// blocks; lookup(), insert(), update() and erase() wait. Keys are any 64-bit numbers, hashed to their lock by
// CityHash64 as in the paper; values are 64-bit numbers except 0, which stands for "none".
// If nodes may stop or be cut off (kv_tracker explains how the others go on), an index may be stale or hold leftovers
// of a failed insert or erase. A key that the index has is then trusted only after a look at its slot under the lock,
// and its absence only after a majority of the nodes has been asked, for one more round trip.
//
// End: all nodes must be done with the store before the first one destroys it (a barrier).
// Errors: std::invalid_argument for the value 0; size_error if a node has no free slot; operation_error if the node
// that has the slot or the lock does not answer. The operation then releases its lock and is finished, and it is
// unknown whether it took effect. Nodes that do not answer need not acknowledge announcements: a majority continues
// with everything that is not in their slots or under their locks. A node that was left out, or that reaches no
// majority, is out of the store for good: it can still look up present keys, every other call throws operation_error,
// and a lock that it held during an announcement is never released.
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
  /// False: an update does not wait until its write is in memory, the bug described in Section 6.2. For experiments.
  bool fence = true;
};

class kv_operation;

class kvstore : public channel {
 public:
  using Entry = std::pair<std::uint64_t, std::uint64_t>;  ///< key, value

  kvstore(within where, std::string_view name, kv_options options = {});
  ~kvstore() override;

  [[nodiscard]] std::optional<std::uint64_t> lookup(std::uint64_t key);
  /// Returns false if the key is there already.
  bool insert(std::uint64_t key, std::uint64_t value);
  /// Return false if there is no such key.
  bool update(std::uint64_t key, std::uint64_t value);
  bool erase(std::uint64_t key);

  /// Fills an empty store. All nodes call it once, with the same entries, before anything else, and then wait for each
  /// other (a barrier). Entry i goes to node i modulo nodes.
  void load(std::uint64_t count, const std::function<Entry(std::uint64_t)>& entry);

  /// Number of this node's reads that found a torn value and were repeated.
  [[nodiscard]] std::uint64_t torn_reads() const { return torn_reads_; }

 private:
  friend class kv_operation;
  friend class kv_window;

  /// A word of one of this node's slots.
  [[nodiscard]] local_words::reference own_slot(std::uint64_t slot, std::uint64_t word) const {
    return own_slots_[slot * kSlotBytes / kWord + word];
  }
  [[nodiscard]] static std::uint64_t slot_offset(std::uint64_t slot) { return slot * kSlotBytes; }
  std::uint64_t take_slot();
  /// Fills one of this node's slots, in the order in which others may see it.
  void fill_slot(const kv_location& where, std::uint64_t value, bool valid);
  void note(const kv_change& change);
  kv_operation& mine();
  /// Keeps a lock for good that this node held when it was left out.
  void keep(std::uint64_t lock);
  [[nodiscard]] bool keeps(std::uint64_t lock);

  static constexpr std::uint64_t kSlotBytes = 32;  ///< three words; a slot never straddles a cache line

  kv_options options_;
  RegionIndex slots_ = 0;
  local_words own_slots_;
  kv_index index_;
  mutex_array locks_;
  std::mutex mutex_;
  std::vector<std::uint64_t> counters_;                             ///< generation, by slot of this node
  std::vector<std::uint64_t> free_;                                 ///< free slots of this node
  std::map<std::uint32_t, std::unique_ptr<kv_operation>> waiting_;  ///< by thread: the operations of the blocking calls
  std::atomic<std::uint64_t> torn_reads_ = 0;
  std::set<std::uint64_t> kept_;
  std::atomic<bool> keeps_any_ = false;
  kv_tracker tracker_;  // last, because its thread uses the other members
};

/// One operation at a time, used by the thread that made it. A thread with several gives each a lane of its own, not 0.
class kv_operation {
 public:
  enum class Kind : std::uint8_t { lookup, insert, update, erase };

  /// How the trace shows an operation of any store; `lane` and `object` as in CallInfo.
  [[nodiscard]] static CallInfo call_of(Kind kind, std::string_view object, std::uint64_t key, std::uint64_t value,
                                        std::uint32_t lane = 0);

  explicit kv_operation(kvstore& store, std::uint32_t lane = 0);
  kv_operation(const kv_operation&) = delete;
  kv_operation& operator=(const kv_operation&) = delete;
  ~kv_operation();

  /// Begins an operation. Precondition: the last one is finished.
  void start(Kind kind, std::uint64_t key, std::uint64_t value = 0);
  /// Advances as far as possible. Returns true once the operation is finished; it is finished as well if this throws
  /// operation_error.
  bool poll();
  [[nodiscard]] bool finished() const { return step_ == Step::idle; }

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] std::uint64_t key() const { return for_key_; }
  /// Result of the finished operation: a lookup's value, or 0 for none; otherwise 1 if it was done and 0 if not.
  [[nodiscard]] std::uint64_t result() const { return result_; }

 private:
  enum class Step : std::uint8_t { idle, search, read, lock, inspect, ask, place, announce, unlock };

  [[nodiscard]] bool is_mine() const { return where_.node == store_.my_node(); }
  void advance();
  void fail();
  void search();
  void look_at(std::uint64_t state, std::uint64_t value, std::uint64_t sum);
  void change();
  /// Under the lock, checks the slot of a key that the index has.
  void inspect();
  void inspected(std::uint64_t state);
  void present();
  /// Continues after the index or the slot has shown no such key. absent_indeed() follows once that is certain.
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
  mem_ref block_;                   ///< a slot's words, then the landing place of the fence's read
  std::optional<mem_ref> answers_;  ///< answers of the nodes that are asked
  std::vector<Region> asked_;       ///< the words that are asked for
  Flag announced_;
  bool locked_ = false;
  std::exception_ptr failure_;  ///< thrown once the lock has been released
  Step step_ = Step::idle;
  Kind kind_ = Kind::lookup;
  std::uint64_t for_key_ = 0;
  std::uint64_t value_ = 0;
  std::uint64_t result_ = 0;
  kv_location where_;
};

/// A thread's operations in flight, at most `size` of them, in lanes 1 to size. One window at a time per thread.
class kv_window {
 public:
  kv_window(kvstore& store, std::uint32_t size);
  kv_window(const kv_window&) = delete;
  kv_window& operator=(const kv_window&) = delete;
  /// Waits for the operations in flight, which may hold locks.
  ~kv_window();

  /// An operation that can be started; null if all are in flight.
  [[nodiscard]] kv_operation* idle();
  /// Advances all operations and calls finished(i, operation) for each one that ends. A thread that waits pauses if
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
