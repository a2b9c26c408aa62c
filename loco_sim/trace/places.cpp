#include "loco_sim/trace/places.hpp"

#include <cstddef>
#include <fmt/format.h>

namespace loco {

namespace {

/// Where an index occurs: `record` is "call" or "subevent"; records count from 1.
struct Place {
  const char* record;
  std::size_t number;
};

void require_below(Place place, const char* field, std::size_t found, std::size_t count) {
  if (found >= count)
    throw ExportError(fmt::format("{} {}: {}: expected a number below {}, found {}", place.record, place.number, field,
                                  count, found));
}

void require_call(const trace::Trace& t, std::size_t i) {
  const trace::Call& call = t.calls[i];
  const Place here{"call", i + 1};
  require_below(here, "parent", call.parent, i + 1);
  require_below(here, "thread", call.thread, t.threads.size());
  require_below(here, "object", call.object, t.objects.size());
  require_below(here, "node_set", call.node_set, t.node_sets.size());
}

void require_subevent(const trace::Trace& t, std::size_t i) {
  const trace::Subevent& subevent = t.subevents[i];
  const Place here{"subevent", i + 1};
  if (subevent.call == 0 || subevent.call > t.calls.size())
    throw ExportError(
        fmt::format("subevent {}: call: expected 1 to {}, found {}", i + 1, t.calls.size(), subevent.call));
  require_below(here, "node", subevent.node, t.nodes);
  require_below(here, "peer", subevent.peer, t.nodes);
}

}  // namespace

void require_places(const trace::Trace& t) {
  for (std::size_t i = 0; i < t.threads.size(); ++i)
    require_below({"thread", i + 1}, "node", t.threads[i].node, t.nodes);
  for (std::size_t i = 0; i < t.calls.size(); ++i) require_call(t, i);
  for (std::size_t i = 0; i < t.subevents.size(); ++i) require_subevent(t, i);
}

}  // namespace loco
