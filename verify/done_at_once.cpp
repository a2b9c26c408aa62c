#include "verify/done_at_once.hpp"

#include <algorithm>
#include <vector>

namespace loco::verify {

namespace {

/// By Program::shared: touched by a process other than its home's, as the remote variable of a statement.
std::vector<bool> touched_from_afar(const Program& program) {
  std::vector<bool> touched(program.shared.size(), false);
  for (const RemoteStatement& r : program.remotes)
    if (r.process != program.shared[r.remote].process) touched[r.remote] = true;
  return touched;
}

/// Can an `always` property see that an operation is under way: by a word, or by where its process stands?
bool sees(const Property& property, const Program& program, const RemoteStatement& r, const Edge& issue) {
  if (property.kind != PropertyKind::kAlways) return false;  // of a final one all have ended, behind their flushes
  return std::ranges::any_of(property.expression.nodes, [&](const ExpressionNode& node) {
    if (node.op == Operator::kShared) return r.result == node.index;
    if (node.index != r.process) return false;
    if (node.op == Operator::kAt) return node.location == issue.from || node.location == issue.to;
    if (node.op != Operator::kIn) return false;
    const std::vector<bool>& inside = program.processes[node.index].labels[node.location].inside;
    return inside[issue.from] != inside[issue.to];
  });
}

/// Is a flush that waits for it all that can come next?
bool waited_for(const Process& process, const Edge& issue, const RemoteStatement& r, const Program& program,
                const FlushMask& flushes) {
  const std::vector<std::uint32_t>& next = process.locations[issue.to].edges;
  if (next.size() != 1) return false;
  const Action& action = process.edges[next.front()].action;
  return action.kind == ActionKind::kFlush && flushes[action.flush] && program.flushes[action.flush].target == r.target;
}

}  // namespace

bool all_done_at_once(const Program& program, const FlushMask& flushes) {
  const std::vector<bool> touched = touched_from_afar(program);
  const auto own = [&](const std::optional<std::uint32_t>& word) { return !word || !touched[*word]; };
  for (const Process& process : program.processes)
    for (const Edge& edge : process.edges) {
      if (edge.action.kind != ActionKind::kRemote) continue;
      const RemoteStatement& r = program.remotes[edge.action.remote];
      if (!own(r.operand) || !own(r.swap) || !own(r.result)) return false;
      if (!waited_for(process, edge, r, program, flushes)) return false;
      for (const Property& property : program.properties)
        if (sees(property, program, r, edge)) return false;
    }
  return true;
}

}  // namespace loco::verify
