// Requester: from the doorbell until the NIC has the work requests (rdma-core, providers/mlx5, for their layout).
//
// A queue pair has one fetch in flight at a time, of everything announced so far, up to nic.wqe_fetch_max. A BlueFlame
// doorbell carries its work request, which needs no fetch if none is ahead of it.
#include <algorithm>

#include "nic_model/pcie/flow_control.hpp"
#include "nic_model/pcie/pcie.hpp"
#include "nic_model/requester/requester.hpp"
#include "nic_model/requester/wqe.hpp"
#include "probe/probe.hpp"

namespace loco::nic {

namespace {
/// Bytes of a work request in the send queue's memory, including an inline payload or the elements of a list.
std::uint32_t queue_bytes(const Engine& engine, NicId nic, const Wqe& wqe) {
  const std::uint64_t stride = engine.profile(nic).nic_wqe_bytes.count;
  if (is_scattered(wqe.local)) {
    const std::uint64_t bytes = list_wqe_bytes(wqe, elements_of(engine, wqe.local, wqe.length));
    return static_cast<std::uint32_t>((bytes + stride - 1) / stride * stride);
  }
  if (!wqe.inline_data) return static_cast<std::uint32_t>(stride);
  return static_cast<std::uint32_t>((inline_wqe_bytes(wqe) + stride - 1) / stride * stride);
}
}  // namespace

void Requester::fetch_wqes(Engine& engine, QpId id) {
  if (fetching_ || fetched_ == rung_) return;
  const NicId nic = engine.connections[id].node();
  const std::uint32_t count = std::min(rung_ - fetched_, engine.profile(nic).nic_wqe_fetch_max);
  std::uint32_t bytes = 0;
  for (std::uint32_t i = 0; i < count; ++i) bytes += queue_bytes(engine, nic, entry(fetched_ + i).wqe);
  fetching_ = true;
  issue_read(engine, domain_, {.kind = ReadKind::wqe_fetch, .where = id, .number = count}, bytes, {});
}

void Requester::ring(Engine& engine, QpId id, std::uint32_t posted, bool blueflame) {
  const bool carries_next = blueflame && fetched_ == rung_ && posted == rung_ + 1;
  // Threads that share a queue pair may ring out of order, but producer indices only grow.
  if (static_cast<std::int32_t>(posted - rung_) > 0) rung_ = posted;
  if (engine.connections[id].flushes_sends()) return flush(engine, id);
  if (carries_next) {
    fetched_ = rung_;
    return start(engine, id, {});
  }
  fetch_wqes(engine, id);
}

void Requester::wqe_fetch_may_execute(Engine& engine, const HeldRead& read) {
  const NicId node = engine.connections[read.where].node();
  const HardwareProfile& p = engine.profile(node);
  const auto mrrs = static_cast<std::uint32_t>(p.pcie_mrrs.count);
  const sim::SimTime first = take_request(engine, node, read.key, read.bytes, read.due, read.reach);
  sim::SimTime last = first;
  for (std::uint32_t asked = mrrs; asked < read.bytes; asked += mrrs) {
    last = take_request(engine, node, read.key, read.bytes - asked, last, read.reach);
  }
  sim::SimTime link_free;
  sim::SimTime back;
  for (std::uint32_t done = 0; done < read.bytes;) {
    const std::uint32_t bytes = read_step(engine, node, 0, read.bytes, done);
    back = return_data(engine, node, bytes, link_free);
    done += bytes;
  }
  sim::SimTime there = back + (first - engine.now());
  // All data follow each other on the link, but the last request's data cannot come before it has its tag.
  if (last > first) {
    const std::uint32_t rest = (read.bytes - 1) % mrrs + 1;
    there = std::max(there, last + data_time(p, rest) + p.pcie_downstream);
  }
  engine.schedule(kEventFetchWqe, read.where, read.number, there);
}

void Requester::wqes_fetched(Engine& engine, QpId id, std::uint32_t count) {
  fetching_ = false;
  if (fetch_cancelled_)
    LOCO_PROBE(wqes_fetched_too_late);
  else
    fetched_ += count;
  fetch_cancelled_ = false;
  if (engine.connections[id].flushes_sends()) return;
  start(engine, id, {});
  fetch_wqes(engine, id);
}

}  // namespace loco::nic
