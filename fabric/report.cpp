#include "fabric/report.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace loco::fabric {

std::vector<LinkUse> link_use(const PacketNetwork& network, sim::Duration elapsed) {
  std::vector<LinkUse> uses;
  for (topology::LinkId id = 0; id < network.links(); ++id) {
    const topology::Link& link = network.graph().link(id);
    LinkUse use{network.graph().name(link.from), network.graph().name(link.to), network.counters(id), 0};
    if (elapsed.ps > 0) use.utilisation = use.counters.busy.seconds() / elapsed.seconds();
    uses.push_back(std::move(use));
  }
  return uses;
}

LinkCounters totals(const PacketNetwork& network) {
  LinkCounters sum;
  for (topology::LinkId id = 0; id < network.links(); ++id) {
    const LinkCounters& c = network.counters(id);
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

std::vector<topology::LinkId> pause_cycle(const PacketNetwork& network) {
  struct Step {
    topology::LinkId link;
    std::vector<topology::LinkId> next;
  };
  std::vector<bool> seen(network.links());
  for (const topology::LinkId first : network.paused_links()) {
    if (seen[first]) continue;
    seen[first] = true;
    std::vector<Step> path = {{first, network.waits_for(first)}};
    while (!path.empty()) {
      if (path.back().next.empty()) {
        path.pop_back();
        continue;
      }
      const topology::LinkId link = path.back().next.back();
      path.back().next.pop_back();
      if (const auto begin = std::ranges::find(path, link, &Step::link); begin != path.end()) {
        std::vector<topology::LinkId> cycle;
        for (auto step = begin; step != path.end(); ++step) cycle.push_back(step->link);
        return cycle;
      }
      if (seen[link]) continue;
      seen[link] = true;
      path.push_back({link, network.waits_for(link)});
    }
  }
  return {};
}

std::string cycle_text(const PacketNetwork& network, const std::vector<topology::LinkId>& cycle) {
  constexpr std::size_t kNamed = 16;
  const auto name = [&](topology::LinkId id) {
    const topology::Link& link = network.graph().link(id);
    return network.graph().name(link.from) + "-" + network.graph().name(link.to);
  };
  std::string text;
  for (std::size_t i = 0; i < std::min(cycle.size(), kNamed); ++i) {
    text += name(cycle[i]) + (i == 0 ? " waits for " : ", that for ");
  }
  if (cycle.size() > kNamed) text += fmt::format("{} more, the last of them for ", cycle.size() - kNamed);
  return cycle.empty() ? text : text + name(cycle.front());
}

QueueSeries::QueueSeries(std::vector<topology::LinkId> links, sim::Duration period)
    : links_(std::move(links)), period_(period) {}

void QueueSeries::until(const PacketNetwork& network, sim::SimTime now) {
  for (; next_ < now; next_ += period_) {
    Sample sample{.at = next_, .bytes = {}};
    for (const topology::LinkId link : links_) sample.bytes.push_back(network.queued(link, next_));
    samples_.push_back(std::move(sample));
  }
}

LinkSeries::LinkSeries(sim::Duration interval) : interval_(interval) {}

void LinkSeries::until(const PacketNetwork& network, sim::SimTime now) {
  links_ = network.links();
  for (; next_ < now; next_ += interval_) {
    if (samples_ == kSamplesMax) thin();
    for (topology::LinkId link = 0; link < links_; ++link) {
      const PacketNetwork::Look look = network.look(link, next_);
      busy_ps_.push_back(look.busy.ps);
      queued_bytes_.push_back(look.queued);
    }
    ++samples_;
  }
}

void LinkSeries::thin() {
  for (std::size_t i = 0; 2 * i < samples_; ++i) {
    std::copy_n(busy_ps_.begin() + static_cast<std::ptrdiff_t>(2 * i * links_), links_,
                busy_ps_.begin() + static_cast<std::ptrdiff_t>(i * links_));
    std::copy_n(queued_bytes_.begin() + static_cast<std::ptrdiff_t>(2 * i * links_), links_,
                queued_bytes_.begin() + static_cast<std::ptrdiff_t>(i * links_));
  }
  samples_ = (samples_ + 1) / 2;
  busy_ps_.resize(samples_ * links_);
  queued_bytes_.resize(samples_ * links_);
  interval_ = interval_ + interval_;
  next_ = sim::SimTime{static_cast<std::int64_t>(samples_) * interval_.ps};
}

}  // namespace loco::fabric
