#include "verify/stubborn.hpp"

#include <algorithm>
#include <utility>

namespace loco::verify {

Stubborn::Stubborn(SetSystem& system, const Limits& limits)
    : system_(&system), limits_(&limits), processes_(static_cast<std::uint32_t>(system.program().processes.size())) {
  for (const Property& property : system.program().properties) {
    has_final_ = has_final_ || property.kind == PropertyKind::kFinal;
    std::vector<Node>& tree = trees_.emplace_back();
    std::vector<std::uint32_t> stack;
    for (std::uint32_t i = 0; i < property.expression.nodes.size(); ++i) {
      Node node{i, 0, 0};
      if (operands(property.expression.nodes[i].op) == 2) {
        node.right = stack.back();
        stack.pop_back();
      }
      if (operands(property.expression.nodes[i].op) > 0) {
        node.left = stack.back();
        node.begin = tree[node.left].begin;
        stack.pop_back();
      }
      stack.push_back(i);
      tree.push_back(node);
    }
  }
}

void Stubborn::start(const Point& point) {
  const std::size_t agents = processes_ + point.entries.size();
  agent_moves_.resize(std::max(agent_moves_.size(), agents));
  asked_.assign(agents, false);
}

void Stubborn::add(Agent agent) {
  if (in_[agent]) return;
  in_[agent] = true;
  work_.push_back(agent);
}

/// The accesses that an agent may still make. Open reads of an operation are left out: it may have made them before.
Future Stubborn::future(const Point& point, Agent agent) const {
  if (agent < processes_) return system_->facts().processes[agent].futures[point.at[agent]];
  const Entry& entry = point.entries[agent - processes_];
  const RemoteStatement& s = system_->program().remotes[entry.statement];
  Future result;
  if (s.result) result.writes |= mask_of(*s.result);
  if (entry.result_only) return result;
  if (s.kind != RemoteKind::kGet) result.writes |= mask_of(s.remote);
  if (s.kind != RemoteKind::kPut && !(s.kind == RemoteKind::kGet && system_->reads_openly(entry)))
    result.reads |= mask_of(s.remote);
  return result;
}

/// Agents that may, now or later, make a move that does not commute with this agent's next move.
void Stubborn::add_conflicting(const Point& point, Agent agent) {
  Mask reads = 0;
  Mask writes = 0;
  if (agent < processes_) {
    for (const Move& move : agent_moves_[agent]) {
      const StaticEdge& edge = system_->facts().processes[agent].edges[move.edge];
      reads |= edge.reads;
      writes |= edge.writes;
    }
  } else {
    const Entry& entry = point.entries[agent - processes_];
    const RemoteStatement& s = system_->program().remotes[entry.statement];
    if (entry.result_only) {
      writes = mask_of(s.result.value());
    } else if (s.kind == RemoteKind::kGet) {
      reads = mask_of(s.remote);
      if (system_->reads_openly(entry)) writes = mask_of(s.result.value());
    } else {
      reads = mask_of(s.operand.value());
      if (s.swap) reads |= mask_of(*s.swap);
      if (s.kind != RemoteKind::kPut) reads |= mask_of(s.remote);
      writes = mask_of(s.remote);
    }
  }
  if ((reads | writes) == 0) return;
  for (Agent other = 0; other < processes_ + point.entries.size(); ++other) {
    if (in_[other]) continue;
    const Future later = future(point, other);
    if ((later.writes & (reads | writes)) != 0 || (later.reads & writes) != 0) add(other);
  }
}

bool Stubborn::stuck(const Point& point, std::uint32_t process) {
  const Process& p = system_->program().processes[process];
  const auto& edges = p.locations[point.at[process]].edges;
  return !edges.empty() && p.edges[edges.front()].action.kind == ActionKind::kAssume && agent_moves_[process].empty();
}

/// An agent that has to move before this one can.
void Stubborn::add_enabling(const Point& point, Agent agent) {
  if (agent >= processes_) {
    const std::uint32_t entry = agent - processes_;
    const std::uint32_t before = system_->held_back_by(point, entry);
    if (before != entry) add(processes_ + before);
    return;
  }
  const Process& p = system_->program().processes[agent];
  const auto& edges = p.locations[point.at[agent]].edges;
  if (edges.empty() || p.edges[edges.front()].action.kind != ActionKind::kFlush) return;
  const std::uint32_t flush = p.edges[edges.front()].action.flush;
  Agent choice = 0;
  for (std::uint32_t i = static_cast<std::uint32_t>(point.entries.size()); i-- > 0;) {
    if (!system_->awaits(flush, point.entries[i])) continue;
    choice = processes_ + i;
    if (in_[choice]) return;
  }
  if (choice != 0) add(choice);
}

void Stubborn::close(const Point& point) {
  while (!work_.empty()) {
    limits_->tick();
    const Agent agent = work_.back();
    work_.pop_back();
    if (!asked_[agent]) {
      asked_[agent] = true;
      agent_moves_[agent].clear();
      if (agent < processes_) {
        system_->process_moves(point, agent, agent_moves_[agent]);
      } else {
        system_->entry_moves(point, agent - processes_, agent_moves_[agent]);
      }
    }
    if (agent_moves_[agent].empty()) {
      add_enabling(point, agent);
    } else {
      add_conflicting(point, agent);
    }
  }
}

void Stubborn::add_changing_leaf(const Point& point, const ExpressionNode& node) {
  if (node.op == Operator::kAt || node.op == Operator::kIn) return add(node.index);
  if (node.op == Operator::kLocal) return add(system_->program().locals[node.index].process);
  if (node.op != Operator::kShared) return;
  for (Agent agent = 0; agent < processes_ + point.entries.size(); ++agent) {
    if ((future(point, agent).writes & mask_of(node.index)) != 0) add(agent);
  }
}

/// Agents of which one has to move before this property, which holds, can fail.
void Stubborn::add_changing(const Point& point, std::size_t property, std::uint32_t preferred) {
  const Expression& expression = system_->program().properties[property].expression;
  const std::vector<Node>& tree = trees_[property];
  system_->part_values(point, expression, values_);
  const auto mentions = [&](std::uint32_t part, std::uint32_t process) {
    for (std::uint32_t i = tree[part].begin; i <= part; ++i) {
      const ExpressionNode& n = expression.nodes[i];
      if (((n.op == Operator::kAt || n.op == Operator::kIn) && n.index == process) ||
          (n.op == Operator::kLocal && system_->program().locals[n.index].process == process))
        return true;
    }
    return false;
  };
  // Parts that have to change, each of which now is what it is not to be.
  std::vector<std::uint32_t> work{static_cast<std::uint32_t>(tree.size() - 1)};
  while (!work.empty()) {
    const std::uint32_t part = work.back();
    work.pop_back();
    const Operator op = expression.nodes[part].op;
    const Node& node = tree[part];
    const bool wanted = values_[part] == 0;
    if (op == Operator::kNot) {
      work.push_back(node.left);
    } else if (op == Operator::kAnd || op == Operator::kOr) {
      const bool all =
          (op == Operator::kAnd) == wanted;  // all sides have to be as wanted, so that one of them may be waited for
      const bool left = (values_[node.left] != 0) != wanted;
      const bool right = (values_[node.right] != 0) != wanted;
      if (!all) {
        work.push_back(node.left);
        work.push_back(node.right);
      } else if (left && right) {
        work.push_back(mentions(node.right, preferred) && !mentions(node.left, preferred) ? node.right : node.left);
      } else {
        work.push_back(left ? node.left : node.right);
      }
    } else {
      for (std::uint32_t i = node.begin; i <= part; ++i) add_changing_leaf(point, expression.nodes[i]);
    }
  }
}

void Stubborn::add_goals(const Point& point, std::uint32_t preferred) {
  const Program& program = system_->program();
  for (std::uint32_t p = 0; p < processes_; ++p) {
    if (system_->facts().processes[p].futures[point.at[p]].asserts) add(p);
  }
  const bool ended = system_->ended(point);
  for (std::size_t i = 0; i < program.properties.size(); ++i) {
    if (program.properties[i].kind == PropertyKind::kAlways || ended) add_changing(point, i, preferred);
  }
  if (!has_final_ || ended) return;
  for (std::uint32_t p = 0; p < processes_; ++p) {
    if (!asked_[p]) {
      asked_[p] = true;
      agent_moves_[p].clear();
      system_->process_moves(point, p, agent_moves_[p]);
    }
    if (stuck(point, p)) return;  // they will never all have ended
  }
  add(preferred);
}

bool Stubborn::free(const Point& point, std::uint32_t process) const {
  const StaticProcess& facts = system_->facts().processes[process];
  if (facts.loop_heads[point.at[process]]) return false;
  for (const std::uint32_t e : system_->program().processes[process].locations[point.at[process]].edges) {
    const StaticEdge& edge = facts.edges[e];
    if (edge.visible) return false;
    if ((edge.reads | edge.writes) == 0) continue;
    for (Agent other = 0; other < processes_ + point.entries.size(); ++other) {
      if (other == process) continue;
      const Future later = future(point, other);
      if ((later.writes & (edge.reads | edge.writes)) != 0 || (later.reads & edge.writes) != 0) return false;
    }
  }
  return true;
}

void Stubborn::free_moves(const Point& point, std::vector<Move>& into) {
  for (std::uint32_t p = 0; p < processes_ && into.empty(); ++p) {
    limits_->tick();
    if (free(point, p)) system_->process_moves(point, p, into);
  }
}

void Stubborn::moves(const Point& point, std::vector<Move>& into) {
  start(point);
  std::vector<std::uint32_t> preferences;  // of processes that have not ended, any one may be the one to wait for
  for (std::uint32_t p = 0; p < processes_; ++p) {
    if (point.at[p] != system_->program().processes[p].exit) preferences.push_back(p);
  }
  if (preferences.empty()) preferences.push_back(0);
  for (std::size_t i = 0; i < preferences.size(); ++i) {
    in_.assign(processes_ + point.entries.size(), false);
    work_.clear();
    add_goals(point, preferences[i]);
    close(point);
    found_.clear();
    for (Agent agent = 0; agent < in_.size(); ++agent) {
      if (in_[agent]) found_.insert(found_.end(), agent_moves_[agent].begin(), agent_moves_[agent].end());
    }
    if (i == 0 || found_.size() < into.size()) into.swap(found_);
    if (into.size() <= 1) return;
  }
}

}  // namespace loco::verify
