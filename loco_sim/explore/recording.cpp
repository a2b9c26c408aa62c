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

trace::CallId Recording::call(const nic::Cpu& cpu, const Instruction& i, trace::Method method, std::uint64_t argument,
                              std::uint64_t work_id) {
  const trace::CallId id = recorder_.begin_operation(cpu.thread(), method, argument, work_id, seq_);
  recorder_.verbs()->set_place(id, place(i));
  if (method == trace::Method::cas) recorder_.verbs()->set_flag(id);
  return id;
}

void Recording::posted_receive(const nic::Cpu& cpu, const Instruction& i, std::uint32_t queue,
                               const nic::RecvWqe& wqe) {
  recorder_.verbs()->posted_receive(recorder_.thread_in_trace(cpu.thread()), recorder_.calls(), place(i), queue, wqe);
}

std::uint32_t Recording::place(const Instruction& i) {
  return recorder_.verbs()->place(machine_.program_.file, static_cast<std::uint32_t>(i.at.line));
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
