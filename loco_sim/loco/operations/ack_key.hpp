// Follows operations in flight: the `d` of the memory model (LOCO paper, App. C.1).
//
// A lock-free bitset with one bit an operation: posting sets a bit, the polling thread clears it, so that "all
// complete" is "all words are zero". A key belongs to the thread that posts with it and may be used again and again.
// A put is complete when its source has been read; that does not say that the remote write has been done: see
// global_fence(). Failed operations surface here: status() names the first failure, wait() and poll() throw it.
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
  /// Operations may still be in flight; nobody will learn of their failure.
  ~ack_key();

  /// Until all operations posted with this key are complete. Throws operation_error if one has failed; std::logic_error
  /// if the latest one is to be posted with the next one (Posting::more), which has another key or is still missing.
  void wait();
  /// wait() as the library rdmawait has it: the innermost call, for libraries built on top.
  void wait_innermost();
  /// Are all operations complete? Throws as wait() does.
  bool poll();
  /// Takes no notice of what it followed until now, failures included: it may be used for other operations.
  void forget();
  /// Status of the first failed operation, success if none has failed so far.
  [[nodiscard]] Status status() const;
  [[nodiscard]] std::uint64_t work_id() const { return work_id_; }
  /// The key follows operations of mixed-size variables: its waits are theirs in the trace.
  void note_mixed_size() { library_ = "msw"; }

 private:
  friend class networked_node;

  /// Where an operation in flight reads from, or writes to.
  struct Use {
    Address local = 0;
    NodeId node = 0;
    std::uint64_t token = 0;
  };
  /// Of the latest operation.
  void note_use(Address local, NodeId node, std::uint64_t token) { uses_.push_back({local, node, token}); }
  [[nodiscard]] static bool is_listed(const Use& use);
  [[nodiscard]] bool in_flight(const Use& use) const;
  [[nodiscard]] bool in_flight(const Region& block) const override;
  /// Marks one more operation as in flight; the tag to post it with.
  OperationTag begin_operation();
  OperationTag begun(std::uint64_t token);
  /// The tag of an operation that the next one's completion stands for (Tell::with_next).
  OperationTag begin_listed();
  [[nodiscard]] std::uint64_t free_bits(Flag word) const;
  [[nodiscard]] bool complete() const;
  void require_posted() const;
  void note_complete();

  Transport& transport_;
  std::shared_ptr<completions> completions_;  // shared with the manager, which may be gone when a run is broken off
  std::uint64_t work_id_;
  std::string_view library_ = "sv";  ///< whose wait this is
  std::vector<Flag> words_;
  std::shared_ptr<block_pool> blocks_;  ///< of its thread
  std::vector<Use> uses_;               ///< since all that it followed was complete
  unsigned fresh_ = 0;                  ///< of the last word: the first bit that no operation had
  bool listed_ = false;                 ///< the next operation's completion stands for the latest one's
};

}  // namespace loco
