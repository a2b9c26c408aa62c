#include "verify/liveness/graph.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace loco::verify::liveness {

namespace {

constexpr std::size_t kTableMin = 1024;
constexpr std::size_t kOperationWords = 4;

std::uint64_t hash_of(const std::uint32_t* words, std::size_t size) {
  std::uint64_t hash = 0x9e3779b97f4a7c15U ^ size;
  for (std::size_t i = 0; i < size; ++i) {
    hash = (hash ^ words[i]) * 0xff51afd7ed558ccdU;
    hash ^= hash >> 32U;
  }
  return hash ^ (hash >> 29U);
}

}  // namespace

Graph::Graph(System& system, const Limits& limits)
    : system_(&system),
      limits_(&limits),
      processes_(static_cast<std::uint32_t>(system.program().processes.size())),
      table_(kTableMin, kNone),
      first_edge_{0} {
  (void)put(system.initial(), kNone);
}

void Graph::pack(const State& state) {
  packed_.assign(state.at.begin(), state.at.end());
  for (const Value v : state.shared) packed_.push_back(static_cast<std::uint32_t>(v));
  for (const Value v : state.locals) packed_.push_back(static_cast<std::uint32_t>(v));
  for (const Operation& o : state.operations) {
    packed_.push_back(o.statement << 4U | static_cast<std::uint32_t>(o.next) << 1U | (o.many ? 1U : 0U));
    for (const Value v : {o.operand, o.swap, o.result}) packed_.push_back(static_cast<std::uint32_t>(v));
  }
}

void Graph::get(Index state, State& into) const {
  const std::uint32_t* from = words_.data() + begins_[state];
  const std::uint32_t* end = words_.data() + (state + 1 < size() ? begins_[state + 1] : words_.size());
  into.at.assign(from, from + processes_);
  from += processes_;
  into.shared.resize(system_->program().shared.size());
  for (Value& v : into.shared) v = static_cast<Value>(*from++);
  into.locals.resize(system_->program().locals.size());
  for (Value& v : into.locals) v = static_cast<Value>(*from++);
  into.operations.clear();
  for (; from != end; from += kOperationWords)
    into.operations.push_back({from[0] >> 4U, static_cast<Part>(from[0] >> 1U & 7U), (from[0] & 1U) != 0,
                               static_cast<Value>(from[1]), static_cast<Value>(from[2]), static_cast<Value>(from[3])});
}

std::size_t Graph::slot_of(std::uint64_t hash) const {
  std::size_t slot = hash & (table_.size() - 1);
  for (; table_[slot] != kNone; slot = (slot + 1) & (table_.size() - 1)) {
    const Index i = table_[slot];
    const std::uint64_t end = i + 1 < size() ? begins_[i + 1] : words_.size();
    if (end - begins_[i] == packed_.size() &&
        std::memcmp(words_.data() + begins_[i], packed_.data(), packed_.size() * sizeof(std::uint32_t)) == 0)
      break;
  }
  return slot;
}

Index Graph::find(const State& state) {
  pack(state);
  return table_[slot_of(hash_of(packed_.data(), packed_.size()))];
}

std::pair<Index, bool> Graph::put(const State& state, Index parent) {
  pack(state);
  const std::size_t slot = slot_of(hash_of(packed_.data(), packed_.size()));
  if (table_[slot] != kNone) return {table_[slot], false};
  const Index index = size();
  table_[slot] = index;
  begins_.push_back(words_.size());
  words_.insert(words_.end(), packed_.begin(), packed_.end());
  parents_.push_back(parent);
  if (std::size_t{2} * size() > table_.size()) {
    std::vector<Index> bigger(table_.size() * 2, kNone);
    for (const Index i : table_) {
      if (i == kNone) continue;
      const std::uint64_t end = i + 1 < size() ? begins_[i + 1] : words_.size();
      std::size_t at = hash_of(words_.data() + begins_[i], end - begins_[i]) & (bigger.size() - 1);
      while (bigger[at] != kNone) at = (at + 1) & (bigger.size() - 1);
      bigger[at] = i;
    }
    table_ = std::move(bigger);
  }
  return {index, true};
}

Actor Graph::class_of(Operation operation) {
  operation.many = false;
  return processes_ + classes_.emplace(operation, static_cast<Actor>(classes_.size())).first->second;
}

void Graph::classes(Index state, std::vector<Actor>& into) const {
  State here;
  get(state, here);
  into.clear();
  for (Operation o : here.operations) {
    o.many = false;
    if (const auto known = classes_.find(o); known != classes_.end()) into.push_back(processes_ + known->second);
  }
  std::sort(into.begin(), into.end());
  into.erase(std::unique(into.begin(), into.end()), into.end());
}

void Graph::look_at_memory() const {
  const std::uint64_t bytes = words_.capacity() * sizeof(std::uint32_t) + edges_.capacity() * sizeof(GraphEdge) +
                              table_.capacity() * sizeof(Index) + begins_.capacity() * 2 * sizeof(std::uint64_t) +
                              parents_.capacity() * sizeof(Index);
  // The search for cycles takes about as much memory for each state.
  if (bytes + 64 * std::uint64_t{size()} > limits_->memory_bytes) throw LimitReached("out of memory");
}

void Graph::expand(Index index) {
  limits_->tick();
  State here;
  get(index, here);
  std::vector<Move> moves;
  std::vector<bool> enabled;
  bool held_back = false;
  system_->moves(here, moves, enabled, held_back);
  for (const Move& move : moves) {
    limits_->tick();
    const State next = system_->after(here, move);
    GraphEdge edge;
    edge.actor = move.nic ? class_of(here.operations[move.operation]) : move.process;
    edge.stays = move.stays;
    if (const auto& added = system_->added()) {
      Operation many = *added;
      many.many = true;
      const bool is_many = std::find(next.operations.begin(), next.operations.end(), many) != next.operations.end();
      const Actor added_class = class_of(many);  // every class gets its number before it is asked for
      if (is_many) edge.adds = added_class;
    }
    edge.to = put(next, index).first;
    edges_.push_back(edge);
  }
  first_edge_.push_back(edges_.size());
  enabled_.insert(enabled_.end(), enabled.begin(), enabled.end());
  held_back_.push_back(held_back);
  any_held_back_ = any_held_back_ || held_back;
}

void Graph::grow(std::size_t states_max) {
  while (expanded_ < size() && size() < states_max) {
    if (expanded_ % 256 == 0) look_at_memory();
    expand(expanded_);
    ++expanded_;
  }
}

std::span<const GraphEdge> Graph::edges(Index state) const {
  if (state >= expanded_) return {};
  return {edges_.data() + first_edge_[state], edges_.data() + first_edge_[state + 1]};
}

bool Graph::enabled(Index state, std::uint32_t process) const {
  return enabled_[std::size_t{state} * processes_ + process];
}

bool Graph::stopped(Index state) const { return state < expanded_ && edges(state).empty() && !held_back_[state]; }

Move Graph::move(Index state, std::size_t edge) {
  State here;
  get(state, here);
  std::vector<Move> moves;
  std::vector<bool> enabled;
  bool held_back = false;
  system_->moves(here, moves, enabled, held_back);
  return moves.at(edge);
}

}  // namespace loco::verify::liveness
