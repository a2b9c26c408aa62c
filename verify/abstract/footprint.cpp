#include "verify/abstract/footprint.hpp"

#include <algorithm>

#include "verify/static_facts.hpp"

namespace loco::verify::abstract {

namespace {

void mark(std::vector<bool>& variables, const Linear& linear) {
  for (const Term& t : linear.terms) variables[t.variable] = true;
}

void mark_reads(std::vector<bool>& variables, const Command& command) {
  for (const Linear& guard : command.guards) mark(variables, guard);
  for (const Assignment& a : command.assignments) {
    if (a.value) mark(variables, *a.value);
  }
}

}  // namespace

Footprint::Footprint(const Reduced& reduced, const FlushMask& flushes) : reduced_(&reduced), flushes_(&flushes) {
  for (std::uint32_t p = 0; p < reduced.steps_at.size(); ++p) {
    const std::size_t locations = reduced.steps_at[p].size();
    before_.emplace_back(locations);
    alone_.emplace_back(locations, false);
    const std::vector<bool> heads = loop_heads(reduced.program->processes[p]);  // where loops close
    for (std::uint32_t l = 0; l < locations; ++l) {
      Members channels(reduced.channels.size(), false);
      for (const std::uint32_t s : reduced.steps_at[p][l]) {
        const Accesses a = accesses(reduced.cpu[s]);
        std::vector<bool> touched = a.read;
        for (std::size_t v = 0; v < touched.size(); ++v) touched[v] = touched[v] || a.written[v];
        const Members touching_these = touching(touched);
        for (std::size_t c = 0; c < channels.size(); ++c)
          channels[c] = channels[c] || touching_these[c] || a.channels[c];
      }
      before_[p][l] = closed(std::move(channels));
      alone_[p][l] = may_go_alone(p, l) && !heads[l];
    }
  }
  before_always_ = closed(touching(violation_variables(false)));
  before_final_ = closed(touching(violation_variables(true)));
}

Members Footprint::waits(std::uint32_t flush) const {
  const Program& program = *reduced_->program;
  Members result;
  for (const Channel& c : reduced_->channels)
    result.push_back(awaits(program.flushes[flush], program.remotes[c.remote]));
  return result;
}

Footprint::Accesses Footprint::accesses(const CpuStep& step) const {
  Accesses a{std::vector<bool>(reduced_->variables, false), std::vector<bool>(reduced_->variables, false),
             Members(reduced_->channels.size(), false)};
  mark_reads(a.read, step.command);
  for (const Assignment& w : step.command.assignments) a.written[w.target] = true;
  if (step.issues) {
    a.channels[*step.issues] = true;
    for (const Operand& o : reduced_->channels[*step.issues].operands) a.read[o.source] = true;
  }
  if (step.flush && (*flushes_)[*step.flush]) a.channels = waits(*step.flush);
  a.read[kZero] = false;
  return a;
}

/// The channels that write one of these.
Members Footprint::touching(const std::vector<bool>& variables) const {
  Members result;
  for (const Channel& c : reduced_->channels) result.push_back(c.target != kZero && variables[c.target]);
  return result;
}

/// With the channels that write what these take in or read, or write what they write, that fill them, or that they wait
/// for.
Members Footprint::closed(Members channels) const {
  for (bool grown = true; grown;) {
    grown = false;
    std::vector<bool> variables(reduced_->variables, false);
    for (std::size_t c = 0; c < channels.size(); ++c) {
      if (!channels[c]) continue;
      variables[reduced_->channels[c].target] = true;
      for (const Operand& o : reduced_->channels[c].operands) variables[o.source] = true;
    }
    for (const NicStep& s : reduced_->nic) {
      if (!channels[s.channel]) continue;
      mark_reads(variables, s.command);
      if (s.result) mark(variables, *s.result);
    }
    variables[kZero] = false;
    Members more = touching(variables);
    for (std::size_t c = 0; c < channels.size(); ++c) {
      const auto& next = reduced_->channels[c].next;
      if (next && channels[*next]) more[c] = true;
    }
    for (const auto& [first, second] : reduced_->ordered) more[first] = more[first] || channels[second];
    for (std::size_t c = 0; c < channels.size(); ++c) {
      if (more[c] && !channels[c]) channels[c] = grown = true;
    }
  }
  return channels;
}

std::vector<bool> Footprint::violation_variables(bool final) const {
  std::vector<bool> variables(reduced_->variables, false);
  for (const Violation& v : reduced_->violations) {
    if (v.final != final) continue;
    for (const Linear& atom : v.where.atoms) mark(variables, atom);
  }
  return variables;
}

/// Nobody else touches what the steps there touch, no `always` property sees them, and one of them can always be taken
/// once the channels before it are empty.
bool Footprint::may_go_alone(std::uint32_t p, std::uint32_t l) const {
  const auto& steps = reduced_->steps_at[p][l];
  if (steps.empty()) return false;
  const Process& process = reduced_->program->processes[p];
  const auto& edges = process.locations[l].edges;
  const verify::Action& first = process.edges[edges.front()].action;
  if (edges.size() == 1 && first.kind == ActionKind::kAssume && first.expression) return false;
  const std::vector<bool> seen = violation_variables(false);
  for (const std::uint32_t s : steps) {
    const CpuStep& step = reduced_->cpu[s];
    for (const Violation& v : reduced_->violations) {
      if (v.final) continue;
      for (const Standing& at : v.where.standing) {
        if (at.process == p && (at.location == step.from || at.location == step.to)) return false;
      }
    }
    const Accesses a = accesses(step);
    for (Variable v = 0; v < reduced_->variables; ++v) {
      if (a.written[v] && seen[v]) return false;
      const bool shared = v >= 1 && v < reduced_->local(0);
      if (!shared || (!a.read[v] && !a.written[v])) continue;
      for (const RemoteStatement& r : reduced_->program->remotes) {
        if (r.process == p) continue;
        const auto written = writes(r);
        const auto read = reads(r);
        if (std::count(written.begin(), written.end(), v - 1) != 0) return false;
        if (a.written[v] && std::count(read.begin(), read.end(), v - 1) != 0) return false;
      }
    }
  }
  return true;
}

std::vector<std::vector<std::vector<bool>>> live_locals(const Reduced& reduced) {
  std::vector<std::vector<std::vector<bool>>> live;
  std::vector<bool> in_properties(reduced.variables, false);
  for (const Violation& v : reduced.violations) {
    for (const Linear& atom : v.where.atoms) mark(in_properties, atom);
  }
  for (const auto& locations : reduced.steps_at) live.emplace_back(locations.size(), in_properties);
  for (bool changed = true; changed;) {
    changed = false;
    for (auto step = reduced.cpu.rbegin(); step != reduced.cpu.rend(); ++step) {
      std::vector<bool> here = live[step->process][step->to];
      for (const Assignment& a : step->command.assignments) here[a.target] = in_properties[a.target];
      mark_reads(here, step->command);
      std::vector<bool>& before = live[step->process][step->from];
      for (Variable v = 0; v < reduced.variables; ++v) {
        if (here[v] && !before[v]) before[v] = changed = true;
      }
    }
  }
  return live;
}

}  // namespace loco::verify::abstract
