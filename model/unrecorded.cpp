// Operations whose missing subevents a trace does not list: see check.hpp.
#include <cstdint>
#include <vector>

#include "model/check.hpp"
#include "model/trace.hpp"

namespace loco::model {
namespace {

/// Of one operation: subevents that read, that write on the other node, that write here. Those not begun count.
struct Parts {
  std::uint32_t local_reads = 0, remote_reads = 0, remote_writes = 0, local_writes = 0;
};

/// A compare-and-swap may have compared in vain: no remote write is missed.
bool is_whole(Method method, const Parts& p) {
  switch (method) {
    case Method::put:
      return p.local_reads > 0 && p.remote_writes >= p.local_reads;
    case Method::get:
    case Method::remote_cas:
      return p.remote_reads > 0 && p.local_writes >= p.remote_reads;
    case Method::remote_faa:
      return p.remote_reads > 0 && p.local_writes >= p.remote_reads && p.remote_writes >= p.remote_reads;
    default:
      return true;
  }
}

}  // namespace

std::size_t unrecorded_operations(const Trace& trace) {
  std::vector<Parts> parts(trace.calls.size());
  for (const Subevent& s : trace.subevents) {
    if (s.call == 0 || s.call > parts.size()) continue;
    Parts& p = parts[s.call - 1];
    if (s.stamp == Stamp::aNLR) ++p.local_reads;
    if (s.stamp == Stamp::aNRR || s.stamp == Stamp::aNAR) ++p.remote_reads;
    if (s.stamp == Stamp::aNRW) ++p.remote_writes;
    if (s.stamp == Stamp::aNLW) ++p.local_writes;
  }
  std::size_t open = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Call& c = trace.calls[i];
    if (c.returned && c.result == 0 && !is_whole(c.method, parts[i])) ++open;
  }
  return open;
}

}  // namespace loco::model
