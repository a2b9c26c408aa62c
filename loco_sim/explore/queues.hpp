// A program of model `verbs` on simulated hardware: its queue pairs, completion queues and shared receive queues, and
// which of its words are adjacent (docs/verbs-model.md; docs/exploring.md, "Programs of model verbs").
//
// The NIC model has one scatter/gather element per work request. So the words of a message must be adjacent at both
// ends, in the same order. If two messages need different orders, or memory of two kinds at once, the program is not
// run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/litmus/language/program.hpp"
#include "nic_model/system.hpp"

namespace loco::explore {

/// Runs of adjacent words, by location; every location is in exactly one.
struct SideBySide {
  std::vector<std::vector<int>> runs;
  std::string refused;  ///< why there is no such layout; empty: there is one
};
[[nodiscard]] SideBySide side_by_side(const model::litmus::Program& program);
/// The word of a run that determines its region's kind: one that the program names, if there is any.
[[nodiscard]] int kind_of(const model::litmus::Program& program, const std::vector<int>& run);
/// Why hardware cannot run the program as in the model; empty if it can. Besides the layout: a datagram's payload
/// follows the 40 bytes of its header, so a receive queue is for datagrams only or for none.
[[nodiscard]] std::string refusal(const model::litmus::Program& program);

/// True if a datagram may arrive at the location.
[[nodiscard]] bool takes_datagrams(const model::litmus::Program& program, int location);

/// True for a remote atomic of any model.
[[nodiscard]] bool is_atomic(const model::litmus::Program& program, const model::litmus::Instruction& i);
/// True if the work request, or `rfence`, waits for what is in flight on its queue pair.
[[nodiscard]] bool fences(const model::litmus::Program& program, const model::litmus::Instruction& i);

class Queues {
 public:
  /// The System's thread numbers must be those of the program; `position` maps nodes.
  void create(const model::litmus::Program& program, const std::function<nic::NodeId(int)>& position,
              nic::System& system);
  [[nodiscard]] nic::QpId queue_pair(int q) const { return model::litmus::at(queue_pairs_, q); }
  [[nodiscard]] nic::CqId completion_queue(int c) const { return model::litmus::at(completion_queues_, c); }
  /// The machine's number of the receive queue, and the offset of a message in its buffers.
  [[nodiscard]] std::uint32_t receive_queue(int queue) const {
    return model::litmus::at(receive_queues_, queue).number;
  }
  [[nodiscard]] std::uint32_t header_bytes(int queue) const { return model::litmus::at(receive_queues_, queue).header; }
  /// Posts a receive to the queue with this index.
  nic::PostResult post_receive(nic::Cpu& cpu, int queue, const nic::RecvWqe& wqe) const;
  /// True if only one thread's text polls it.
  [[nodiscard]] bool one_poller(int c) const { return model::litmus::at(pollers_, c) < 2; }

 private:
  struct ReceiveQueue {
    bool shared = false;
    std::uint32_t number = 0;
    std::uint32_t header = 0;
    nic::QpId queue_pair = 0;  ///< of its owner
  };
  std::vector<nic::QpId> queue_pairs_;
  std::vector<nic::CqId> completion_queues_;
  std::vector<ReceiveQueue> receive_queues_;
  std::vector<int> pollers_;  // by completion queue: threads
};

}  // namespace loco::explore
