// A program of model `verbs` on simulated hardware: its queue pairs, completion queues and shared receive queues, and
// which of its words lie side by side (docs/verbs-model.md; docs/exploring.md, "Programs of model verbs").
//
// The NIC model has one scatter/gather element a work request. So the words of a message of several words must lie side
// by side at both ends, in the same order; where two messages ask for different orders, or for memory of two kinds at
// once, the program is not run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/litmus/program.hpp"
#include "nic_model/system.hpp"

namespace loco::explore {

/// Runs of words, by location; every location is in one of them.
struct SideBySide {
  std::vector<std::vector<int>> runs;
  std::string refused;  ///< why there is no such layout; empty: there is one
};
[[nodiscard]] SideBySide side_by_side(const model::litmus::Program& program);
/// The word of a run that says which kind of region it is: one that the program names, if there is one.
[[nodiscard]] int kind_of(const model::litmus::Program& program, const std::vector<int>& run);
/// Why hardware does not run the program as the model has it; empty: it does. Beside the layout: what a datagram brings
/// lies behind the 40 bytes of its header, so a queue of receives is for datagrams only, or for none.
[[nodiscard]] std::string refusal(const model::litmus::Program& program);

/// Is it where a datagram may come?
[[nodiscard]] bool takes_datagrams(const model::litmus::Program& program, int location);

/// Is it a remote atomic, of any model?
[[nodiscard]] bool is_atomic(const model::litmus::Program& program, const model::litmus::Instruction& i);
/// Does the work request, or `rfence`, wait for what is under way on its queue pair?
[[nodiscard]] bool fences(const model::litmus::Program& program, const model::litmus::Instruction& i);

class Queues {
 public:
  /// The thread numbers of the System are those of the program; `position`: of a node.
  void create(const model::litmus::Program& program, const std::function<nic::NodeId(int)>& position,
              nic::System& system);
  [[nodiscard]] nic::QpId queue_pair(int q) const { return model::litmus::at(queue_pairs_, q); }
  [[nodiscard]] nic::CqId completion_queue(int c) const { return model::litmus::at(completion_queues_, c); }
  /// The machine's number of the receive queue, and what comes in front of a message there.
  [[nodiscard]] std::uint32_t receive_queue(int queue) const {
    return model::litmus::at(receive_queues_, queue).number;
  }
  [[nodiscard]] std::uint32_t header_bytes(int queue) const { return model::litmus::at(receive_queues_, queue).header; }
  /// Posts a receive to the queue of this index.
  nic::PostResult post_receive(nic::Cpu& cpu, int queue, const nic::RecvWqe& wqe) const;
  /// Does only one thread's text poll it?
  [[nodiscard]] bool one_poller(int c) const { return model::litmus::at(pollers_, c) < 2; }

 private:
  struct ReceiveQueue {
    bool shared = false;
    std::uint32_t number = 0;
    std::uint32_t header = 0;
    nic::QpId queue_pair = 0;  ///< whose own it is
  };
  std::vector<nic::QpId> queue_pairs_;
  std::vector<nic::CqId> completion_queues_;
  std::vector<ReceiveQueue> receive_queues_;
  std::vector<int> pollers_;  // by completion queue: threads
};

}  // namespace loco::explore
