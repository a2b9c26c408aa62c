// The PCIe link of a node. Interface: link.hpp; tags and credits: flow_control.cpp.
#include "nic_model/pcie/link.hpp"

#include <algorithm>

#include "nic_model/engine/check.hpp"
#include "nic_model/pcie/flow_control.hpp"

namespace loco::nic {

namespace {
KeyCache<std::uint64_t> iommu_buffer(const HardwareProfile& p) {
  constexpr std::uint32_t kWays = 4;
  const std::uint64_t pages = p.pcie_iommu ? p.pcie_iommu_window.count / kIommuPage.count : 0;
  return {static_cast<std::uint32_t>(pages), kWays};
}

TlpTimes tlp_times(const HardwareProfile& p) {
  const auto takes = [&p](sim::Bytes bytes) { return sim::transmission_time(bytes, p.pcie_rate); };
  const sim::Duration read_header = takes(p.pcie_read_header);
  return {.read_header = read_header,
          .completion = takes(p.pcie_read_completion + p.pcie_completion_header),
          .write = takes(p.pcie_mps + p.pcie_write_header),
          .request_data = data_time(p, p.pcie_mrrs.count),
          .reach = read_header + p.pcie_upstream + p.pcie_read_access};
}
}  // namespace

PcieLink::PcieLink(const HardwareProfile& profile) : times_(tlp_times(profile)), translated_(iommu_buffer(profile)) {}

void PcieLink::take_over(const PcieLink& later, sim::SimTime now, sim::Duration earlier) {
  // Of what is over, only that it is over counts.
  up_free_ = std::max(later.up_free_ - earlier, std::min(up_free_, now));
  down_free_ = std::max(later.down_free_ - earlier, std::min(down_free_, now));
  issue_free_ = later.issue_free_ - earlier;
  asked_until_ = later.asked_until_ - earlier;
  tags_.take_over(later.tags_, earlier);
  nonposted_credits_.take_over(later.nonposted_credits_, earlier);
  completion_credits_.take_over(later.completion_credits_, earlier);
}

bool PcieLink::push_doorbell(const Doorbell& doorbell) {
  doorbells_.push_back(doorbell);
  return doorbells_.size() == 1;
}

Doorbell PcieLink::pop_doorbell() {
  const Doorbell oldest = doorbells_.front();
  doorbells_.pop_front();
  return oldest;
}

bool PcieLink::translates(Address first_page, Address last_page) {
  bool held = true;
  for (Address page = first_page; page <= last_page; ++page) held &= translated_.touch(page);
  return held;
}

std::uint32_t PcieLink::begin_probe(const Probe& probe) {
  const std::uint32_t index = probes_.acquire();
  probes_[index] = probe;
  return index;
}

sim::SimTime PcieLink::begin_context_fetch(std::uint32_t most, sim::SimTime now, sim::Duration round_trip) {
  const sim::SimTime begin = std::max(now, context_fetches_.take(1, most));
  context_fetches_.give_back(1, most, begin, begin + round_trip, now);
  return begin;
}

sim::SimTime PcieLink::begin_walk(const HardwareProfile& p, sim::SimTime now, sim::SimTime from, sim::Duration walk) {
  const sim::SimTime begin = std::max(from, walks_.take(1, p.pcie_iommu_walks));
  walks_.give_back(1, p.pcie_iommu_walks, begin, begin + walk, now);
  return begin;
}

void PcieLink::hash(Hasher& h) const {
  h.add_all(doorbells_.size(), probes_.in_use(), words_read_[0], words_read_[1]);
  for (std::size_t i = 0; i < doorbells_.size(); ++i) {
    h.add_all(doorbells_[i].qp, doorbells_[i].posted, doorbells_[i].blueflame);
  }
}

void PcieLink::check(NicId node, const HardwareProfile& p, sim::SimTime now) const {
  const Check check(now, "PCIe link", "node", node);
  check.holds(busy_up_.ps <= up_free_.ps && busy_down_.ps <= down_free_.ps,
              "a direction was busy no longer than until it is free");
  check.holds(tags_.taken() <= p.pcie_tags || p.pcie_tags == 0, "no more tags are taken than there are");
  check.holds(nonposted_credits_.taken() <= p.pcie_nonposted_credits, "no more credits for reads than there are");
  check.holds(posted_credits_.taken() <= p.pcie_posted_credits.count, "no more credits for writes than there are");
  check.holds(completion_credits_.taken() <= p.pcie_completion_credits.count, "no more data than there is room for");
  check.holds(walks_.taken() <= p.pcie_iommu_walks, "the IOMMU walks no more tables at once than it can");
  check.holds(context_fetches_.taken() <= p.nic_context_fetches, "no more contexts are fetched at once than may be");
  for (std::size_t i = 1; i < doorbells_.size(); ++i) {
    check.holds(doorbells_[i].qp != doorbells_[i - 1].qp ||
                    static_cast<std::int32_t>(doorbells_[i].posted - doorbells_[i - 1].posted) != 0,
                "a doorbell says something that the one before it did not");
  }
}

}  // namespace loco::nic
