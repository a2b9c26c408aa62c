// What one node's channels share: connections to the peers, one completion queue with its polling thread, network
// memory, set-up (LOCO paper, App. A.2, C).
//
// A program constructs one manager a node, then its channels, then calls wait_for_ready(). The polling thread is a
// service thread: it clears the bits of ack keys as operations complete and answers set-up messages; it ends with the
// manager. A node may have one manager after the other, each with the channels that are made in it. One-sided
// operations go out on the calling thread's own queue pair for the peer.
//
// A peer that stops, or is cut off, is noticed by an operation towards it that its queue pair has repeated in vain;
// from then on it is given up: known as failed, also if it answers again, until both take each other back (reconnect).
// Where the transport asks for it, a keep-alive thread sees to it that there is such an operation. It reads where the
// peer notes whom it has given up: who is given up gives up in its turn, and who is in doubt about a third node hears
// of that.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "loco_sim/loco/operations/networked_node.hpp"
#include "loco_sim/loco/transport.hpp"

namespace loco {

class fence_channel;
struct node_services;

class manager final : public networked_node {
 public:
  explicit manager(Transport& transport, std::uint64_t memory_chunk_bytes = network_memory::kDefaultChunk);
  manager(const manager&) = delete;
  manager& operator=(const manager&) = delete;
  ~manager();

  /// Until every channel of this node is connected. Throws setup_error when endpoints do not fit together,
  /// operation_error when a node has ended that would have to join (Liveness::has_ended).
  void wait_for_ready();

  /// Takes a node back, over new queue pairs, once that node calls this for this one; it is given up first, if it has
  /// not been. When both have returned, operations reach it again, channels that are made from then on have it among
  /// their peers, and failed() says no. What was made before it was given up does not reach it any more, nothing of
  /// what was posted before is done there any more, and check() does not tell of it. Throws operation_error when it
  /// does not answer, or has not called this within `limit_ps` of the clock (by itself: however long it takes); it is
  /// given up then.
  void reconnect(NodeId node, std::optional<std::int64_t> limit_ps = {});
  /// Has that node called reconnect() for this one, and waits?
  [[nodiscard]] bool asked_back(NodeId node) const;

  // For channels and fences.
  [[nodiscard]] Region fence_location(NodeId node) const override;
  [[nodiscard]] manager& as_manager() override { return *this; }
  [[nodiscard]] setup& setup_service() override;

 private:
  /// Those of a transport's node.
  static std::shared_ptr<node_services> services_of(Transport& transport);

  /// Two managers of a node would take each other's set-up messages and completions.
  struct OnlyOne {
    explicit OnlyOne(Transport& t);
    OnlyOne(const OnlyOne&) = delete;
    OnlyOne& operator=(const OnlyOne&) = delete;
    ~OnlyOne();
    Transport& transport;
  };

  [[nodiscard]] std::vector<std::uint32_t> settled_by_fence(std::span<const NodeId> nodes) override;

  OnlyOne only_one_;
  std::shared_ptr<node_services> services_;  // they and their threads may outlive the manager
  std::unique_ptr<fence_channel> fence_;
};

}  // namespace loco
