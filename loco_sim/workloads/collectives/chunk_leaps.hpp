// Leaves out the middle of a collective's long chunks (flows/leaps.hpp) while every thread has one under way. A thread
// that has none may be about to do something at a time of its own.
//
// A chunk is followed by the word that announces it. From the chunk's last byte to that word's, whatever happens is
// simulated.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "loco_sim/transport/message_follower.hpp"
#include "loco_sim/workloads/flows/leaps.hpp"
#include "loco_sim/workloads/workload.hpp"

namespace loco::workloads::collectives {

class ChunkLeaps final : public MessageFollower {
 public:
  /// `threads`: of all ranks. `possible`: each chunk has one word of data, its first. Follows the messages of `setup`'s
  /// hosts, so it must outlive the run.
  ChunkLeaps(const Setup& setup, std::uint32_t threads, bool possible);
  ChunkLeaps(const ChunkLeaps&) = delete;
  ChunkLeaps& operator=(const ChunkLeaps&) = delete;

  [[nodiscard]] bool on() const { return leaps_.on(); }
  /// To be added to the machine's time.
  [[nodiscard]] std::int64_t left_out_ps() const { return leaps_.left_out_ps(); }
  /// A thread adds, which takes a time of its own, and has done so. For on() only.
  void hold() { leaps_.hold(); }
  void let_go() { leaps_.let_go(); }
  /// A thread posts a chunk of so many bytes now. Returns the work id of its put; the next number is that of its
  /// word's. For on() only.
  [[nodiscard]] std::uint64_t post(NodeId node, std::uint32_t channel, std::uint64_t bytes, const Region& to);
  /// Adds what has been left out. For after the run.
  void tell(Results& results) const;

  void on_placed(std::uint64_t work_id, std::uint32_t bytes, sim::SimTime at) override;
  void on_request_packet(std::uint64_t work_id, nic::PacketStep step, const fabric::Packet& packet) override;

 private:
  static constexpr std::uint64_t kMessages = 2;  // of a chunk, with ids one after the other

  flows::Leaps leaps_;
  std::unordered_map<std::uint32_t, std::uint64_t> left_;  // by chunk: bytes that are not in memory; never iterated
  std::uint32_t next_ = 0;
};

}  // namespace loco::workloads::collectives
