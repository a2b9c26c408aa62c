#include "hosts/verbs_recorder.hpp"

#include <algorithm>

#include "nic_model/delivery/transports.hpp"

namespace loco::hosts {

namespace {
using trace::Verbs;

Verbs::Opcode opcode_of(nic::Opcode opcode) {
  switch (opcode) {
    case nic::Opcode::rdma_read:
      return Verbs::Opcode::read;
    case nic::Opcode::compare_swap:
      return Verbs::Opcode::compare_swap;
    case nic::Opcode::fetch_add:
      return Verbs::Opcode::fetch_add;
    case nic::Opcode::send:
      return Verbs::Opcode::send;
    default:
      return Verbs::Opcode::write;
  }
}

std::uint32_t size_of(const auto& list) { return static_cast<std::uint32_t>(list.size()); }
}  // namespace

void VerbsRecorder::begin(const nic::System& system) {
  for (std::uint32_t queue = 0; queue < system.receive_queues(); ++queue)
    for (const nic::RecvWqe& wqe : system.posted_receives(queue)) {
      posted_receive(Verbs::kNone, 0, 0, queue, wqe);
      ++receives_[queue].known;
    }
}

void VerbsRecorder::end(const nic::System& system) {
  const nic::System::Made made = system.made();
  for (nic::QpId qp = 0; qp < made.queue_pairs; ++qp) {
    const nic::System::QueuePairMade q = system.queue_pair(qp);
    verbs_.queue_pairs.push_back({.node = q.node,
                                  .type = static_cast<Verbs::Transport>(q.type),
                                  .peer = q.peer,
                                  .send_cq = q.send_cq,
                                  .recv_cq = q.recv_cq,
                                  .receives = q.receives});
  }
  const nic::HostsConfig& hosts = system.config().hosts;
  const auto own_order = [&](const nic::MemoryRegion& r) {
    return r.kind.device || r.kind.gpu != 0 ||
           (r.kind.numa != 0 && hosts.of[nic::HostId(r.node)].sockets.order == nic::MemoryOrder::each);
  };
  for (const nic::MemoryRegion& r : system.regions())
    verbs_.regions.push_back(
        {.node = r.node, .base = r.base, .size = r.size, .relaxed = r.kind.relaxed_ordering, .device = own_order(r)});
  for (nic::CqId cq = 0; cq < system.completion_queues(); ++cq) verbs_.cq_entries.push_back(system.cq_entries(cq));
  const nic::HardwareProfile& hardware = system.config().profile;
  const auto note = [&](const nic::DeliveryOrder& order) {
    verbs_.writes_overtake = verbs_.writes_overtake || order.writes_early;
    verbs_.reads_as_they_come = verbs_.reads_as_they_come || order.reads_early;
  };
  note(nic::reliable_order(hardware));
  for (const nic::TransportOptions& own : system.config().transports)
    note(nic::reliable_order(nic::with_transport(hardware, own)));
}

std::uint32_t VerbsRecorder::place(std::string_view file, std::uint32_t line) {
  if (line == 0) return 0;
  auto found = places_.find({file, line});
  if (found == places_.end()) {
    files_.emplace_back(file);
    found = places_.emplace(std::pair(std::string_view(files_.back()), line), size_of(verbs_.places)).first;
    verbs_.places.push_back({std::string(file), line});
  }
  return found->second;
}

void VerbsRecorder::set_place(trace::CallId call, std::uint32_t place) {
  if (verbs_.call_places.size() < call) verbs_.call_places.resize(call, 0);
  verbs_.call_places[call - 1] = place;
}

void VerbsRecorder::posted(trace::CallId call, nic::QpId qp, const nic::Wqe& wqe) {
  std::vector<std::uint32_t>& numbers = requests_[qp];
  verbs_.requests.push_back({.call = call,
                             .qp = qp,
                             .number = size_of(numbers),
                             .opcode = opcode_of(wqe.opcode),
                             .signaled = wqe.signaled,
                             .inline_data = wqe.inline_data,
                             .fence = wqe.fence,
                             .immediate = wqe.with_imm,
                             .bytes = nic::is_atomic(wqe.opcode) ? 8 : wqe.length,
                             .local = wqe.local,
                             .remote = wqe.remote,
                             .wr_id = wqe.wr_id});
  numbers.push_back(size_of(verbs_.requests) - 1);
  request_of_[call] = numbers.back();
}

void VerbsRecorder::posted_receive(std::uint32_t thread, std::uint32_t after, std::uint32_t place, std::uint32_t queue,
                                   const nic::RecvWqe& wqe) {
  verbs_.receives.push_back({.thread = thread,
                             .after = after,
                             .place = place,
                             .queue = queue,
                             .bytes = wqe.length,
                             .address = wqe.address,
                             .wr_id = wqe.wr_id});
  receives_[queue].receives.push_back(size_of(verbs_.receives) - 1);
}

void VerbsRecorder::known(std::uint32_t thread, std::uint32_t queue, std::uint32_t count) {
  Posted& posted = receives_[queue];
  for (; count > 0 && posted.known < posted.receives.size(); --count, ++posted.known) {
    const auto first = posted.receives.begin() + static_cast<std::ptrdiff_t>(posted.known);
    const auto own = std::find_if(first, posted.receives.end(),
                                  [&](std::uint32_t r) { return verbs_.receives[r].thread == thread; });
    if (own == posted.receives.end()) continue;
    // Nothing refers to receives that the NIC does not know, so the records can be swapped.
    for (auto at = own; at != first; --at) std::swap(verbs_.receives[*at], verbs_.receives[*(at - 1)]);
  }
}

void VerbsRecorder::reset(const nic::System& system, nic::QpId qp) {
  messages_.erase(qp);
  for (auto& [cq, waiting] : entries_)
    std::erase_if(waiting, [&](std::uint32_t e) {
      if (verbs_.entries[e].qp != qp) return false;
      verbs_.entries[e].cq = Verbs::kNone;
      return true;
    });
  const nic::System::QueuePairMade made = system.queue_pair(qp);
  const std::uint32_t queue = made.receives;
  if (queue == nic::kNone || made.shares_receives) return;
  for (const std::uint32_t r : receives_[queue].receives) verbs_.receives[r].queue = Verbs::kNone;
  receives_.erase(queue);
}

void VerbsRecorder::on_message(const nic::MessageArrival& m) {
  Verbs::Message message{.qp = m.qp};
  if (const auto found = request_of_.find(m.op); found != request_of_.end()) message.request = found->second;
  if (!m.found && !refused_.insert(m.op).second) return;  // it is repeated, perhaps for ever
  if (m.found) {
    auto& [posted, known] = receives_[m.queue];
    // Normally the oldest; if the machine has violated that order, the record shows what happened.
    const auto taken = std::ranges::find_if(posted, [&](std::uint32_t r) {
      return verbs_.receives[r].address == m.receive.address && verbs_.receives[r].wr_id == m.receive.wr_id;
    });
    if (taken != posted.end()) {
      message.receive = *taken;
      if (taken - posted.begin() < static_cast<std::ptrdiff_t>(known)) --known;
      posted.erase(taken);
    }
    messages_[m.qp].push_back(size_of(verbs_.messages));
  }
  verbs_.messages.push_back(message);
}

void VerbsRecorder::on_cqe(nic::CqId cq, const nic::Cqe& cqe) {
  Verbs::Entry entry{
      .cq = cq, .qp = cqe.qp, .receive = nic::is_receive(cqe.opcode), .failed = cqe.status != nic::Status::success};
  if (entry.receive) {
    std::deque<std::uint32_t>& waiting = messages_[cqe.qp];
    const auto own = std::ranges::find_if(waiting, [&](std::uint32_t m) {
      const std::uint32_t receive = verbs_.messages[m].receive;
      return receive != Verbs::kNone && verbs_.receives[receive].wr_id == cqe.wr_id;
    });
    if (own != waiting.end()) {
      entry.message = *own;
      waiting.erase(own);
    }
  } else if (const auto found = requests_.find(cqe.qp); found != requests_.end() && cqe.wqe < found->second.size()) {
    entry.request = found->second[cqe.wqe];
  }
  entries_[cq].push_back(size_of(verbs_.entries));
  verbs_.entries.push_back(entry);
}

void VerbsRecorder::polled(trace::CallId call, nic::CqId cq, const nic::Cqe&) {
  Verbs::Poll poll{.call = call, .cq = cq};
  std::deque<std::uint32_t>& waiting = entries_[cq];
  if (!waiting.empty()) {
    poll.entry = waiting.front();
    waiting.pop_front();
    verbs_.entries[poll.entry].poll = size_of(verbs_.polls);
  }
  verbs_.polls.push_back(poll);
}

}  // namespace loco::hosts
