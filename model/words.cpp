#include "model/words.hpp"

#include <fmt/format.h>

#include "model/check.hpp"
#include "model/stamps.hpp"
#include "model/trace_index.hpp"
#include "text/shown.hpp"

namespace loco::model {
namespace {

std::string word_text(const Subevent& s) { return fmt::format("{}:{:#x}", s.node, s.address); }

/// The words that a call of the base library touches, from its first subevents: "2:0x1040 <- 1:0x80".
std::string locations(const Trace& trace, CallId call) {
  std::string read, written;
  // Subevents of one call are created close together; a trace of reports is small, so a scan is good enough.
  for (const Subevent& s : trace.subevents) {
    if (s.call != call) continue;
    if (is_write(s.stamp) && written.empty()) written = word_text(s);
    if (is_read(s.stamp) && read.empty()) read = word_text(s);
  }
  if (written.empty()) return read;
  if (read.empty() || read == written) return written;
  return written + " <- " + read;
}

std::string set_text(const Trace& trace, std::uint32_t set) {
  constexpr std::size_t kAll = 16;
  constexpr std::size_t kFirst = 10;
  const auto& nodes = trace.node_sets[set];
  if (nodes.size() <= kAll) return fmt::format("{{{}}}", fmt::join(nodes, ", "));
  return fmt::format("{{{} and {} more}}", fmt::join(nodes.begin(), nodes.begin() + kFirst, ", "),
                     nodes.size() - kFirst);
}

/// Does the argument of the method mean something to a reader?
bool has_argument(Method m) {
  switch (m) {
    case Method::write:
    case Method::cas:
    case Method::sv_write:
    case Method::submit:
    case Method::remote_faa:
    case Method::remote_cas:
    case Method::msw_write:
    case Method::acquire:
    case Method::release:
    case Method::kv_lookup:
    case Method::kv_insert:
    case Method::kv_update:
    case Method::kv_delete:
      return true;
    default:
      return false;
  }
}

/// Of a lock's class, if it is not the strong one. The node of a lock to a node is among the arguments.
std::string_view class_text(std::uint64_t lock_class) {
  if (lock_class == trace::kLockWeak) return ", weak";
  return lock_class == trace::kLockToNode ? ", to a node" : "";
}

}  // namespace

std::string thread_text(const Trace& trace, std::uint32_t thread) {
  const Thread& t = trace.threads[thread];
  return t.name.empty() ? fmt::format("thread {}@{}", thread, t.node)
                        : fmt::format("{}@{}", text::shown(t.name), t.node);
}

std::string call_text(const Trace& trace, CallId id) {
  const Call& c = trace.calls[id - 1];
  std::string inside;
  const auto append = [&](const std::string& part) {
    if (part.empty()) return;
    if (!inside.empty()) inside += ", ";
    inside += part;
  };
  append(text::shown(trace.objects[c.object].name));
  if (c.library == Library::rdmawait) append(locations(trace, id));
  if (c.node_set != 0) append(set_text(trace, c.node_set));
  if (has_argument(c.method)) append(std::to_string(c.argument));
  if (c.method == Method::wait || c.method == Method::sv_wait || c.method == Method::msw_wait)
    append(std::to_string(c.work_id));
  std::string out = fmt::format("{}({})", name(c.method), inside);
  if (c.method == Method::release) return out + std::string(class_text(c.work_id));
  if (c.work_id != 0 && c.method != Method::wait && c.method != Method::sv_wait && c.method != Method::msw_wait)
    out += fmt::format(" as {}", c.work_id);
  return out;
}

std::string stamp_text(Stamp stamp, std::uint32_t peer) {
  return is_family(stamp) ? fmt::format("{}_{}", name(stamp), peer) : std::string(name(stamp));
}

std::string access_text(const Trace& trace, SubeventId id) {
  const Subevent& s = trace.subevents[id - 1];
  std::string out = stamp_text(s.stamp, s.peer);
  if (is_unbegun(s)) {
    if (is_access(s.stamp)) out += (is_read(s.stamp) ? " of " : " to ") + word_text(s);
    return out + (is_given_up(s) ? ", which had failed" : ", which had not begun when the run ended");
  }
  if (s.stamp == Stamp::aCAS) return out + fmt::format(" replaces {} = {} by {}", word_text(s), s.value_read, s.value);
  if (is_read(s.stamp)) return out + fmt::format(" reads {} = {}", word_text(s), s.value);
  if (is_write(s.stamp)) return out + fmt::format(" writes {} = {}", word_text(s), s.value);
  return out;
}

std::string subevent_text(const Trace& trace, SubeventId id) {
  const Call& c = trace.calls[trace.subevents[id - 1].call - 1];
  return thread_text(trace, c.thread) + ": " + access_text(trace, id);
}

}  // namespace loco::model
