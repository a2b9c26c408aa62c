#include "loco_sim/trace/graph.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <ostream>
#include <string>
#include <vector>

#include "loco_sim/trace/places.hpp"
#include "model/check.hpp"
#include "model/stamps.hpp"

namespace loco {

namespace {

using trace::Stamp;
using trace::Subevent;

bool by_nic(const Subevent& s) { return s.stamp >= Stamp::aNLR && s.stamp <= Stamp::aNLW; }

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string label(const trace::Trace& trace, const Subevent& s) {
  const trace::Call& call = trace.calls[s.call - 1];
  std::string access = fmt::format("{}", trace::name(s.stamp));
  const bool fence = s.stamp == Stamp::aMF || s.stamp == Stamp::aWT || s.stamp == Stamp::aRF || s.stamp == Stamp::aGF;
  if (!fence) access += fmt::format(" {}:{:#x} = {}", s.node, s.address, s.value);
  return fmt::format("{}\\n{}", trace::name(call.method), access);
}

}  // namespace

std::size_t write_graph(std::ostream& out, const trace::Trace& trace, std::size_t limit) {
  require_places(trace);
  const std::size_t shown = std::min(limit, trace.subevents.size());
  const auto drawn = [&](trace::SubeventId id) { return id > 0 && id <= shown; };
  out << "digraph execution {\n  node [shape=box, fontname=monospace, fontsize=10];\n  edge [fontsize=9];\n";
  std::vector<std::vector<std::size_t>> of_threads(trace.threads.size());
  for (std::size_t i = 0; i < shown; ++i) of_threads[trace.calls[trace.subevents[i].call - 1].thread].push_back(i);
  for (std::size_t thread = 0; thread < trace.threads.size(); ++thread) {
    out << fmt::format("  subgraph cluster_{} {{\n    label=\"{}@{}\";\n", thread, escaped(trace.threads[thread].name),
                       trace.threads[thread].node);
    // calls are numbered in program order, accesses in the order of their start
    std::vector<std::size_t>& order = of_threads[thread];
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return trace.subevents[a].call < trace.subevents[b].call; });
    for (std::size_t k = 0; k < order.size(); ++k) {
      const Subevent& s = trace.subevents[order[k]];
      out << fmt::format("    s{} [label=\"{}\"{}];\n", order[k] + 1, label(trace, s),
                         by_nic(s) ? ", style=dashed" : "");
      if (k > 0) out << fmt::format("    s{} -> s{} [color=gray60];\n", order[k - 1] + 1, order[k] + 1);
    }
    out << "  }\n";
  }
  for (std::size_t i = 0; i < shown; ++i) {
    const Subevent& s = trace.subevents[i];
    if (drawn(s.source)) out << fmt::format("  s{} -> s{} [label=rf, color=\"#009e73\"];\n", s.source, i + 1);
    if (drawn(s.overwrote)) out << fmt::format("  s{} -> s{} [label=mo, color=\"#0072b2\"];\n", s.overwrote, i + 1);
  }
  out << "}\n";
  return trace.subevents.size();
}

}  // namespace loco
