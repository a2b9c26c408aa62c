// Follows the messages of selected one-sided operations: when their packets leave and when their bytes are in memory.
// An operation is followed if its OperationTag has a work id, which identifies it here.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "fabric/packet.hpp"
#include "nic_model/observer.hpp"
#include "sim/time.hpp"

namespace loco {

class MessageFollower {
 public:
  virtual ~MessageFollower() = default;
  /// `bytes` more of the operation's data are in memory: at the peer for a put, on its own node for a get.
  virtual void on_placed(std::uint64_t work_id, std::uint32_t bytes, sim::SimTime at) = 0;
  /// A packet of the operation's request leaves its NIC or has arrived; retransmissions are included.
  virtual void on_request_packet(std::uint64_t work_id, nic::PacketStep step, const fabric::Packet& packet) = 0;
};

/// Forwards the machine's messages about operations to a follower. In a recorded run the operations have trace names,
/// too.
class FollowedMessages final : public nic::MessageObserver {
 public:
  void follow(MessageFollower* follower) { follower_ = follower; }
  [[nodiscard]] bool any() const { return follower_ != nullptr; }

  /// The operation's name for the machine: `recorded`, its name in the trace, or, if that is 0, its work id.
  [[nodiscard]] nic::OpId name(nic::OpId recorded, std::uint64_t work_id) {
    if (follower_ == nullptr || work_id == 0) return recorded;
    if (recorded == 0) return static_cast<nic::OpId>(work_id);
    work_ids_[recorded] = work_id;
    return recorded;
  }

  void on_placed(nic::OpId op, std::uint32_t bytes, sim::SimTime at) override {
    if (const std::uint64_t id = work_id(op); id != 0) follower_->on_placed(id, bytes, at);
  }
  void on_request_packet(nic::PacketStep step, const fabric::Packet& packet) override {
    if (const std::uint64_t id = work_id(packet.call); id != 0) follower_->on_request_packet(id, step, packet);
  }

 private:
  [[nodiscard]] std::uint64_t work_id(nic::OpId op) const {
    if (work_ids_.empty()) return op;
    const auto known = work_ids_.find(op);
    return known == work_ids_.end() ? 0 : known->second;
  }

  MessageFollower* follower_ = nullptr;
  std::unordered_map<nic::OpId, std::uint64_t> work_ids_;  // never iterated; empty: not recording
};

}  // namespace loco
