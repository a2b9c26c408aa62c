#include "loco_sim/loco/operations/thread_records.hpp"

#include <algorithm>

namespace loco {

namespace {
/// Packs an endpoint's incarnation number and the target node of an operation into one number.
constexpr std::uint64_t use_key(std::uint32_t life, NodeId node) { return std::uint64_t{life} << 32U | node; }
constexpr std::uint32_t used_life(std::uint64_t use) { return static_cast<std::uint32_t>(use >> 32U); }
constexpr NodeId used_node(std::uint64_t use) { return static_cast<NodeId>(use); }
}  // namespace

thread_records::record& thread_records::mine() {
  const std::lock_guard lock(mutex_);
  return threads_[transport_.my_thread()];
}

/// A broadcast goes to the nodes in ascending order, so the use is mostly the last one again or one to append.
void thread_records::note_use(record& thread, const Region& remote) {
  const std::uint64_t use = use_key(remote.life, remote.node);
  std::vector<std::uint64_t>& noted = thread.unfenced;
  if (remote.life == 0 || (!noted.empty() && noted.back() == use)) return;
  if (noted.empty() || noted.back() < use) return noted.push_back(use);
  const auto at = std::ranges::lower_bound(noted, use);
  if (*at != use) noted.insert(at, use);
}

void thread_records::note_operation(const Region& remote, bool fenced) {
  const std::lock_guard lock(mutex_);
  record& thread = threads_[transport_.my_thread()];
  thread.blocks->require_none_too_early();
  note_use(thread, remote);
  if (remote.node == transport_.my_node()) thread.used_loopback = true;
  if (!fenced) return;
  thread.unplaced.resize(transport_.num_nodes());
  thread.unplaced[remote.node] = true;
}

void thread_records::note_fenced(std::span<const NodeId> nodes) {
  const std::lock_guard lock(mutex_);
  record& thread = threads_[transport_.my_thread()];
  for (const NodeId node : nodes) thread.blocks->note_fenced(node);
  std::vector<std::uint64_t>& unfenced = thread.unfenced;
  if (nodes.size() == transport_.num_nodes())
    unfenced.clear();
  else
    std::erase_if(unfenced, [&](std::uint64_t use) { return std::ranges::find(nodes, used_node(use)) != nodes.end(); });
}

void thread_records::forget(std::span<const std::uint32_t> lives) {
  const std::lock_guard lock(mutex_);
  for (auto& [index, thread] : threads_)
    std::erase_if(thread.unfenced,
                  [&](std::uint64_t use) { return std::ranges::find(lives, used_life(use)) != lives.end(); });
}

std::vector<departures::use> thread_records::uses_of(std::uint32_t life) {
  const std::lock_guard lock(mutex_);
  std::vector<departures::use> uses;
  for (const auto& [index, thread] : threads_)
    for (auto at = std::ranges::lower_bound(thread.unfenced, use_key(life, 0));
         at != thread.unfenced.end() && used_life(*at) == life; ++at)
      uses.push_back({index, used_node(*at)});
  return uses;
}

}  // namespace loco
