#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ostream>

#include "text/shown.hpp"
#include "trace/file.hpp"
#include "trace/names.hpp"

namespace loco::trace {
namespace {

/// Text between double quotes, with what would break a line or the quotes escaped.
std::string quoted(const std::string& text) {
  std::string plain;
  for (const char c : text) plain += c == '"' ? "\\x22" : c == '\\' ? "\\x5c" : std::string(1, c);
  return "\"" + text::shown(plain) + "\"";
}

std::string time(Seq s) { return s == kNever ? "never" : std::to_string(s); }

std::string call_line(const Call& c, std::size_t id) {
  return fmt::format(
      "call {} parent={} thread={} {}.{} returned={} object={} node_set={} work_id={} argument={} result={} begin={} "
      "end={} begin_ps={} end_ps={}\n",
      id, c.parent, c.thread, name(c.library), name(c.method), c.returned ? 1 : 0, c.object, c.node_set, c.work_id,
      c.argument, c.result, time(c.begin), time(c.end), c.begin_ps, c.end_ps);
}

std::string subevent_line(const Subevent& s, std::size_t id) {
  return fmt::format(
      "subevent {} call={} {} peer={} node={} address={:#x} value={} value_read={} source={} overwrote={} start={} "
      "finish={} "
      "start_ps={} finish_ps={}\n",
      id, s.call, name(s.stamp), s.peer, s.node, s.address, s.value, s.value_read, s.source, s.overwrote, time(s.start),
      time(s.finish), s.start_ps, s.finish_ps);
}

std::string activity_line(const Activity& a, std::size_t id) {
  return fmt::format("activity {} {} opcode={} node={} peer={} qp={} number={} bytes={} start_ps={} finish_ps={}\n", id,
                     name(a.kind), a.opcode, a.node, a.peer, a.qp, a.number, a.bytes, a.start_ps, a.finish_ps);
}

}  // namespace

void write_trace_text(std::ostream& out, const Trace& t) {
  out << fmt::format("trace version={} scenario={} seed={} nodes={}\n", kTraceVersion, quoted(t.scenario), t.seed,
                     t.nodes);
  for (std::size_t i = 0; i < t.threads.size(); ++i)
    out << fmt::format("thread {} node={} name={}\n", i, t.threads[i].node, quoted(t.threads[i].name));
  for (std::size_t i = 0; i < t.objects.size(); ++i)
    out << fmt::format("object {} name={} transitive={} participants={{{}}}\n", i, quoted(t.objects[i].name),
                       t.objects[i].transitive ? 1 : 0, fmt::join(t.objects[i].participants, ","));
  for (std::size_t i = 0; i < t.node_sets.size(); ++i)
    out << fmt::format("node_set {} {{{}}}\n", i, fmt::join(t.node_sets[i], ","));
  for (std::size_t i = 0; i < t.calls.size(); ++i) out << call_line(t.calls[i], i + 1);
  for (std::size_t i = 0; i < t.subevents.size(); ++i) out << subevent_line(t.subevents[i], i + 1);
  for (std::size_t i = 0; i < t.activities.size(); ++i) out << activity_line(t.activities[i], i + 1);
}

}  // namespace loco::trace
