// Follows operations in flight: the `d` of the memory model (LOCO paper, App. C.1).
//
// A lock-free bitset with one bit per operation: posting sets a bit, the polling thread clears it, so that "all
// complete" is "all words are zero". A key belongs to the thread that posts with it and can be reused. A put is
// complete when its source has been read; the remote write may still be in flight, and global_fence() waits for that.
// Failures surface here: status() names the first one, wait() and poll() throw it.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "loco_sim/loco/memory/block_pool.hpp"
#include "loco_sim/loco/transport.hpp"

namespace loco {

class completions;
class local_node;

class ack_key final : private in_flight_record {
 public:
  explicit ack_key(local_node& node);
  ack_key(const ack_key&) = delete;
  ack_key& operator=(const ack_key&) = delete;
  /// Operations may still be in flight. Their failures are then not reported.
  ~ack_key();

  /// Waits until all operations posted with this key are complete. Throws operation_error if one has failed, and
  /// std::logic_error if the latest one was posted with Posting::more and no operation with this key followed it.
  void wait();
  /// wait() without the bracket of the shared variable library, for libraries that bracket their own calls.
  void wait_innermost();
  /// True if all operations are complete. Throws as wait() does.
  bool poll();
  /// Stops following all operations so far and drops their failures, so that the key can follow others.
  void forget();
  /// Status of the first failed operation, success if none has failed so far.
  [[nodiscard]] Status status() const;
  [[nodiscard]] std::uint64_t work_id() const { return work_id_; }
  /// The key follows operations of mixed-size variables, so the trace shows its waits as calls of that library.
  void note_mixed_size() { library_ = "msw"; }

 private:
  friend class networked_node;

  /// Local memory that an operation in flight reads or writes.
  struct Use {
    Address local = 0;
    NodeId node = 0;
    std::uint64_t token = 0;
  };
  /// Notes the local memory of the operation posted last.
  void note_use(Address local, NodeId node, std::uint64_t token) { uses_.push_back({local, node, token}); }
  [[nodiscard]] static bool is_listed(const Use& use);
  [[nodiscard]] bool in_flight(const Use& use) const;
  [[nodiscard]] bool in_flight(const Region& block) const override;
  /// Marks one more operation as in flight and returns the tag to post it with.
  OperationTag begin_operation();
  OperationTag begun(std::uint64_t token);
  /// Returns the tag of an operation that is reported together with the next one (Tell::with_next).
  OperationTag begin_listed();
  [[nodiscard]] std::uint64_t free_bits(Flag word) const;
  [[nodiscard]] bool complete() const;
  void require_posted() const;
  void note_complete();

  Transport& transport_;
  std::shared_ptr<completions> completions_;  // shared, because a run that is broken off may destroy the manager first
  std::uint64_t work_id_;
  std::string_view library_ = "sv";  ///< the library whose call a wait is in the trace
  std::vector<Flag> words_;
  std::shared_ptr<block_pool> blocks_;  ///< the pool of the key's thread
  std::vector<Use> uses_;               ///< by operation, since all were last complete
  unsigned fresh_ = 0;                  ///< of the last word: the first bit never used
  bool listed_ = false;                 ///< the latest operation is reported together with the next
};

}  // namespace loco
