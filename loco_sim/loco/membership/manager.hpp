// What the channels of one node share: connections to the peers, one completion queue with its polling thread, network
// memory, set-up (LOCO paper, App. A.2, C).
//
// A program constructs one manager per node, then its channels, then calls wait_for_ready(). The polling thread is a
// service thread: it clears the bits of ack keys as operations complete, answers set-up messages, and ends with the
// manager. A node may have several managers one after the other, each with its own channels. One-sided operations use
// the calling thread's own queue pair for the peer.
//
// A peer that stops or is cut off is detected when a queue pair exhausts its retransmissions towards it. It is then
// given up: it counts as failed, even if it answers again, until both nodes rejoin (reconnect). If the transport asks
// for it, a keep-alive thread ensures that there is always an operation to fail. That thread reads the peer's notes,
// which say whom the peer has given up. So a node that a peer has given up gives up the peer in turn, and suspicions
// about third nodes spread.
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

  /// Waits until every channel of this node is connected. Throws setup_error if endpoints do not match, and
  /// operation_error if a node that had to join has ended (Liveness::has_ended).
  void wait_for_ready();

  /// Rejoins with a node over new queue pairs; the node must call this for this node as well. First gives it up, if
  /// that has not happened yet. When both calls have returned, operations reach the node again, channels made from then
  /// on have it as a peer, and failed() is false for it. Channels made before no longer reach it: their operations in
  /// flight are discarded and check() does not report them. Throws operation_error, and gives the node up, if it does
  /// not answer or does not call reconnect() within `limit_ps` (by default there is no limit).
  void reconnect(NodeId node, std::optional<std::int64_t> limit_ps = {});
  /// True if that node has called reconnect() for this one and is waiting.
  [[nodiscard]] bool asked_back(NodeId node) const;

  // For channels and fences.
  [[nodiscard]] Region fence_location(NodeId node) const override;
  [[nodiscard]] manager& as_manager() override { return *this; }
  [[nodiscard]] setup& setup_service() override;

 private:
  /// The services of the transport's node, made on first use.
  static std::shared_ptr<node_services> services_of(Transport& transport);

  /// Refuses a second manager of a node, which would take the first one's set-up messages and completions.
  struct OnlyOne {
    explicit OnlyOne(Transport& t);
    OnlyOne(const OnlyOne&) = delete;
    OnlyOne& operator=(const OnlyOne&) = delete;
    ~OnlyOne();
    Transport& transport;
  };

  [[nodiscard]] std::vector<std::uint32_t> settled_by_fence(std::span<const NodeId> nodes) override;

  OnlyOne only_one_;
  std::shared_ptr<node_services> services_;  // shared, because service threads may outlive the manager
  std::unique_ptr<fence_channel> fence_;
};

}  // namespace loco
