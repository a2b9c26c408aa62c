#include "loco_sim/explore/recording.hpp"

#include <fmt/format.h>

namespace loco::explore {

using namespace model::litmus;

Recording::Recording(const Machine& machine, const nic::System& system)
    : machine_(machine), recorder_(static_cast<std::uint32_t>(machine.program_.nodes.size())) {
  for (int t = 0; t < len(machine.program_.threads); ++t) {
    const int node = machine.node_position(at(machine.program_.threads, t).node);
    recorder_.add_thread(static_cast<nic::NodeId>(node), fmt::format("thread {}", t));
  }
  recorder_.record_verbs(system);
}

hosts::Caller Recording::caller(const nic::Cpu& cpu, const Instruction& i) {
  const auto line = static_cast<std::uint32_t>(i.at.line);
  return {recorder_, cpu.thread(), recorder_.verbs()->place(machine_.program_.file, line), *system_};
}

trace::Trace Recording::take(const nic::System& system) {
  recorder_.verbs()->end(system);
  (void)recorder_.end_run();
  trace::Verbs& v = *recorder_.trace().verbs;
  for (const int flag : machine_.program_.verbs.flags) {
    const Machine::Place& word = machine_.place(flag);
    v.flags.emplace_back(word.node, word.address);
  }
  return std::move(recorder_.trace());
}

}  // namespace loco::explore
