#include "verify/program.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace loco::verify {

std::vector<std::uint32_t> reads(const RemoteStatement& s) {
  std::vector<std::uint32_t> result;
  if (s.operand) result.push_back(*s.operand);
  if (s.swap) result.push_back(*s.swap);
  if (s.kind != RemoteKind::kPut) result.push_back(s.remote);
  return result;
}

std::vector<std::uint32_t> writes(const RemoteStatement& s) {
  std::vector<std::uint32_t> result;
  if (s.kind != RemoteKind::kGet) result.push_back(s.remote);
  if (s.result) result.push_back(*s.result);
  return result;
}

std::string local_name(const Program& program, std::uint32_t local) {
  const LocalVariable& variable = program.locals.at(local);
  const auto others = std::count_if(program.locals.begin(), program.locals.end(),
                                    [&](const LocalVariable& v) { return v.name == variable.name; }) +
                      std::count_if(program.shared.begin(), program.shared.end(),
                                    [&](const SharedVariable& v) { return v.name == variable.name; });
  return others == 1 ? variable.name
                     : fmt::format("{}@{}", variable.name, program.processes.at(variable.process).name());
}

Program with_flush_after_every_remote(const Program& program) {
  Program result = program;
  result.flushes.clear();
  for (Process& process : result.processes) {
    for (Edge& edge : process.edges) {
      if (edge.action.kind == ActionKind::kFlush) edge.action = {};
    }
  }
  // Statements are numbered in textual order, and so the flushes after them are.
  for (const RemoteStatement& remote : program.remotes) {
    Process& process = result.processes[remote.process];
    for (std::uint32_t e = 0; e < process.edges.size(); ++e) {
      const Edge before = process.edges[e];
      if (before.action.kind != ActionKind::kRemote || &program.remotes[before.action.remote] != &remote) continue;
      const auto middle = static_cast<std::uint32_t>(process.locations.size());
      process.locations.push_back({{static_cast<std::uint32_t>(process.edges.size())}, {}, before.place});
      for (Label& label : process.labels) label.inside.push_back(label.inside[before.from]);
      process.edges[e].to = middle;
      Action flush;
      flush.kind = ActionKind::kFlush;
      flush.flush = static_cast<std::uint32_t>(result.flushes.size());
      const std::string text = fmt::format("flush({})", result.processes[remote.target].name());
      process.edges.push_back({middle, before.to, flush, text, before.place});
      result.flushes.push_back({remote.process, remote.target, text, before.place});
      break;
    }
  }
  return result;
}

}  // namespace loco::verify
