#include "loco_sim/baselines/tree_store.hpp"

#include <algorithm>
#include <string>

#include "loco_sim/loco/errors.hpp"
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/operations/call_scope.hpp"

namespace loco::baselines {

std::uint64_t tree_nodes_of(std::uint64_t keys) {
  const auto groups = [](std::uint64_t items, std::uint64_t size) {
    return std::max<std::uint64_t>(1, (items + size - 1) / size);
  };
  std::uint64_t level = groups(keys, tree_store::kFill);
  std::uint64_t all = level;
  while (level > 1) {
    level = groups(level, tree_store::kChildrenFill);
    all += level;
  }
  return all;
}

tree_store::tree_store(manager& mgr, std::string_view name, tree_options options)
    : channel(mgr, name, expect_num{mgr.num_nodes() - 1}),
      options_(options),
      initial_((options.nodes_max + num_nodes() - 1) / num_nodes()),
      spare_taken_(num_nodes(), 0) {
  const std::uint64_t capacity = initial_ + options.spare * num_nodes();
  locks_ = std::min(capacity, kLocksMax);
  nodes_ = symmetric_region("nodes", capacity * tree_node::kBytes);
  lock_words_ = symmetric_region("locks", locks_ * kWord, Where::device);
  root_ = symmetric_region("root", kWord);
  join();
}

tree_store::local_lock& tree_store::mine(tree_place place) {
  const tree_place lock{place.node, lock_of(place)};
  const auto [found, made] = local_locks_.try_emplace(lock.word());
  if (made) {
    found->second.next = transport().make_flag();
    found->second.serving = transport().make_flag();
  }
  return found->second;
}

tree_place tree_store::take_node(NodeId node) {
  std::uint64_t& taken = spare_taken_[node];
  if (taken == options_.spare)
    throw size_error("tree '" + full_name() + "': node " + std::to_string(my_node()) + " has taken all " +
                     std::to_string(taken) + " of its spare nodes on node " + std::to_string(node));
  return {node, initial_ + my_node() * options_.spare + taken++};
}

// --- the cache -------------------------------------------------------------------------------------------------------

std::optional<tree_place> tree_store::known_place(std::uint64_t level, std::uint64_t key) const {
  if (!options_.index_cache || level >= cache_.size()) return std::nullopt;
  const auto after = cache_[level].upper_bound(key);
  if (after == cache_[level].begin()) return std::nullopt;
  return std::prev(after)->second;
}

void tree_store::learn(const tree_node& node, tree_place place) {
  if (node.level() >= cache_.size()) cache_.resize(node.level() + 1);
  cache_[node.level()].insert_or_assign(node.lowest(), place);
  if (node.level() > known_root_.level) known_root_ = {place, node.level()};
}

// --- loading ---------------------------------------------------------------------------------------------------------

/// Every node builds the same tree and keeps its own part.
void tree_store::place(tree_node& node, tree_place at) {
  learn(node, at);
  if (at.node != my_node()) return;
  node.seal();
  transport().store_bytes(local(nodes_).base + offset(at), std::as_bytes(node.words()));
}

std::vector<tree_store::loaded> tree_store::load_leaves(const std::vector<Entry>& sorted) {
  std::vector<loaded> places;
  for (std::size_t first = 0; first < std::max<std::size_t>(sorted.size(), 1); first += kFill) {
    const std::size_t behind = std::min(first + kFill, sorted.size());
    const bool is_last = behind == sorted.size();
    tree_node leaf(0, first == 0 ? 0 : sorted[first].first, is_last ? kKeyMax : sorted[behind].first - 1);
    const tree_place at = next_place();
    if (!is_last) leaf.set_sibling(place_of_number(taken_));
    for (std::size_t i = first; i < behind; ++i) {
      const auto& [key, value] = sorted[i];
      leaf.set_entry(i - first, key, value);
      if (at.node != my_node()) continue;
      call_scope call(
          transport(),
          {.library = "kvstore", .method = "insert", .object = full_name(), .work_id = value, .argument = key});
      call.set_result(1);
    }
    place(leaf, at);
    places.push_back({leaf.lowest(), at});
  }
  return places;
}

std::vector<tree_store::loaded> tree_store::load_inner(std::uint64_t level, const std::vector<loaded>& below) {
  std::vector<loaded> places;
  for (std::size_t first = 0; first < below.size(); first += kChildrenFill) {
    const std::size_t behind = std::min(first + kChildrenFill, below.size());
    const bool is_last = behind == below.size();
    tree_node inner(level, below[first].lowest, is_last ? kKeyMax : below[behind].lowest - 1);
    const tree_place at = next_place();
    if (!is_last) inner.set_sibling(place_of_number(taken_));
    inner.set_leftmost(below[first].place);
    for (std::size_t i = first + 1; i < behind; ++i) inner.insert_child({below[i].lowest, below[i].place});
    place(inner, at);
    places.push_back({inner.lowest(), at});
  }
  return places;
}

void tree_store::load(const std::vector<Entry>& sorted) {
  if (tree_nodes_of(sorted.size()) > options_.nodes_max)
    throw size_error("tree '" + full_name() + "': " + std::to_string(sorted.size()) + " entries in " +
                     std::to_string(options_.nodes_max) + " nodes");
  std::vector<loaded> level = load_leaves(sorted);
  known_root_ = {level.front().place, 0};
  for (std::uint64_t above = 1; level.size() > 1; ++above) {
    level = load_inner(above, level);
    known_root_ = {level.front().place, above};
  }
  if (my_node() == 0) transport().store(local(root_).base, known_root_.word());
  transport().memory_fence();
}

}  // namespace loco::baselines
