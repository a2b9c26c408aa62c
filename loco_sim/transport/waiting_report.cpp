// The report of a run that cannot go on: for each thread the calls it is in and what it looked at last, and the
// operations that had failed.
#include <algorithm>
#include <fmt/format.h>
#include <string>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/transport/cluster.hpp"
#include "loco_sim/transport/virtual_transport.hpp"

namespace loco {

namespace {
std::string calls_text(const hosts::Thread& thread) {
  std::string text;
  for (const trace::CallInfo& call : thread.calls) {
    if (!text.empty()) text += " > ";
    text += std::string(call.library) + "." + std::string(call.method);
    if (!call.object.empty()) text += "(" + std::string(call.object) + ")";
  }
  return text.empty() ? "outside of library calls" : "in " + text;
}

std::string word_text(const ClusterConfig& config, NodeId node, const hosts::Look& look) {
  const std::string name = config.word_name ? config.word_name(node, look.where) : "";
  return (name.empty() ? "word " + std::to_string(look.where) : name) + " (= " + std::to_string(look.value) + ")";
}

std::string look_text(const ClusterConfig& config, NodeId node, const hosts::Look& look) {
  switch (look.what) {
    case hosts::Look::What::word:
      return word_text(config, node, look);
    case hosts::Look::What::flag:
      return "flag " + std::to_string(look.where) + " (= " + std::to_string(look.value) + ")";
    case hosts::Look::What::completions:
      return "completions";
    case hosts::Look::What::send_queue:
      break;
  }
  return "room in the send queue towards node " + std::to_string(look.where);
}

}  // namespace

std::string SimulatedCluster::failures_text() const {
  constexpr std::size_t kNamed = 16;
  const nic::System& system = runtime_.system();
  std::map<nic::QpId, nic::Cqe> first = context_.failures;
  for (const auto& node : nodes_)
    for (const nic::Cqe& cqe : system.failed_cqes(node->completion_queue())) first.try_emplace(cqe.qp, cqe);
  std::string text;
  std::size_t named = 0;
  for (const auto& [qp, cqe] : first) {
    if (named++ == kNamed) break;
    text += std::string("\n  ") +
            failure(system.qp_node(qp), name(operation_of(cqe.opcode)), system.qp_peer_node(qp), cqe.status).what();
  }
  if (first.size() > kNamed) text += "\n  and " + std::to_string(first.size() - kNamed) + " more that failed";
  return text;
}

std::string SimulatedCluster::waiting_report() const {
  const nic::System& system = runtime_.system();
  const hosts::Fibers& threads = runtime_.threads();
  std::string report = fmt::format("; at {} ps {} thread(s) have not ended", system.now().ps, threads.unfinished());
  constexpr std::uint32_t kNamed = 10;
  std::uint32_t named = 0;
  for (const auto& thread : threads.all()) {
    if (thread->ended || thread->service) continue;
    if (named++ == kNamed) break;
    report += "\n  node " + std::to_string(thread->node) + ", thread " + thread->name + ": " + calls_text(*thread);
    if (thread->waits_for && thread->calls.empty()) {
      report += "; waits until " + thread->waits_for();
      continue;
    }
    if (thread->looked_count == 0) {
      report += "; has looked at nothing since it last did something";
      continue;
    }
    report += "; waits for a change of ";
    const std::uint32_t kept = std::min(thread->looked_count, hosts::kLooksKept);
    for (std::uint32_t i = thread->looked_count - kept; i < thread->looked_count; ++i)
      report += (i + kept == thread->looked_count ? "" : ", ") +
                look_text(config_, thread->node, thread->looked.at(i % hosts::kLooksKept));
  }
  if (threads.unfinished() > kNamed) report += fmt::format("\n  and {} more threads", threads.unfinished() - kNamed);
  for (const auto& node : nodes_)
    if (system.cq_overrun(node->completion_queue()))
      report += fmt::format("\n  node {}: its completion queue of {} entries has overflowed: completions are lost",
                            node->my_node(), config_.completion_entries);
  return report + failures_text() + runtime_.paused_text();
}

}  // namespace loco
