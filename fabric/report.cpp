#include "fabric/report.hpp"

#include <algorithm>
#include <utility>

namespace loco::fabric {

std::vector<LinkUse> link_use(const Fabric& fabric, sim::Duration elapsed) {
  std::vector<LinkUse> uses;
  for (topology::LinkId id = 0; id < fabric.links(); ++id) {
    const topology::Link& link = fabric.graph().link(id);
    LinkUse use{fabric.graph().name(link.from), fabric.graph().name(link.to), fabric.counters(id), 0};
    if (elapsed.ps > 0) use.utilisation = use.counters.busy.seconds() / elapsed.seconds();
    uses.push_back(std::move(use));
  }
  return uses;
}

LinkCounters totals(const Fabric& fabric) {
  LinkCounters sum;
  for (topology::LinkId id = 0; id < fabric.links(); ++id) {
    const LinkCounters& c = fabric.counters(id);
    sum.packets += c.packets;
    sum.bytes += c.bytes;
    sum.busy += c.busy;
    sum.queue_max = std::max(sum.queue_max, c.queue_max);
    sum.drops += c.drops;
    sum.marks += c.marks;
    sum.pauses += c.pauses;
    sum.paused += c.paused;
  }
  return sum;
}

QueueSeries::QueueSeries(std::vector<topology::LinkId> links, sim::Duration period)
    : links_(std::move(links)), period_(period) {}

void QueueSeries::until(const Fabric& fabric, sim::SimTime now) {
  for (; next_ < now; next_ += period_) {
    Sample sample{.at = next_, .bytes = {}};
    for (const topology::LinkId link : links_) sample.bytes.push_back(fabric.queued(link, next_));
    samples_.push_back(std::move(sample));
  }
}

}  // namespace loco::fabric
