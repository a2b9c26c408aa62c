#include "loco_sim/workloads/flows/flow.hpp"

#include <algorithm>

namespace loco::workloads::flows {

namespace {

/// Plays a list without time, to find which flows begin.
class Dry {
 public:
  explicit Dry(const FlowList& list) : list_(list), begun_(list.flows.size()), fired_(list.triggers.size()) {
    for (std::uint32_t f = 0; f < list.flows.size(); ++f)
      if (list.flows[f].start_ps != kTriggered) begin(f);
    while (!ended_.empty()) {
      const std::uint32_t flow = ended_.back();
      ended_.pop_back();
      const auto [first, last] = std::ranges::equal_range(list.fires, flow, {}, &Fire::flow);
      for (auto fire = first; fire != last; ++fire) this->fire(fire->trigger);
    }
  }

  [[nodiscard]] const std::vector<bool>& begun() const { return begun_; }
  [[nodiscard]] std::uint32_t fired(std::uint32_t trigger) const { return fired_[trigger]; }

 private:
  void begin(std::uint32_t flow) {
    if (begun_[flow]) return;
    begun_[flow] = true;
    ended_.push_back(flow);
  }

  void fire(std::uint32_t which) {
    for (const std::uint32_t f : list_.triggers[which].starts_when_fired(++fired_[which])) begin(f);
  }

  const FlowList& list_;
  std::vector<bool> begun_;
  std::vector<std::uint32_t> fired_;
  std::vector<std::uint32_t> ended_;
};

/// Follows the flows that a flow waits for, from one that never begins, until a flow repeats. Returns the flows of that
/// cycle, each before the one that it waits for. Empty if the search ends at a trigger that no waiting flow would fire.
std::vector<std::uint32_t> circle(const FlowList& list, const std::vector<bool>& begun) {
  std::vector<std::uint32_t> trigger_of(list.flows.size(), 0);
  for (std::uint32_t t = 0; t < list.triggers.size(); ++t)
    for (const std::uint32_t f : list.triggers[t].starts) trigger_of[f] = t;
  std::vector<std::uint32_t> fired_by(list.triggers.size(), 0);
  std::vector<bool> waits(list.triggers.size());
  for (const Fire& fire : list.fires) {
    if (begun[fire.flow]) continue;
    fired_by[fire.trigger] = fire.flow;
    waits[fire.trigger] = true;
  }
  std::vector<std::uint32_t> seen_at(list.flows.size(), 0);
  for (std::uint32_t first = 0; first < list.flows.size(); ++first) {
    std::vector<std::uint32_t> way;
    for (std::uint32_t f = first; !begun[f] && waits[trigger_of[f]]; f = fired_by[trigger_of[f]]) {
      if (seen_at[f] != 0) {
        const auto again = std::ranges::find(way, f);
        if (again == way.end()) break;  // an earlier search was here and found nothing
        return {again, way.end()};
      }
      seen_at[f] = 1;
      way.push_back(f);
    }
  }
  return {};
}

}  // namespace

std::vector<bool> will_begin(const FlowList& list) { return Dry(list).begun(); }

std::string never_begins(const FlowList& list) {
  const Dry dry(list);
  const auto stuck = std::ranges::find(dry.begun(), false);
  if (stuck == dry.begun().end()) return {};
  constexpr std::size_t kNamed = 8;
  const std::vector<std::uint32_t> round = circle(list, dry.begun());
  if (!round.empty()) {
    std::string text = "flows that wait for each other in a circle: ";
    for (std::size_t i = 0; i < std::min(round.size(), kNamed); ++i)
      text += std::to_string(list.flows[round[i]].id) + " waits for ";
    return text + (round.size() > kNamed ? "... " : std::to_string(list.flows[round.front()].id));
  }
  const auto flow = static_cast<std::uint32_t>(stuck - dry.begun().begin());
  for (std::uint32_t t = 0; t < list.triggers.size(); ++t) {
    const Trigger& trigger = list.triggers[t];
    if (std::ranges::find(trigger.starts, flow) == trigger.starts.end()) continue;
    return "flow " + std::to_string(list.flows[flow].id) + ", which never begins: trigger " +
           std::to_string(trigger.id) + " is fired " + std::to_string(dry.fired(t)) + " times";
  }
  return "flow " + std::to_string(list.flows[flow].id) + ", which never begins";
}

}  // namespace loco::workloads::flows
