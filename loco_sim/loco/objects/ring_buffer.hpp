// The ring buffer: one writer, many readers, first in first out, messages of any size (LOCO paper, Section 5, Fig. 14).
//
// Every participating node has a copy of the cells and of the head, the place that is written next. Each reading
// thread has a tail, the place that it reads next, which it pushes to the writer: its acknowledgement. A message is a
// cell for its length in bytes, then its words; positions count cells from the beginning of time. Every reading
// thread receives every message once, in order.
//
// Section 5.2: before a send changes the head, it waits until the NIC has sent the previous one, so one message a round
// trip. Here there may be several heads that take turns: message number i is announced in head i modulo `heads`, and a
// send waits for the message before the last one in the same head only. With one head it is the paper's ring buffer.
//
// The writer is the one thread that sends. Readers are threads of the reading nodes (the writer's may be one of
// them), each with a tail of its own; a thread takes a seat at its first receive.
// Errors: size_error for a message that can never fit; ownership_error for a node or thread that may not do that;
// operation_error for a peer that does not answer: from receive() and try_receive() when it is the writer, from send()
// when it reads. A reader that is left out (leave_out_failed) has given up the writer in its turn, or learns from it
// that it is given up itself: it gets the same error behind the last message that it was sent. A send that has failed
// has sent nothing, and takes no head's turn; where readers are not left out the next one fails as it did.
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
  std::uint64_t bytes = 4096;  ///< of cells: a multiple of 8, at least 16
  /// Nodes that read; empty means all but the writer's.
  std::vector<NodeId> readers = {};
  std::uint32_t threads_per_node = 1;  ///< reading threads on each of them
  std::uint32_t heads = 1;             ///< messages that may be on their way at once
  /// False: a send does not wait until the NIC has read the previous head (Section 5.2 says why it must). Then readers
  /// may see a head before the message. For experiments.
  bool wait_for_previous_head = true;
  /// Readers that do not answer are left out. Otherwise what needs them throws operation_error.
  bool leave_out_failed = false;
};

class ring_buffer : public channel {
 public:
  using Message = std::vector<std::byte>;
  /// Looks at a message before its cells are given back, hence before the writer learns that it was received. May not
  /// call LOCO.
  using Apply = std::function<void(std::span<const std::byte>)>;

  ring_buffer(networked_node& mgr, std::string_view name, NodeId writer, ring_options options = {});
  ring_buffer(channel& parent, std::string_view name, NodeId writer, ring_options options = {});

  /// The longest message, in bytes.
  [[nodiscard]] std::uint64_t capacity() const { return (cells_count_ - 1) * kCell; }

  // --- writer --------------------------------------------------------------------------------------------------
  /// False when there is no room now. The message may be reused at once.
  bool try_send(std::span<const std::byte> text);
  /// Until there is room.
  void send(std::span<const std::byte> text);
  /// Has every reader received all that was sent up to a position, by default all of it?
  [[nodiscard]] bool received_by_all(std::uint64_t position);
  [[nodiscard]] bool received_by_all() { return received_by_all(sent_); }
  /// Has that reader, as the writer looks at its tails now?
  [[nodiscard]] bool received_by(NodeId reader, std::uint64_t position);
  /// The position behind the latest message.
  [[nodiscard]] std::uint64_t sent() const { return sent_; }

  // --- readers -------------------------------------------------------------------------------------------------
  /// The next message; nothing when it has not come yet. Throws operation_error when it will not: the writer is given
  /// up, and what it sent before has been received.
  [[nodiscard]] std::optional<Message> try_receive();
  /// The same without a copy; false when it has not come yet.
  bool try_receive(const Apply& look);
  /// False as well when it will not come.
  bool receive_if_there(const Apply& look);
  /// Until it comes.
  [[nodiscard]] Message receive();
  void receive(const Apply& look);
  /// The position behind the latest message that the calling thread has received.
  [[nodiscard]] std::uint64_t received() { return my_seat().tail; }

 private:
  static constexpr std::uint64_t kCell = 8;  ///< bytes
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};

  using Positions = owned_parts<std::uint64_t>;

  struct seat {
    std::uint32_t thread = 0;
    std::size_t index = 0;    ///< of the thread's tail
    std::uint64_t tail = 0;   ///< the thread's own knowledge of it
    std::uint64_t count = 0;  ///< of messages received
    Message text = {};        ///< what it is receiving
  };

  /// Within a manager or a channel.
  struct Within {};
  template <typename Parent>
  ring_buffer(Within, Parent& parent, std::string_view name, NodeId writer, ring_options options);
  [[nodiscard]] ring_options checked(ring_options options) const;
  [[nodiscard]] std::uint32_t peers() const;
  [[nodiscard]] Positions my_tails();
  void start();
  [[nodiscard]] seat& my_seat();
  void require_sender(std::uint64_t bytes);
  [[nodiscard]] bool room_for(std::uint64_t cells);
  void look_at_tails();
  /// The peers that are sent to.
  [[nodiscard]] std::span<const NodeId> receivers();
  void wait_for_head(ack_key& under_way);
  void write_cells(std::uint64_t position, std::span<const std::uint64_t> words);
  void read_cells(std::uint64_t position, std::span<std::byte> out);

  NodeId writer_;
  std::atomic<std::uint32_t> sender_ = kNobody;  ///< the thread that has sent first
  ring_options options_;                         ///< without the readers
  ring_readers readers_;                         ///< where the writer is
  std::optional<std::size_t> first_tail_;        ///< of this node's threads, if it reads
  std::uint64_t cells_count_;                    ///< S of the paper
  std::string cells_name_;
  shared_region cells_;
  shared_region heads_region_;
  shared_region tails_region_;
  Positions heads_;
  Positions tails_;

  std::vector<std::unique_ptr<ack_key>> under_way_;  ///< by head: d of the paper
  std::uint64_t sent_ = 0;                           ///< the writer's own knowledge of the head
  std::uint64_t messages_ = 0;                       ///< sent
  std::uint64_t least_tail_ = 0;                     ///< of all readers, when the writer looked last
  std::vector<std::uint64_t> words_;                 ///< of the message being sent
  std::vector<NodeId> answering_;                    ///< of the peers, once some have failed
  std::mutex mutex_;
  std::vector<seat> seats_;  ///< those taken; room for all, so that none moves
};

}  // namespace loco
