// Requester: from the doorbell until the NIC has the work requests (rdma-core, providers/mlx5, for their layout).
//
// One fetch of a queue pair is under way at a time, of all that has been rung for until then, up to nic.wqe_fetch_max.
// A BlueFlame doorbell carries its work request: if nothing is in front of it, there is nothing to fetch.
#include <algorithm>

#include "nic_model/pcie/flow_control.hpp"
#include "nic_model/pcie/pcie.hpp"
#include "nic_model/requester/requester.hpp"
#include "nic_model/verbs/queue_pair.hpp"

namespace loco::nic {

namespace {
/// Bytes that a work request takes in the send queue, in memory: an inline payload is part of it.
std::uint32_t queue_bytes(const HardwareProfile& p, const Wqe& wqe) {
  const std::uint64_t stride = p.nic_wqe_bytes.count;
  if (!wqe.inline_data) return static_cast<std::uint32_t>(stride);
  return static_cast<std::uint32_t>((inline_wqe_bytes(wqe) + stride - 1) / stride * stride);
}

void fetch_wqes(Engine& engine, QpId id) {
  Requester& rq = engine.state.qps[id].requester;
  if (rq.fetching || rq.fetched == rq.rung) return;
  const HardwareProfile& p = engine.profile();
  const std::uint32_t count = std::min(rq.rung - rq.fetched, p.nic_wqe_fetch_max);
  std::uint32_t bytes = 0;
  for (std::uint32_t i = 0; i < count; ++i) bytes += queue_bytes(p, rq.entry(rq.fetched + i).wqe);
  rq.fetching = true;
  issue_read(engine, rq.domain, {.kind = ReadKind::wqe_fetch, .where = id, .number = count}, bytes, {});
}
}  // namespace

std::uint64_t inline_wqe_bytes(const Wqe& wqe) {
  constexpr std::uint64_t kControlAndCount = 20;
  constexpr std::uint64_t kAddress = 16;
  return kControlAndCount + (wqe.opcode == Opcode::rdma_write ? kAddress : 0) + wqe.length;
}

void doorbell_arrived(Engine& engine, NodeId node) {
  State& s = engine.state;
  sim::Ring<Doorbell>& doorbells = s.hosts[node].doorbells;
  const Doorbell doorbell = doorbells.front();
  doorbells.pop_front();
  if (!doorbells.empty()) engine.schedule(kEventDoorbell, node, 0, doorbells.front().ready);
  ++s.counters.doorbells;
  QueuePair& qp = s.qps[doorbell.qp];
  Requester& rq = qp.requester;
  const bool carries_next = doorbell.blueflame && rq.fetched == rq.rung && doorbell.posted == rq.rung + 1;
  // Threads that share a queue pair may ring out of order; producer indices only grow.
  if (static_cast<std::int32_t>(doorbell.posted - rq.rung) > 0) rq.rung = doorbell.posted;
  if (flushes_sends(qp.state)) return flush_sends(engine, doorbell.qp);
  if (carries_next) {
    rq.fetched = rq.rung;
    return start(engine, doorbell.qp, {});
  }
  fetch_wqes(engine, doorbell.qp);
}

void wqe_fetch_may_execute(Engine& engine, const HeldRead& read) {
  const NodeId node = engine.state.qps[read.where].node;
  const HardwareProfile& p = engine.profile();
  const auto mrrs = static_cast<std::uint32_t>(p.pcie_mrrs.count);
  const sim::SimTime first = take_request(engine, node, read.key, read.bytes, read.due, read.reach);
  sim::SimTime last = first;
  for (std::uint32_t asked = mrrs; asked < read.bytes; asked += mrrs) {
    last = take_request(engine, node, read.key, read.bytes - asked, last, read.reach);
  }
  sim::SimTime link_free;
  sim::SimTime back;
  for (std::uint32_t done = 0; done < read.bytes;) {
    const std::uint32_t bytes = read_step(engine, 0, read.bytes, done);
    back = return_data(engine, node, bytes, link_free);
    done += bytes;
  }
  sim::SimTime there = back + (first - engine.now());
  // All data follow each other on the link, those of the last request not before it has had its tag.
  if (last > first) {
    const std::uint32_t rest = (read.bytes - 1) % mrrs + 1;
    there = std::max(there, last + data_time(p, rest) + p.pcie_downstream);
  }
  engine.schedule(kEventFetchWqe, read.where, read.number, there);
}

void wqes_fetched(Engine& engine, QpId id, std::uint64_t count) {
  QueuePair& qp = engine.state.qps[id];
  Requester& rq = qp.requester;
  rq.fetching = false;
  if (!rq.fetch_cancelled) rq.fetched += static_cast<std::uint32_t>(count);
  rq.fetch_cancelled = false;
  if (flushes_sends(qp.state)) return;
  start(engine, id, {});
  fetch_wqes(engine, id);
}

}  // namespace loco::nic
