// The one-sided operations of a virtual transport: work requests on queue pairs of the simulated machine.
#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

#include "loco_sim/transport/virtual_transport.hpp"
#include "nic_model/profile_options.hpp"

namespace loco {

namespace {
constexpr std::uint64_t kSendQueueKey = std::uint64_t{2} << 40U;

/// A size that the work request's field cannot hold stays one that the NIC refuses: a message has 2^31 bytes at most.
std::uint32_t length_of(std::uint64_t size) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(size, std::numeric_limits<std::uint32_t>::max()));
}

trace::Method method_of(nic::Opcode opcode) {
  constexpr std::array kMethods = {trace::Method::put, trace::Method::get, trace::Method::remote_faa,
                                   trace::Method::remote_cas};  // in the order of Operation
  return kMethods.at(static_cast<std::size_t>(operation_of(opcode)));
}

/// What an atomic adds, or would write.
std::uint64_t argument_of(const nic::Wqe& wqe) {
  if (wqe.opcode == nic::Opcode::fetch_add) return wqe.compare_add;
  return wqe.opcode == nic::Opcode::compare_swap ? wqe.swap : 0;
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
  const bool has = [&] {
    switch (what) {
      case Capability::ordered_puts:
        return !nic::overtakes(p.nic_placement) || p.nic_placement == nic::Placement::reads_overtake;
      case Capability::reads_push_puts:
        return !nic::reads_as_they_come(p.nic_placement);
      case Capability::atomics:
        return p.nic_atomic_cap != nic::AtomicCap::none;
      case Capability::atomics_with_cpu:
        return p.nic_atomic_cap == nic::AtomicCap::global;
    }
    return true;
  }();
  if (has || !cluster_.config.refuse_unfit) return {};
  if (what == Capability::ordered_puts || what == Capability::reads_push_puts)
    return "nic.placement: " + std::string(nic::kPlacementNames.at(static_cast<std::size_t>(p.nic_placement)));
  return p.nic_atomic_cap == nic::AtomicCap::none ? "nic.atomic_cap: none" : "nic.atomic_cap: hca";
}

nic::QpId VirtualTransport::queue_pair(SimThread& thread, NodeId peer) {
  nic::QpId& mine = end_of(thread.index, peer).qp;
  if (mine != nic::kNone) return mine;
  mine = create_end();
  VirtualTransport& other = *cluster_.nodes.at(peer);
  const nic::QpId theirs = other.create_end();
  cluster_.system.connect(mine, theirs);
  cluster_.system.set_qp_thread(mine, cluster_.threads.current_id());
  if (peer == node_) return mine;
  // The other end belongs to the peer's thread with this index, which may not be there yet.
  other.end_of(thread.index, node_).qp = theirs;
  if (thread.index < other.threads_.size()) cluster_.system.set_qp_thread(theirs, other.threads_[thread.index]);
  return mine;
}

bool VirtualTransport::is_connected(const SimThread& thread, NodeId peer) const {
  return thread.index < ends_.size() && !ends_[thread.index].empty() && ends_[thread.index][peer].qp != nic::kNone;
}

VirtualTransport::End& VirtualTransport::end_of(std::uint32_t thread, NodeId peer) {
  if (thread >= ends_.size()) ends_.resize(thread + 1);
  if (ends_[thread].empty()) ends_[thread].resize(num_nodes());
  return ends_[thread][peer];
}

nic::QpId VirtualTransport::create_end() {
  return cluster_.system.create_qp(node_, completion_queue_, cluster_.config.send_queue_entries);
}

void VirtualTransport::adopt(nic::ThreadId id) {
  const std::size_t index = threads_.size();
  threads_.push_back(id);
  if (index >= ends_.size()) return;
  for (const End& end : ends_[index]) {
    if (end.qp != nic::kNone) cluster_.system.set_qp_thread(end.qp, id);
  }
}

std::uint32_t VirtualTransport::local_key(Address address) const {
  const auto after = memory_.upper_bound(address);
  return after == memory_.begin() ? 0 : std::prev(after)->second.lkey;
}

void VirtualTransport::post(nic::Wqe wqe, const Region& remote, OperationTag tag) {
  if (nic::is_atomic(wqe.opcode) && profile().nic_atomic_cap == nic::AtomicCap::none) {
    throw std::runtime_error("a remote atomic was refused: this NIC has none (nic.atomic_cap)");
  }
  SimThread& thread = current();
  if (!thread.list.empty() && thread.list_peer != remote.node) {
    throw std::logic_error("a list of work requests goes on towards another node");
  }
  thread.time.advance(profile().cpu_post_wqe);  // the work request is built, the doorbell is rung for the whole list
  thread.list_peer = remote.node;
  wqe.wr_id = tag.token;
  wqe.lkey = local_key(wqe.local);
  wqe.rkey = remote.rkey;
  wqe.signaled = false;
  if (tag.tell == Tell::with_next) record(wqe, remote.node, tag.work_id);  // what comes next may be another call's
  thread.list.push_back(wqe);
  if (tag.tell != Tell::with_next || thread.list.size() == silent_max()) post_list(tag);
}

void VirtualTransport::post_list(OperationTag tag) {
  SimThread& thread = current();
  const NodeId peer = thread.list_peer;
  thread.change(is_connected(thread, peer) ? Access::buffered_change : Access::change);
  thread.time.make_room();
  const nic::QpId qp = queue_pair(thread, peer);
  make_send_room(thread, qp, thread.list.size());
  std::uint32_t& silent = end_of(thread.index, peer).silent;
  if (tag.tell != Tell::with_next) record(thread.list.back(), peer, tag.work_id);
  silent += static_cast<std::uint32_t>(thread.list.size());
  if (tag.tell == Tell::always || silent >= silent_max()) {
    thread.list.back().signaled = true;
    silent = 0;
  }
  const nic::PostResult result = cpu().post_send(qp, thread.list, thread.time.ahead());
  if (result != nic::PostResult::ok) throw std::logic_error("a work request was refused");
  for (const nic::Wqe& wqe : thread.list) cluster_.finish_operation(wqe.op, 0);
  thread.list.clear();
  thread.time.advance(profile().cpu_doorbell);
}

void VirtualTransport::record(nic::Wqe& wqe, NodeId peer, std::uint64_t work_id) {
  SimThread& thread = current();
  if (!thread.fence_next.empty() && thread.fence_next[peer] != 0) {
    thread.fence_next[peer] = 0;
    wqe.fence = true;
    wqe.fence_op = begin_operation(trace::Method::rfence);
    cluster_.finish_operation(wqe.fence_op, 0);
    if (cluster_.recorder) cluster_.recorder->posted(wqe.fence_op, {.method = trace::Method::rfence, .peer = peer});
  }
  // An event of the models touches a location: one on no bytes is none.
  if (nic::is_atomic(wqe.opcode) || wqe.length > 0) {
    wqe.op = begin_operation(method_of(wqe.opcode), argument_of(wqe), work_id);
    if (cluster_.recorder)
      cluster_.recorder->posted(wqe.op, {.method = method_of(wqe.opcode),
                                         .peer = peer,
                                         .local = wqe.local,
                                         .remote = wqe.remote,
                                         .bytes = nic::is_atomic(wqe.opcode) ? 8 : wqe.length,
                                         .compare = wqe.compare_add});
  }
}

void VirtualTransport::make_send_room(SimThread& thread, nic::QpId qp, std::size_t count) {
  const auto full = [&] { return cluster_.system.send_queue_room(qp) < count; };
  if (thread.time.ahead().ps > 0 && full()) thread.time.before(Access::change);  // it waits at its own instant
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

void VirtualTransport::remote_fence(NodeId node) {
  std::vector<std::uint8_t>& next = current().fence_next;
  if (next.empty()) next.assign(num_nodes(), 0);
  next.at(node) = 1;
}

std::size_t VirtualTransport::poll(std::span<Completion> out) {
  std::array<nic::Cqe, 16> cqes;
  SimThread& thread = current();
  const bool empty = cpu().cq_empty(completion_queue_);
  thread.look(empty ? Access::early_look : Access::poll, Look::What::completions, 0);
  const std::size_t most = thread.time.poll_limit(std::min(out.size(), cqes.size()));
  const std::size_t taken = cpu().poll_cq(completion_queue_, std::span(cqes).first(most));
  for (std::size_t i = 0; i < taken; ++i) {
    const NodeId peer = cluster_.system.qp_peer_node(cqes[i].qp);
    out[i] = {cqes[i].wr_id, cqes[i].status, peer, operation_of(cqes[i].opcode)};
    if (out[i].status != Status::success) cluster_.note_failure(cqes[i]);
    if (waiting_for_room_ > 0) cluster_.system.notify(node_, kSendQueueKey | cqes[i].qp);
  }
  thread.time.after_poll(taken);
  return taken;
}

}  // namespace loco
