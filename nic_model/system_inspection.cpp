// System: inspection.
#include <algorithm>

#include "nic_model/engine/engine.hpp"
#include "nic_model/pcie/bursts.hpp"
#include "nic_model/state.hpp"
#include "nic_model/system.hpp"

namespace loco::nic {

const SystemConfig& System::config() const { return state_->kernel.config(); }
const HardwareProfile& System::profile(NodeId node) const {
  return state_->kernel.profile(first_nic(checked_host(*state_, node)));
}
const Counters& System::counters() const {
  Engine engine(state_->units(), nullptr);
  settle_all(engine);
  return state_->kernel.counters();
}
const fabric::Network& System::network() const { return *state_->network; }

std::span<const std::byte> System::payload(const fabric::Packet& packet) const {
  if (packet.buffer == fabric::kNoBuffer || packet.length == 0) return {};
  return {state_->payloads.data_at(packet.buffer, packet.offset), packet.length};
}
QpState System::qp_state(QpId qp) const { return state_->connections.at(qp).state(); }
NodeId System::qp_node(QpId qp) const { return state_->kernel.host_of(state_->connections.at(qp).node()).index(); }
ThreadId System::qp_thread(QpId qp) const { return state_->connections.at(qp).thread(); }

std::vector<QpId> System::refused_for_ever() const {
  std::vector<QpId> refused;
  for (std::size_t i = 0; i < pending_events(); ++i) {
    const sim::Event& event = pending_event(i);
    if (event.what == kEventRnrTimer &&
        state_->settings[state_->connections[event.where].settings()].rnr_retry == kRnrRetryForEver)
      refused.push_back(event.where);
  }
  return refused;
}

NodeId System::qp_peer_node(QpId qp) const {
  const Connection& connection = state_->connections.at(qp);
  return connection.peer() == kNone ? kNone : state_->kernel.host_of(connection.peer_node()).index();
}
std::uint32_t System::send_queue_room(QpId qp) const { return state_->requesters.at(qp).room(); }
namespace {
/// True if writes of a domain are in flight to memories that have their own order.
bool pending_elsewhere(const State& s, std::uint32_t domain, Stamp stamp) {
  const PostedDomain& d = s.domains[domain];
  if (d.device_path() != kNone && s.domains[d.device_path()].holds_data(stamp)) return true;
  for (std::uint32_t path = 0; path < d.memory_paths(); ++path)
    if (s.domains[d.first_memory_path() + path].holds_data(stamp)) return true;
  for (std::uint32_t path = 0; path < d.nic_paths(); ++path)
    if (s.domains[d.first_nic_path() + path].holds_data(stamp)) return true;
  return false;
}
}  // namespace
bool System::qp_settled(QpId qp) const {
  const State& s = *state_;
  const Connection& mine = s.connections.at(qp);
  if (mine.state() != QpState::rts || mine.peer() == kNone) return false;
  const auto pending = [&s](std::uint32_t domain, Stamp stamp) {
    return s.domains[domain].holds_data(stamp) || pending_elsewhere(s, domain, stamp);
  };
  const Responder& other = s.responders[mine.peer()];
  return s.requesters[qp].queue().empty() && !pending(s.requesters[qp].domain(), Stamp::aNLW) &&
         !pending(other.domain(), Stamp::aNRW) && other.all_executed();
}
bool System::qp_drained(QpId qp) const {
  const State& s = *state_;
  const Requester& requester = s.requesters.at(qp);
  return requester.queue().empty() && !s.domains[requester.domain()].holds_cqe(qp) && !s.cqs[requester.cq()].holds(qp);
}
bool System::qp_writes_pending(QpId qp) const {
  const State& s = *state_;
  const std::uint32_t from_peer = s.responders.at(qp).domain();
  if (pending_elsewhere(s, from_peer, Stamp::aNRW)) return true;
  const NicId nic = s.connections[qp].node();
  const bool splits = s.kernel.profile(nic).splits_writes() || s.kernel.config().hosts.nics(s.kernel.host_of(nic)) > 1;
  return splits &&  // otherwise all of a host's queue pairs are in one domain
         (s.domains[from_peer].holds_data(Stamp::aNRW) || s.domains[s.requesters[qp].domain()].holds_data(Stamp::aNLW));
}
bool System::stores_pending(NodeId node, Address base, std::uint64_t size) const {
  return std::ranges::any_of(state_->processes[checked_host(*state_, node)].threads(),
                             [&](ThreadId thread) { return state_->threads[thread].stores_pending(base, size); });
}
std::uint32_t System::recv_queue_room(QpId qp) const {
  const std::uint32_t index = state_->responders.at(qp).receive_queue();
  return index == kNone ? 0 : state_->receive_queues[index].room();
}
std::size_t System::cq_size(CqId cq) const { return state_->cqs.at(cq).size(); }
std::vector<Cqe> System::failed_cqes(CqId cq) const { return state_->cqs.at(cq).failed_cqes(); }
bool System::cq_overrun(CqId cq) const { return state_->cqs.at(cq).overrun(); }
bool System::thread_stopped(ThreadId thread) const {
  return state_->threads.at(thread).state() == ThreadState::stopped;
}
System::Made System::made() const {
  Made made{
      .regions = state_->regions.size(), .queue_pairs = state_->connections.size(), .threads = state_->threads.size()};
  for (const Process& process : state_->processes) made.flags += process.flags();
  return made;
}
System::QueuePairMade System::queue_pair(QpId qp) const {
  const State& s = *state_;
  const Connection& c = s.connections.at(qp);
  const std::uint32_t receives = s.responders[qp].receive_queue();
  return {.node = s.kernel.host_of(c.node()).index(),
          .type = c.type(),
          .peer = c.peer(),
          .send_cq = s.requesters[qp].cq(),
          .recv_cq = s.responders[qp].cq(),
          .receives = receives,
          .shares_receives = receives != kNone && s.receive_queues[receives].shared()};
}
std::size_t System::completion_queues() const { return state_->cqs.size(); }
std::uint32_t System::cq_entries(CqId cq) const { return state_->cqs.at(cq).entries(); }
std::size_t System::receive_queues() const { return state_->receive_queues.size(); }
std::vector<RecvWqe> System::posted_receives(std::uint32_t queue) const {
  return state_->receive_queues.at(queue).posted();
}
const std::vector<MemoryRegion>& System::regions() const { return state_->regions; }
bool System::thread_drained(ThreadId thread) const { return !state_->threads.at(thread).stores_pending(); }
SubeventId System::subevents() const { return state_->kernel.subevents(); }
std::uint64_t System::seq() const { return state_->kernel.seq(); }

}  // namespace loco::nic
