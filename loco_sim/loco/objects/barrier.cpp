#include "loco_sim/loco/objects/barrier.hpp"

#include <algorithm>
#include <numeric>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/membership/node_list.hpp"
#include "loco_sim/loco/membership/patience.hpp"
#include "loco_sim/loco/operations/call_scope.hpp"
#include "loco_sim/loco/operations/fence.hpp"
#include "loco_sim/loco/operations/networked_node.hpp"

namespace loco {

namespace {
std::vector<NodeId> all_nodes(std::uint32_t count) {
  std::vector<NodeId> nodes(count);
  std::iota(nodes.begin(), nodes.end(), NodeId{0});
  return nodes;
}

expect_num peers_of(const barrier_options& options) {
  return {static_cast<std::uint32_t>(options.participants.size()) - 1};
}

/// The owner of each counter: every participating node, once per thread.
std::vector<NodeId> owners(const barrier_options& options) {
  std::vector<NodeId> result;
  for (const NodeId node : options.participants) result.insert(result.end(), options.threads_per_node, node);
  return result;
}
}  // namespace

barrier_options barrier::filled(barrier_options options) const {
  if (options.threads_per_node == 0)
    throw setup_error("barrier '" + full_name() + "' without threads: expected at least 1 a node");
  options.participants =
      options.participants.empty() ? all_nodes(num_nodes()) : ascending(std::move(options.participants));
  for (const NodeId node : options.participants) require_node(node, "a participant");
  if (!std::ranges::binary_search(options.participants, my_node()))
    throw ownership_error("barrier '" + full_name() + "': node " + std::to_string(my_node()) +
                          " is not declared as a participant, " + text_of(options.participants));
  return options;
}

barrier::barrier(within where, std::string_view name, barrier_options options)
    : channel(where, name, expect_num{0}),
      options_(filled(std::move(options))),
      arr_(*this, "sst", owners(options_), peers_of(options_)) {
  start();
}

void barrier::start() {
  if (options_.fence != barrier_options::Fence::none) require_network({Capability::reads_push_puts});
  promised_ = options_.fence == barrier_options::Fence::participants ? options_.participants : all_nodes(num_nodes());
  join();
}

barrier::seat& barrier::my_seat() {
  const std::lock_guard lock(mutex_);
  const std::uint32_t me = transport().my_thread();
  if (const auto found = seats_.find(me); found != seats_.end()) return found->second;
  if (seats_.size() == options_.threads_per_node)
    throw ownership_error("barrier '" + full_name() + "': more than " + std::to_string(options_.threads_per_node) +
                          " thread(s) of node " + std::to_string(my_node()) + " take part");
  const auto rank = static_cast<std::size_t>(std::ranges::lower_bound(options_.participants, my_node()) -
                                             options_.participants.begin());
  return seats_.emplace(me, seat{.index = rank * options_.threads_per_node + seats_.size()}).first->second;
}

/// With packet loss two other nodes may have given each other up while both still answer this one, and they will not
/// meet in the barrier again. As with a lock, this is assumed once nobody has arrived for long enough.
void barrier::wait_for_suspect(patience& waited) {
  constexpr std::int64_t kPatiencePs = 1'000'000'000;
  require_answers(options_.participants);
  std::uint64_t arrived = 0;
  for (auto& i : arr_) arrived += i.load();
  const std::int64_t limit = transport().retries_ps() + kPatiencePs;
  const std::optional<NodeId> suspect = waited.lost_with(here(), *this, arrived, limit);
  if (suspect && std::ranges::binary_search(options_.participants, *suspect))
    throw operation_error(Status::retry_exc_err,
                          "node " + std::to_string(my_node()) + ": '" + full_name() + "' waits for node " +
                              std::to_string(*suspect) + ", which another node has given up",
                          *suspect);
  transport().compute(limit / 16);
}

void barrier::waiting() {
  seat& me = my_seat();  // throws before the call is traced
  const call_scope call(transport(),
                        {.library = "bal", .method = "barrier", .object = full_name(), .nodes = promised_});
  if (options_.fence != barrier_options::Fence::none)
    global_fence(here(), promised_);  // complete outstanding operations
  me.count++;                         // increment our counter
  arr_[me.index].store(me.count);
  arr_[me.index].push_broadcast();  // and push
  bool waiting = true;
  patience waited;
  while (waiting) {  // wait for others to match
    const bool lost = any_lost();
    waiting = false;
    for (auto& i : arr_) {
      if (i.load() < me.count) {
        waiting = true;
        break;
      }
    }
    if (waiting && lost && transport().may_give_up_peers()) {
      wait_for_suspect(waited);
      continue;
    }
    // A node that was lost during the scan may have arrived before. Then the loop scans once more.
    if (waiting && (lost || !any_lost())) pause_for(options_.participants);
  }
}

}  // namespace loco
