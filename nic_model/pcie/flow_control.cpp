#include "nic_model/pcie/flow_control.hpp"

#include <algorithm>

#include "nic_model/engine/engine.hpp"
#include "nic_model/pcie/tlps.hpp"
#include "probe/probe.hpp"

namespace loco::nic {

sim::Duration data_time(const HardwareProfile& p, std::uint64_t bytes) {
  const std::uint64_t step = p.pcie_read_completion.count;
  const std::uint64_t completions = bytes <= step ? 1 : (bytes + step - 1) / step;
  return sim::transmission_time({bytes + completions * p.pcie_completion_header.count}, p.pcie_rate);
}

sim::Duration Engine::path_time(const HardwareProfile& p, std::uint32_t bytes) {
  const sim::Duration pcie = data_time(p, bytes);
  return std::max(sim::transmission_time({bytes}, p.nic_path_rate), pcie) - pcie;
}

namespace {
bool read_credits(const HardwareProfile& p) {
  return p.pcie_nonposted_credits != 0 || p.pcie_completion_credits.count != 0;
}
}  // namespace

// Out of line, to keep the path short for the many profiles without bounds on credits.
[[gnu::noinline]] sim::SimTime PcieLink::take_read_credits(const HardwareProfile& p, std::uint64_t bytes) {
  return std::max(nonposted_credits_.take(1, p.pcie_nonposted_credits),
                  completion_credits_.take(bytes, p.pcie_completion_credits.count));
}

[[gnu::noinline]] void PcieLink::give_read_credits_back(const HardwareProfile& p, std::uint64_t bytes,
                                                        sim::SimTime from, sim::SimTime read, sim::SimTime there,
                                                        sim::SimTime gone) {
  nonposted_credits_.give_back(1, p.pcie_nonposted_credits, from, read + p.pcie_downstream, gone);
  completion_credits_.give_back(bytes, p.pcie_completion_credits.count, from, there, gone);
}

sim::SimTime PcieLink::take_request(const HardwareProfile& p, sim::SimTime now, std::uint64_t bytes, sim::SimTime due,
                                    sim::Duration reach, sim::Duration begin, sim::Duration walk) {
  const bool credits = read_credits(p);
  sim::SimTime since = tags_.take(1, p.pcie_tags);
  if (since > now) LOCO_PROBE(read_waits_for_tag);
  if (credits) since = std::max(since, take_read_credits(p, bytes));
  if (p.pcie_read_interval.ps != 0) {
    // It leaves when it is requested, or as soon as the DMA engine may issue it.
    since = std::max({since, issue_free_, std::min(due - reach, now)});
    issue_free_ = since + p.pcie_read_interval;
    busy_issue_ += p.pcie_read_interval;
  }
  sim::SimTime read = std::max(std::min(due, now + reach), since + reach);
  if (walk.ps != 0) read = begin_walk(p, now, read - walk, walk) + walk;
  const sim::SimTime link_free = std::max(asked_until_, down_free_);
  const sim::Duration data = bytes == p.pcie_mrrs.count ? times_.request_data : data_time(p, bytes);
  asked_until_ = std::max(link_free, read) + data;
  // The time until this read starts (`begin`) does not occupy the link, because another read that starts meanwhile does
  // not wait for it. So `begin` counts for how long the tag is held, but not for asked_until_.
  const sim::SimTime begun = std::max(read, std::min(due, now + begin + reach));
  const sim::SimTime there = std::max(asked_until_, begun + data) + p.pcie_downstream;
  const sim::SimTime gone = now - reach;
  const sim::SimTime from = read - reach;
  tags_.give_back(1, p.pcie_tags, from, there, gone);
  if (credits) give_read_credits_back(p, bytes, from, begun, there, gone);
  return std::max(due, read);
}

sim::SimTime PcieLink::take_posted(const HardwareProfile& p, sim::SimTime now, std::uint64_t bytes, sim::SimTime due,
                                   sim::Duration way) {
  const std::uint64_t credits = p.pcie_posted_credits.count;
  const sim::Duration reach = sim::transmission_time({bytes + p.pcie_write_header.count}, p.pcie_rate) + way;
  due = std::max(due, now);  // it may have waited behind others
  const sim::SimTime credit = posted_credits_.take(bytes, credits);
  if (credit > now) LOCO_PROBE(write_waits_for_credits);
  due = std::max(due, credit + reach);
  posted_credits_.give_back(bytes, credits, due - reach, due + p.pcie_downstream, now - reach);
  return due;
}

bool bounds_walks(const HardwareProfile& p) { return p.pcie_iommu && p.pcie_iommu_walks != 0; }

bool bounds_requests(const HardwareProfile& p) {
  return p.pcie_tags != 0 || p.pcie_read_interval.ps != 0 || read_credits(p) || bounds_walks(p);
}

sim::SimTime take_request(Engine& engine, NicId node, std::uint32_t key, std::uint64_t left, sim::SimTime due,
                          sim::Duration reach, sim::Duration begin) {
  const HardwareProfile& p = engine.profile(node);
  if (!bounds_requests(p) || engine.on_device(node, key)) return due;
  sim::Duration walk{};  // the part of `reach` that the IOMMU causes
  if (bounds_walks(p)) walk = reach - read_reach(engine, node) - place_penalty(engine, node, key, Accesses::read);
  const std::uint64_t bytes = std::min(left, p.pcie_mrrs.count);
  return link_of(engine, node).take_request(p, engine.now(), bytes, due, reach, begin, walk);
}

sim::SimTime take_posted(Engine& engine, NicId node, std::uint64_t bytes, sim::SimTime due, sim::Duration way) {
  return engine.links[node].take_posted(engine.profile(node), engine.now(), bytes, due, way);
}

}  // namespace loco::nic
