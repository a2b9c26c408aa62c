#include "nic_model/pcie/flow_control.hpp"
#include "nic_model/records.hpp"

#include <algorithm>

namespace loco::nic {

sim::Duration data_time(const HardwareProfile& p, std::uint64_t bytes) {
  const std::uint64_t step = p.pcie_read_completion.count;
  const std::uint64_t completions = bytes <= step ? 1 : (bytes + step - 1) / step;
  return sim::transmission_time({bytes + completions * p.pcie_completion_header.count}, p.pcie_rate);
}

namespace {
// Few profiles bound credits; these are apart to keep the path of the others short.
bool read_credits(const HardwareProfile& p) {
  return p.pcie_nonposted_credits != 0 || p.pcie_completion_credits.count != 0;
}
[[gnu::noinline]] sim::SimTime take_read_credits(const HardwareProfile& p, Host& host, std::uint64_t bytes) {
  return std::max(host.nonposted_credits.take(1, p.pcie_nonposted_credits),
                  host.completion_credits.take(bytes, p.pcie_completion_credits.count));
}
[[gnu::noinline]] void give_read_credits_back(const HardwareProfile& p, Host& host, std::uint64_t bytes,
                                              sim::SimTime read, sim::SimTime there, sim::SimTime gone) {
  host.nonposted_credits.give_back(1, p.pcie_nonposted_credits, read + p.pcie_downstream, gone);
  host.completion_credits.give_back(bytes, p.pcie_completion_credits.count, there, gone);
}
}  // namespace

sim::SimTime take_request(Engine& engine, NodeId node, std::uint32_t key, std::uint64_t left, sim::SimTime due,
                          sim::Duration reach, sim::Duration begin) {
  const HardwareProfile& p = engine.profile();
  const bool credits = read_credits(p);
  if ((p.pcie_tags == 0 && !credits) || engine.on_device(key)) return due;
  const std::uint64_t bytes = std::min(left, p.pcie_mrrs.count);
  Host& host = engine.hosts[node];
  sim::SimTime since = host.tags.take(1, p.pcie_tags);
  if (credits) since = std::max(since, take_read_credits(p, host, bytes));
  const sim::SimTime read = std::max(std::min(due, engine.now() + reach), since + reach);
  const sim::SimTime link_free = std::max(host.asked_until, host.downstream_free);
  const sim::Duration data = data_time(p, bytes);
  host.asked_until = std::max(link_free, read) + data;
  // Its own start (`begin`) does not keep the link busy: who asks meanwhile, and begins at once, is not behind it. So
  // that counts for how long its own tag is held, and not for asked_until.
  const sim::SimTime begun = std::max(read, std::min(due, engine.now() + begin + reach));
  const sim::SimTime there = std::max(host.asked_until, begun + data) + p.pcie_downstream;
  const sim::SimTime gone = engine.now() - reach;
  host.tags.give_back(1, p.pcie_tags, there, gone);
  if (credits) give_read_credits_back(p, host, bytes, begun, there, gone);
  return std::max(due, read);
}

sim::SimTime take_posted(Engine& engine, NodeId node, std::uint64_t bytes, sim::SimTime due, sim::Duration way) {
  const HardwareProfile& p = engine.profile();
  const std::uint64_t credits = p.pcie_posted_credits.count;
  const sim::Duration reach = sim::transmission_time({bytes + p.pcie_write_header.count}, p.pcie_rate) + way;
  Window& window = engine.hosts[node].posted_credits;
  due = std::max(due, engine.now());  // it may have waited behind others
  due = std::max(due, window.take(bytes, credits) + reach);
  window.give_back(bytes, credits, due + p.pcie_downstream, engine.now() - reach);
  return due;
}

}  // namespace loco::nic
