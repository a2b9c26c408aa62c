// The driver for state machines: each thread is a function that is called once for each of its steps, makes accesses
// and says when it goes on (nic_model/verbs/cpu.hpp). What perf's tests and the tests of the NIC model are written in;
// what their calls cost is hosts/costs.hpp.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "nic_model/system.hpp"

namespace loco::hosts {

class Steps final : public nic::ThreadRunner {
 public:
  using Step = std::function<void(nic::Cpu&)>;

  /// Threads are numbered in the order of these calls, as the machine's: it has no others.
  void add(nic::System& system, nic::NodeId node, Step step, sim::SimTime start = {}) {
    steps.push_back(std::move(step));
    system.create_thread(node, start);
  }
  void run(nic::Cpu& cpu) override { steps.at(cpu.thread())(cpu); }

  std::vector<Step> steps{};  ///< by number of the thread
};

}  // namespace loco::hosts
