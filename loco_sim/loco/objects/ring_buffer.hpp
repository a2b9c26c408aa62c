// The ring buffer: one writer, many readers, FIFO, messages of any size (LOCO paper, Section 5, Fig. 14).
//
// Every participating node has a copy of the cells and of the head, the position to be written next. Each reading
// thread has a tail, the position it reads next, and pushes it to the writer as its acknowledgement. A message is one
// cell with its length in bytes, then its words. Positions count cells since the start and never wrap. Every reading
// thread receives every message once, in order.
//
// Section 5.2: before a send changes the head, it waits until the NIC has sent the previous head, which limits the rate
// to one message per round trip. Here several heads may take turns: message i is announced in head i modulo `heads`,
// and a send waits only for the previous use of the same head. With one head this is the paper's ring buffer.
//
// Only one thread sends. Any threads of the reading nodes may read, also on the writer's node; each has a tail of its
// own and takes a seat at its first receive.
// Errors: size_error for a message that can never fit. ownership_error for a node or thread without that right.
// operation_error for a peer that does not answer: receive() and try_receive() throw it for the writer, send() for a
// reader. A reader that is left out (leave_out_failed) learns that it is given up, or gives up the writer itself, and
// gets the same error after the last message that was sent to it. A failed send has sent nothing and used no head;
// unless failed readers are left out, every later send fails too.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "loco_sim/loco/membership/channel.hpp"
#include "loco_sim/loco/objects/ring_readers.hpp"
#include "loco_sim/loco/objects/shared_region.hpp"
#include "loco_sim/loco/objects/var.hpp"
#include "loco_sim/loco/objects/var_array.hpp"

namespace loco {

struct ring_options {
  std::uint64_t bytes = 4096;  ///< bytes of cells: a multiple of 8, at least 16
  /// Nodes that read; empty: all except the writer's.
  std::vector<NodeId> readers = {};
  std::uint32_t threads_per_node = 1;  ///< reading threads on each reading node
  std::uint32_t heads = 1;             ///< messages that may be in flight at once
  /// False: a send does not wait until the NIC has read the previous head, so that readers may see a head before its
  /// message (Section 5.2). For experiments.
  bool wait_for_previous_head = true;
  /// True: readers that do not answer are left out. False: operations that need them throw operation_error.
  bool leave_out_failed = false;
};

class ring_buffer : public channel {
 public:
  using Message = std::vector<std::byte>;
  /// Looks at a message in place, before its cells are freed and the writer learns that it was received. Must not call
  /// LOCO.
  using Apply = std::function<void(std::span<const std::byte>)>;

  ring_buffer(within where, std::string_view name, NodeId writer, ring_options options = {});

  /// Bytes of the longest possible message.
  [[nodiscard]] std::uint64_t capacity() const { return (cells_count_ - 1) * kCell; }

  // --- writer --------------------------------------------------------------------------------------------------
  /// Returns false if there is no room now. The caller may reuse `text` at once.
  bool try_send(std::span<const std::byte> text);
  /// Waits for room.
  void send(std::span<const std::byte> text);
  /// True if every reader has received everything up to `position`, by default everything sent.
  [[nodiscard]] bool received_by_all(std::uint64_t position);
  [[nodiscard]] bool received_by_all() { return received_by_all(sent_); }
  /// True if that reader has, by the tails that have arrived so far.
  [[nodiscard]] bool received_by(NodeId reader, std::uint64_t position);
  /// The position after the latest message.
  [[nodiscard]] std::uint64_t sent() const { return sent_; }

  // --- readers -------------------------------------------------------------------------------------------------
  /// The next message, or nothing if it has not arrived. Throws operation_error if it never will: the writer is given
  /// up and all its earlier messages have been received.
  [[nodiscard]] std::optional<Message> try_receive();
  /// The same without a copy. Returns false if no message has arrived.
  bool try_receive(const Apply& look);
  /// Like try_receive(look), but returns false as well if the writer is given up.
  bool receive_if_there(const Apply& look);
  /// Waits for a message.
  [[nodiscard]] Message receive();
  void receive(const Apply& look);
  /// The position after the latest message that the calling thread has received.
  [[nodiscard]] std::uint64_t received() { return my_seat().tail; }

 private:
  static constexpr std::uint64_t kCell = 8;  ///< bytes
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};

  using Positions = owned_parts<std::uint64_t>;

  struct seat {
    std::uint32_t thread = 0;
    std::size_t index = 0;    ///< of the thread's tail
    std::uint64_t tail = 0;   ///< the thread's own record of its tail
    std::uint64_t count = 0;  ///< messages received so far
    Message text = {};        ///< buffer for the message being received
  };

  [[nodiscard]] ring_options checked(ring_options options) const;
  [[nodiscard]] std::uint32_t peers() const;
  [[nodiscard]] Positions my_tails();
  void start();
  [[nodiscard]] seat& my_seat();
  void require_sender(std::uint64_t bytes);
  [[nodiscard]] bool room_for(std::uint64_t cells);
  void look_at_tails();
  /// The peers to send to: all, or those that still answer.
  [[nodiscard]] std::span<const NodeId> receivers();
  void wait_for_head(ack_key& under_way);
  void write_cells(std::uint64_t position, std::span<const std::uint64_t> words);
  void read_cells(std::uint64_t position, std::span<std::byte> out);

  NodeId writer_;
  std::atomic<std::uint32_t> sender_ = kNobody;  ///< the first thread that sent
  ring_options options_;                         ///< without the list of readers
  ring_readers readers_;                         ///< complete on the writer's node only
  std::optional<std::size_t> first_tail_;        ///< index of this node's first tail; empty: it does not read
  std::uint64_t cells_count_;                    ///< number of cells, S of the paper
  std::string cells_name_;
  shared_region cells_;
  shared_region heads_region_;
  shared_region tails_region_;
  Positions heads_;
  Positions tails_;

  std::vector<std::unique_ptr<ack_key>> under_way_;  ///< by head, the operations in flight: d of the paper
  std::uint64_t sent_ = 0;                           ///< the writer's own record of the head
  std::uint64_t messages_ = 0;                       ///< messages sent
  std::uint64_t least_tail_ = 0;                     ///< the least tail of all readers when the writer last looked
  std::vector<std::uint64_t> words_;                 ///< the message being sent
  std::vector<NodeId> answering_;                    ///< the peers that still answer, once some have failed
  std::mutex mutex_;
  std::vector<seat> seats_;  ///< seats taken; capacity for all is reserved, so none moves
};

}  // namespace loco
