// Who follows the messages of some one-sided operations: when their packets go, when their bytes are in memory. An
// operation is followed when its OperationTag has a work id, which is what it is called here.
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
  /// Memory has `bytes` more of what the operation writes: a put's at the peer, a get's on its own node.
  virtual void on_placed(std::uint64_t work_id, std::uint32_t bytes, sim::SimTime at) = 0;
  /// A packet of the operation's request leaves its NIC or has arrived; repeated ones as well.
  virtual void on_request_packet(std::uint64_t work_id, nic::PacketStep step, const fabric::Packet& packet) = 0;
};

/// Tells a follower of what the machine says of its operations. In a run that is recorded they have names there, too.
class FollowedMessages final : public nic::MessageObserver {
 public:
  void follow(MessageFollower* follower) { follower_ = follower; }
  [[nodiscard]] bool any() const { return follower_ != nullptr; }

  /// What an operation is to be called in the machine, of its name in the trace, or 0, and its work id.
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
  std::unordered_map<nic::OpId, std::uint64_t> work_ids_;  // only looked up; empty: nothing is recorded
};

}  // namespace loco
