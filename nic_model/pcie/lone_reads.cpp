#include "nic_model/pcie/lone_reads.hpp"

#include <algorithm>

#include "nic_model/pcie/flow_control.hpp"
#include "nic_model/pcie/pcie.hpp"
#include "nic_model/pcie/tlps.hpp"

namespace loco::nic {

LoneReads::LoneReads(const Engine& engine, NicId node, sim::Duration time)
    : node_(node), now_(engine.now()), time_(time), link_(engine.links[node]) {}

void LoneReads::carry_on(Engine& engine, ReadBurst read) {
  const HardwareProfile& p = engine.profile(node_);
  const ReadWay way = way_of_read(engine, node_, read.key);
  const sim::SimTime until = now_ + time_;
  sim::SimTime sent{};
  const std::uint32_t before = read.done;
  while (read.done != read.length && read.next < until) {
    const std::uint32_t bytes = read_step(engine, node_, read.address, read.length, read.done);
    read.done += bytes;
    newest_step_ = read.next;
    read.next = carry_completion(p, link_, bytes, completion_time(p, link_, bytes), {read.key, read.done, read.length},
                                 way, read.next, requests_, sent);
    ++completions_;
  }
  if (read.done != before) {
    read.there = sent + p.pcie_downstream + (way.path == nullptr ? sim::Duration{} : way.path->back);
  }
  bytes_ += read.done - before;
  reads_.push_back(read);
}

void LoneReads::begin(Engine& engine, ReadBurst read, sim::SimTime due, sim::Duration reach) {
  const HardwareProfile& p = engine.profile(node_);
  if (bounds_requests(p)) {
    const std::uint64_t bytes = std::min<std::uint64_t>(read.length, p.pcie_mrrs.count);
    due = link_.take_request(p, newest_step_, bytes, due, reach, p.nic_wqe_start);
  }
  read.next = std::max(due, newest_step_);
  carry_on(engine, read);
}

void LoneReads::commit(Engine& engine) const {
  engine.links[node_].take_over(link_, now_, time_);
  count_completions(engine, node_, completions_, bytes_, requests_);
  engine.kernel.count_steps(completions_);
}

}  // namespace loco::nic
