// The one-sided operations of a virtual transport: work requests on queue pairs of the simulated machine.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <limits>
#include <stdexcept>

#include "hosts/costs.hpp"
#include "hosts/posted.hpp"
#include "loco_sim/transport/virtual_transport.hpp"
#include "nic_model/delivery/transports.hpp"
#include "nic_model/profile_options.hpp"

namespace loco {

namespace {
constexpr std::uint64_t kSendQueueKey = std::uint64_t{2} << 40U;

/// A size beyond the work request's field is clamped to one that the NIC refuses: a message has at most 2^31 bytes.
std::uint32_t length_of(std::uint64_t size) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(size, std::numeric_limits<std::uint32_t>::max()));
}
}  // namespace

Operation operation_of(nic::Opcode opcode) {
  switch (opcode) {
    case nic::Opcode::rdma_read:
      return Operation::get;
    case nic::Opcode::fetch_add:
      return Operation::fetch_add;
    case nic::Opcode::compare_swap:
      return Operation::compare_swap;
    default:
      return Operation::put;
  }
}

std::string VirtualTransport::lacks(Capability what) const {
  const nic::HardwareProfile& p = profile();
  const bool one_nic = nic::further_nics(cluster_.config.hosts).empty();
  const bool has = [&] {
    switch (what) {
      case Capability::ordered_puts:
        return !nic::reliable_order(p).writes_early;
      case Capability::reads_push_puts:
        return !nic::reliable_order(p).reads_early;
      case Capability::atomics:
        if (!nic::reliable_policy(p).operations.atomics) return false;
        return p.nic_atomic_cap == nic::AtomicCap::global || (p.nic_atomic_cap == nic::AtomicCap::hca && one_nic);
      case Capability::atomics_with_cpu:
        return p.nic_atomic_cap == nic::AtomicCap::global;
      case Capability::ascending_words:
        return p.nic_word_order == nic::WordOrder::ascending && !nic::reliable_order(p).writes_early;
    }
    return true;
  }();
  if (has || !cluster_.config.refuse_unfit) return {};
  if (p.transport.kind != nic::TransportKind::rc && what != Capability::atomics_with_cpu) {
    const bool by_words = what == Capability::ascending_words && p.nic_word_order == nic::WordOrder::any;
    if (!by_words) return fmt::format("transport: {}", nic::reliable_name(p));
  }
  if (what == Capability::ordered_puts || what == Capability::reads_push_puts)
    return "nic.placement: " + std::string(nic::kPlacementNames.at(static_cast<std::size_t>(p.nic_placement)));
  if (what == Capability::ascending_words) {
    return p.nic_word_order == nic::WordOrder::any ? "nic.word_order: any" : "nic.placement: packets overtake";
  }
  if (what == Capability::atomics && p.nic_atomic_cap == nic::AtomicCap::hca)
    return "hosts with several NICs, whose atomics exclude those of the same NIC only (nic.atomic_cap: hca)";
  return p.nic_atomic_cap == nic::AtomicCap::none ? "nic.atomic_cap: none" : "nic.atomic_cap: hca";
}

std::uint32_t VirtualTransport::local_key(Address address) const {
  const auto after = memory_.upper_bound(address);
  return after == memory_.begin() ? 0 : std::prev(after)->second.lkey;
}

void VirtualTransport::post(nic::Wqe wqe, const Region& remote, OperationTag tag) {
  if (nic::is_atomic(wqe.opcode) && profile().nic_atomic_cap == nic::AtomicCap::none) {
    throw std::runtime_error("a remote atomic was refused: this NIC has none (nic.atomic_cap)");
  }
  hosts::Thread& thread = current();
  if (!thread.list.empty() && (thread.list_peer != remote.node || thread.list_connection != remote.connection ||
                               thread.list_service != tag.service)) {
    throw std::logic_error("a list of work requests goes on towards another node");
  }
  thread.build();  // one doorbell serves the whole list
  thread.list_peer = remote.node;
  thread.list_connection = remote.connection;
  thread.list_service = tag.service;
  wqe.wr_id = tag.token;
  wqe.lkey = local_key(wqe.local);
  wqe.rkey = remote.rkey;
  wqe.signaled = false;
  if (tag.tell == Tell::with_next)
    record(wqe, {remote.node, remote.connection, tag.service}, tag.work_id);  // the next may be another call's
  thread.list.push_back(wqe);
  if (tag.tell != Tell::with_next || thread.list.size() == silent_max()) post_list(tag);
}

void VirtualTransport::post_list(OperationTag tag) {
  hosts::Thread& thread = current();
  const Towards to{thread.list_peer, thread.list_connection, thread.list_service};
  thread.change(is_connected(thread, to) ? Access::buffered_change : Access::change);
  thread.time.make_room();
  const nic::QpId qp = queue_pair(thread, to);
  make_send_room(thread, qp, thread.list.size());
  std::uint32_t& silent = end_of(thread.index, to).silent;
  if (thread.list.back().opcode == nic::Opcode::send) {
    record_send(thread.list.back(), qp, tag.work_id);
  } else if (tag.tell != Tell::with_next) {
    record(thread.list.back(), to, tag.work_id);
  }
  silent += static_cast<std::uint32_t>(thread.list.size());
  if (tag.tell == Tell::always || silent >= silent_max()) {
    thread.list.back().signaled = true;
    silent = 0;
  }
  if (thread.ring(qp, thread.list) != nic::PostResult::ok) throw std::logic_error("a work request was refused");
  thread.list.clear();
}

void VirtualTransport::record(nic::Wqe& wqe, Towards to, std::uint64_t work_id) {
  hosts::Thread& thread = current();
  const NodeId peer = to.peer;
  if (!thread.fence_next.empty() && thread.fence_next[peer] != 0) {
    thread.fence_next[peer] = 0;
    wqe.fence = true;
    wqe.fence_op = thread.begin_operation(trace::Method::rfence);
    thread.finish_operation(wqe.fence_op, 0);
    if (cluster_.recorder)
      cluster_.recorder->posted(wqe.fence_op,
                                {.method = trace::Method::rfence, .peer = peer, .connection = to.connection});
  }
  // An operation on no bytes is no event of the memory models, which touch locations.
  if (nic::is_atomic(wqe.opcode) || wqe.length > 0) {
    const trace::CallId call = thread.begin_operation(hosts::method_of(wqe.opcode), hosts::argument_of(wqe), work_id);
    wqe.op = cluster_.followed.name(call, work_id);
    if (cluster_.recorder)
      cluster_.recorder->posted(wqe.op, {.method = hosts::method_of(wqe.opcode),
                                         .peer = peer,
                                         .connection = to.connection,
                                         .local = wqe.local,
                                         .remote = wqe.remote,
                                         .bytes = nic::is_atomic(wqe.opcode) ? 8 : wqe.length,
                                         .compare = wqe.compare_add});
  }
}

/// For the memory models a SEND is a put to the receive buffer.
void VirtualTransport::record_send(nic::Wqe& wqe, nic::QpId qp, std::uint64_t work_id) {
  const trace::CallId call = cluster_.recorder ? cluster_.recorder->begin_message(cluster_.threads.current_id(), qp,
                                                                                  cluster_.system.seq(), now_ps())
                                               : 0;
  wqe.op = cluster_.followed.name(call, work_id);
}

void VirtualTransport::make_send_room(hosts::Thread& thread, nic::QpId qp, std::size_t count) {
  const auto full = [&] { return cluster_.system.send_queue_room(qp) < count; };
  if (thread.time.ahead().ps > 0 && full()) thread.time.before(Access::change);  // it waits at its own time
  while (full()) {
    thread.note({Look::What::send_queue, cluster_.system.qp_peer_node(qp), 0});
    cpu().watch(kSendQueueKey | qp);
    ++waiting_for_room_;
    thread.time.wait_for_notice();
    --waiting_for_room_;
    thread.time.make_room();
  }
}

void VirtualTransport::put(Address local, const Region& remote, std::uint64_t offset, std::uint64_t size,
                           OperationTag tag) {
  post({.opcode = nic::Opcode::rdma_write, .length = length_of(size), .local = local, .remote = remote.base + offset},
       remote, tag);
}

void VirtualTransport::get(Address local, const Region& remote, std::uint64_t offset, std::uint64_t size,
                           OperationTag tag) {
  post({.opcode = nic::Opcode::rdma_read, .length = length_of(size), .local = local, .remote = remote.base + offset},
       remote, tag);
}

void VirtualTransport::fetch_add(Address local, const Region& remote, std::uint64_t offset, std::uint64_t add,
                                 OperationTag tag) {
  post({.opcode = nic::Opcode::fetch_add, .local = local, .remote = remote.base + offset, .compare_add = add}, remote,
       tag);
}

void VirtualTransport::compare_swap(Address local, const Region& remote, std::uint64_t offset, std::uint64_t expected,
                                    std::uint64_t desired, OperationTag tag) {
  post({.opcode = nic::Opcode::compare_swap,
        .local = local,
        .remote = remote.base + offset,
        .compare_add = expected,
        .swap = desired},
       remote, tag);
}

void VirtualTransport::send(Address local, NodeId to, std::uint64_t size, OperationTag tag) {
  post({.opcode = nic::Opcode::send, .length = length_of(size), .local = local}, Region{.node = to}, tag);
}

namespace {
constexpr std::uint32_t kInboxReceives = 1'024;
}  // namespace

void VirtualTransport::open_inbox(std::uint8_t number, const Region& into) {
  nic::System& system = cluster_.system;
  Inbox& inbox = inboxes_[number];
  inbox = {.completions = system.create_cq(node_, kInboxReceives),
           .receives = system.create_srq(node_, kInboxReceives),
           .into = into};
  for (std::uint32_t i = 0; i < kInboxReceives; ++i)
    system.post_srq_recv(inbox.receives,
                         {.wr_id = i, .address = into.base, .length = length_of(into.size), .lkey = into.rkey});
}

std::size_t VirtualTransport::empty_inbox(std::uint8_t number) {
  const Inbox& inbox = inboxes_.at(number);
  std::array<nic::Cqe, 16> cqes;
  hosts::Thread& thread = current();
  const std::size_t taken = thread.poll(inbox.completions, cqes);
  if (taken == 0) return 0;
  std::array<nic::RecvWqe, cqes.size()> receives;
  for (std::size_t i = 0; i < taken; ++i)
    receives[i] = {.wr_id = cqes[i].wr_id,
                   .address = inbox.into.base,
                   .length = length_of(inbox.into.size),
                   .lkey = inbox.into.rkey};
  const auto posted = std::span(receives).first(taken);
  if (thread.post_srq_recv(inbox.receives, posted, hosts::receive_cost(profile(), taken)) != nic::PostResult::ok)
    throw std::logic_error("a receive was refused");
  return taken;
}

void VirtualTransport::remote_fence(NodeId node) {
  std::vector<std::uint8_t>& next = current().fence_next;
  if (next.empty()) next.assign(num_nodes(), 0);
  next.at(node) = 1;
}

std::size_t VirtualTransport::poll(std::span<Completion> out) {
  std::array<nic::Cqe, 16> cqes;
  hosts::Thread& thread = current();
  const std::size_t taken = thread.poll(completion_queue_, std::span(cqes).first(std::min(out.size(), cqes.size())));
  for (std::size_t i = 0; i < taken; ++i) {
    const NodeId peer = cluster_.system.qp_peer_node(cqes[i].qp);
    out[i] = {cqes[i].wr_id, cqes[i].status, peer, operation_of(cqes[i].opcode)};
    if (out[i].status != Status::success) {
      out[i].connection = connection_of(cqes[i].qp);
      cluster_.note_failure(cqes[i], out[i].connection);
    }
    if (waiting_for_room_ > 0) cluster_.system.notify(node_, kSendQueueKey | cqes[i].qp);
  }
  return taken;
}

}  // namespace loco
