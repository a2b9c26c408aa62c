// Multicast groups: datagrams to all attached queue pairs (IBTA volume 1, 10.5).
//
// Switches do not replicate here. A datagram goes to the first member of the group like any other datagram, and for
// each further member a queue pair unknown to the program, on the same NIC, sends a copy directly afterwards. With one
// receiver that equals hardware; with several, the sender's cable carries as many packets as there are receivers.
#include <algorithm>
#include <array>
#include <cerrno>
#include <fmt/format.h>

#include "exec/conductor.hpp"

namespace loco::exec {

void Conductor::change_group(ProgramThread& thread) {
  Channel& c = *thread.channel;
  const auto qp = static_cast<nic::QpId>(c.arguments[0]);
  std::vector<nic::QpId>& group = groups_[{c.arguments[2], c.arguments[3]}];
  const auto found = std::ranges::find(group, qp);
  if (c.arguments[1] == 0) {
    if (found == group.end()) {
      c.replies[0] = EINVAL;
    } else {
      group.erase(found);
    }
    return;
  }
  if (found == group.end()) group.push_back(qp);
  if (nobody_ == nic::kNone) {
    const auto host = static_cast<nic::NodeId>(programs_.size() - 1);
    nobody_ = system_.create_qp(host, {.type = nic::QpType::ud, .send_cq = system_.create_cq(host, 1)});
    system_.activate(nobody_);
  }
  for (nic::QpId other = 0; other < owners_.size(); ++other)
    if (owners_[other] != nullptr && system_.queue_pair(other).type == nic::QpType::ud) make_copier(other);
}

void Conductor::make_copier(nic::QpId qp) {
  if (copiers_.contains(qp)) return;
  const nic::NodeId host = owners_[qp]->host;
  const nic::CqId cq = system_.create_cq(host, kQueueEntriesMax);
  const nic::QpId copier =
      system_.create_qp(host, {.type = nic::QpType::ud, .send_cq = cq, .send_entries = kQueueEntriesMax});
  system_.activate(copier);
  copiers_[qp] = copier;
  copied_[copier] = qp;
}

nic::QpId Conductor::original_of(nic::QpId qp) const {
  const auto found = copied_.find(qp);
  return found == copied_.end() ? qp : found->second;
}

std::vector<nic::QpId> Conductor::receivers(nic::QpId from, const SendRecord& record) const {
  const auto group = groups_.find({record.remote, record.compare_add});
  std::vector<nic::QpId> out;
  if (group == groups_.end()) return out;
  for (const nic::QpId to : group->second)
    if (to != from || !not_to_itself_.contains(from)) out.push_back(to);
  return out;
}

nic::QpId Conductor::first_receiver(nic::QpId from, const SendRecord& record) const {
  const std::vector<nic::QpId> all = receivers(from, record);
  return all.empty() ? nobody_ : all.front();
}

/// Sends copies to all receivers but the first.
void Conductor::send_copies(nic::QpId from, const SendRecord& record, nic::Wqe wqe) {
  const std::vector<nic::QpId> all = receivers(from, record);
  const auto copier = copiers_.find(from);
  if (all.size() < 2 || copier == copiers_.end()) return;
  remember(result_.approximations,
           fmt::format("host {}: datagrams to a group leave once for each receiver", owners_[from]->host));
  std::array<nic::Cqe, 64> done;
  while (cpu_->poll_cq(system_.queue_pair(copier->second).send_cq, done) != 0) {
  }
  cpu_->forget_watched();
  wqe.signaled = true;
  for (std::size_t i = 1; i < all.size(); ++i) {
    wqe.remote_qp = all[i];
    room_in_store_buffer();
    if (cpu_->post_send(copier->second, std::span(&wqe, 1)) != nic::PostResult::ok)
      remember(result_.unsupported, fmt::format("host {}: too many datagrams to a group at once", owners_[from]->host));
  }
}

}  // namespace loco::exec
