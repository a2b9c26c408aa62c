// The report of a deadlock: for each thread the calls it is in and what it last looked at, and the failed operations.
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
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
    if (!call.object.empty()) text += "(" + trace::element_name(call.object, call.element) + ")";
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

std::string thread_text(const hosts::Thread& thread) {
  return fmt::format("thread {} of node {}", thread.name, thread.node);
}

/// The call in which a thread waits for a lock that another thread holds; null if there is none.
const CallInfo* lock_call(const HeldLocks& locks, const hosts::Thread& thread) {
  for (const CallInfo& call : thread.calls)
    if (!thread.ended && locks.waits_for(call)) return &call;
  return nullptr;
}

/// Describes the lock that a thread waits for and its holder; empty if it waits for something else.
std::string lock_text(const HeldLocks& locks, const hosts::Fibers& threads, const hosts::Thread& thread) {
  const CallInfo* call = lock_call(locks, thread);
  if (call == nullptr) return {};
  const hosts::Thread& holder = *threads.all()[*locks.waits_for(*call)];
  return fmt::format("lock {} of '{}', held by {}{}", call->argument, call->object, thread_text(holder),
                     holder.ended ? ", which has ended" : "");
}

/// Describes threads that wait for each other's locks; empty if there are none.
std::string lock_circle(const HeldLocks& locks, const hosts::Fibers& threads) {
  std::vector<std::uint8_t> seen(threads.all().size(), 0);
  for (std::size_t start = 0; start < seen.size(); ++start) {
    std::vector<std::size_t> path;
    for (std::size_t at = start; seen[at] == 0;) {
      seen[at] = 1;
      path.push_back(at);
      const CallInfo* call = lock_call(locks, *threads.all()[at]);
      if (call == nullptr) break;
      at = *locks.waits_for(*call);
      const auto first = std::ranges::find(path, at);
      if (first == path.end()) continue;
      std::string text = "\n  locks in a circle: ";
      for (auto i = first; i != path.end(); ++i) {
        const hosts::Thread& thread = *threads.all()[*i];
        text += fmt::format("{}{} waits for {}", i == first ? "" : "; ", thread_text(thread),
                            lock_text(locks, threads, thread));
      }
      return text;
    }
  }
  return {};
}

/// Describes on which nodes the objects of a thread's calls are gone.
std::string gone_text(const HeldLocks& locks, const hosts::Thread& thread) {
  std::string text;
  for (const CallInfo& call : thread.calls) {
    if (call.object.empty() || call.element != trace::kWholeObject) continue;
    if (const std::set<NodeId> nodes = locks.gone(call.object); !nodes.empty())
      text +=
          fmt::format("; '{}' is gone on node{} {}", call.object, nodes.size() == 1 ? "" : "s", fmt::join(nodes, ", "));
  }
  return text;
}
/// Describes what a thread waits for.
std::string waits_text(const ClusterConfig& config, const HeldLocks& locks, const hosts::Fibers& threads,
                       const hosts::Thread& thread) {
  if (const std::string lock = lock_text(locks, threads, thread); !lock.empty()) return "waits for " + lock;
  // A thread that asks another node again and again is often found in the wait for one of its questions.
  const bool only_asks = std::ranges::all_of(thread.calls, [](const CallInfo& c) { return c.method == "wait"; });
  if (thread.waits_for && only_asks) return "waits until " + thread.waits_for();
  if (thread.looked_count == 0) return "has looked at nothing since it last did something";
  std::string text = "waits for a change of ";
  const std::uint32_t kept = std::min(thread.looked_count, hosts::kLooksKept);
  for (std::uint32_t i = thread.looked_count - kept; i < thread.looked_count; ++i)
    text += (i + kept == thread.looked_count ? "" : ", ") +
            look_text(config, thread.node, thread.looked.at(i % hosts::kLooksKept));
  return text;
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
    report += "\n  node " + std::to_string(thread->node) + ", thread " + thread->name + ": " + calls_text(*thread) +
              "; " + waits_text(config_, context_.locks, threads, *thread) + gone_text(context_.locks, *thread);
  }
  if (threads.unfinished() > kNamed) report += fmt::format("\n  and {} more threads", threads.unfinished() - kNamed);
  for (const auto& node : nodes_)
    if (system.cq_overrun(node->completion_queue()))
      report += fmt::format("\n  node {}: its completion queue of {} entries has overflowed: completions are lost",
                            node->my_node(), config_.completion_entries);
  report += lock_circle(context_.locks, threads);
  return report + failures_text() + runtime_.paused_text();
}

}  // namespace loco
