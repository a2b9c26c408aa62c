// The driver for state machines: each thread is a function that is called once per step, makes accesses and says when
// it continues (nic_model/verbs/cpu.hpp). perf's tests and the tests of the NIC model are written this way;
// hosts/costs.hpp has the costs of their calls.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "nic_model/system.hpp"

namespace loco::hosts {

class Steps final : public nic::ThreadRunner {
 public:
  using Step = std::function<void(nic::Cpu&)>;

  /// Adds a thread. Threads are numbered in the order of these calls, as in the machine, which has no others.
  void add(nic::System& system, nic::NodeId node, Step step, sim::SimTime start = {}) {
    steps.push_back(std::move(step));
    system.create_thread(node, start);
  }
  void run(nic::Cpu& cpu) override { steps.at(cpu.thread())(cpu); }

  std::vector<Step> steps{};  ///< by number of the thread
};

}  // namespace loco::hosts
