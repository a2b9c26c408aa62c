// The queue pairs of a virtual transport: made at first use, in the error state once their connection has ended, and in
// RESET before another connection replaces it.
#include <algorithm>

#include "loco_sim/transport/virtual_transport.hpp"

namespace loco {

VirtualTransport::Changes VirtualTransport::changes_with(NodeId peer) const {
  if (changes_.empty()) return {};
  const auto found = changes_.find(peer);
  return found == changes_.end() ? Changes{} : found->second;
}

nic::QpId VirtualTransport::queue_pair(const hosts::Thread& thread, Towards to) {
  const nic::QpId known = end_of(thread.index, to).qp;
  return known != nic::kNone ? known : connect_threads(thread.index, cluster_.threads.current_id(), to);
}

void VirtualTransport::connect_ahead(std::uint32_t thread, NodeId peer, std::uint8_t service) {
  const Towards to{peer, changes_with(peer).present, service};
  if (end_of(thread, to).qp == nic::kNone) connect_threads(thread, threads_.at(thread), to);
}

nic::QpId VirtualTransport::connect_threads(std::uint32_t index, nic::ThreadId id, Towards to) {
  nic::QpId& mine = end_of(index, to).qp;
  mine = create_end(index, to.service);
  VirtualTransport& other = *cluster_.nodes.at(to.peer);
  const Towards back{node_, to.connection, to.service};
  const nic::QpId theirs = other.create_end(index, to.service);
  cluster_.system.connect(mine, theirs);
  cluster_.system.set_qp_thread(mine, id);
  if (to.connection != 0) {
    numbers_.emplace(mine, to.connection);
    other.numbers_.emplace(theirs, to.connection);
  }
  if (to.peer == node_) return mine;
  // The other end belongs to the peer's thread with this index, which may not exist yet.
  other.end_of(index, back).qp = theirs;
  if (index < other.threads_.size()) cluster_.system.set_qp_thread(theirs, other.threads_[index]);
  // A queue pair that is first used after its connection has ended starts in the error state.
  if (to.connection < changes_with(to.peer).ended) cluster_.system.modify_qp(mine, nic::QpState::error);
  if (to.connection < other.changes_with(node_).ended) cluster_.system.modify_qp(theirs, nic::QpState::error);
  return mine;
}

bool VirtualTransport::is_connected(const hosts::Thread& thread, Towards to) const {
  if (to.service != 0 || to.connection != changes_with(to.peer).present)
    return other_ends_.contains({thread.index, to});
  if (thread.index >= ends_.size()) return false;
  const End* const end = ends_[thread.index].find(to.peer);
  return end != nullptr && end->qp != nic::kNone;
}

VirtualTransport::End& VirtualTransport::end_of(std::uint32_t thread, Towards to) {
  if (to.service != 0 || to.connection != changes_with(to.peer).present) return other_ends_[{thread, to}];
  if (thread >= ends_.size()) ends_.resize(thread + 1);
  return ends_[thread].at(to.peer, num_nodes());
}

/// Threads take turns over the NICs of their hosts, then over these NICs' ports, by their number: so both ends are on
/// NICs and ports of one number where the hosts have as many.
nic::QpId VirtualTransport::create_end(std::uint32_t thread, std::uint8_t service) {
  const nic::HostsConfig& hosts = cluster_.config.hosts;
  const nic::HostId host(node_);
  const std::uint32_t nics = hosts.nics(host);
  const Service& of = cluster_.services[service];
  const auto inbox = inboxes_.find(of.inbox);
  const bool receives = inbox != inboxes_.end();
  return cluster_.system.create_qp(node_, {.send_cq = completion_queue_,
                                           .recv_cq = receives ? inbox->second.completions : nic::kNone,
                                           .send_entries = cluster_.config.send_queue_entries,
                                           .srq = receives ? inbox->second.receives : nic::kNone,
                                           .traffic_class = of.traffic_class,
                                           .ack_class = of.ack_class,
                                           .congestion = of.congestion,
                                           .transport = of.transport,
                                           .nic = thread % nics,
                                           .port = static_cast<std::uint8_t>(thread / nics % hosts.ports(host))});
}

void VirtualTransport::adopt(nic::ThreadId id) {
  const std::size_t index = threads_.size();
  threads_.push_back(id);
  for (const auto& [where, end] : other_ends_)
    if (where.first == index && where.second.service != 0 && end.qp != nic::kNone)
      cluster_.system.set_qp_thread(end.qp, id);
  if (index >= ends_.size()) return;
  ends_[index].for_each([&](const End& end) {
    if (end.qp != nic::kNone) cluster_.system.set_qp_thread(end.qp, id);
  });
}

std::uint32_t VirtualTransport::connection_of(nic::QpId qp) const {
  const auto found = numbers_.find(qp);
  return found == numbers_.end() ? 0 : found->second;
}

bool VirtualTransport::has_come_back(const End& end) const {
  return end.qp == nic::kNone || cluster_.system.qp_drained(end.qp);
}

std::vector<VirtualTransport::End*> VirtualTransport::ended_with(NodeId peer) {
  const Changes changes = changes_with(peer);
  std::vector<End*> ends;
  if (changes.present < changes.ended)
    for (PeerTable<End>& of_thread : ends_)
      if (End* const end = of_thread.find(peer); end != nullptr && end->qp != nic::kNone) ends.push_back(end);
  for (auto& [where, end] : other_ends_)
    if (where.second.peer == peer && where.second.connection < changes.ended && end.qp != nic::kNone)
      ends.push_back(&end);
  return ends;
}

void VirtualTransport::disconnect(NodeId node) {
  current().change(Access::change);
  if (!cluster_.config.connections_end) return;
  Changes& changes = changes_[node];
  changes.ended = changes.present + 1;
  for (const End* end : ended_with(node))
    if (!end->reset) cluster_.system.modify_qp(end->qp, nic::QpState::error);
}

/// A RESET drops a queue pair's unfinished work and its completions, so it waits until all of them have been polled.
/// Work requests posted afterwards are flushed, as in the error state.
bool VirtualTransport::disconnected(NodeId node) {
  current().change(Access::change);
  const std::vector<End*> ends = ended_with(node);
  if (!std::ranges::all_of(ends, [this](const End* end) { return end->reset || has_come_back(*end); })) return false;
  for (End* end : ends) {
    if (std::exchange(end->reset, true)) continue;
    cluster_.system.modify_qp(end->qp, nic::QpState::reset);
    cluster_.system.modify_qp(end->qp, nic::QpState::error);
  }
  return std::ranges::none_of(ends, [this](const End* end) { return cluster_.system.qp_writes_pending(end->qp); });
}

void VirtualTransport::connect(NodeId node, std::uint32_t number) {
  current().change(Access::change);
  Changes& changes = changes_[node];
  const auto count = static_cast<std::uint32_t>(ends_.size());
  for (std::uint32_t thread = 0; thread < count; ++thread) {
    End* const end = ends_[thread].find(node);
    if (end == nullptr) continue;
    if (end->qp != nic::kNone) other_ends_.emplace(std::pair(thread, Towards{node, changes.present}), *end);
    *end = {};
  }
  changes = {.present = number, .ended = cluster_.config.connections_end ? number : 0};
  // The peer may have connected first: its threads make both ends.
  for (auto at = other_ends_.begin(); at != other_ends_.end();) {
    const auto& [thread, to] = at->first;
    const bool is_present = to == Towards{node, number};
    if (is_present) end_of(thread, to) = at->second;
    at = is_present ? other_ends_.erase(at) : std::next(at);
  }
}

}  // namespace loco
