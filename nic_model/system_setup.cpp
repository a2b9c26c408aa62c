// System: building the machine.
#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>
#include <utility>

#include "fabric/packet_network.hpp"
#include "nic_model/engine/engine.hpp"
#include "nic_model/responder/responder.hpp"
#include "nic_model/state.hpp"
#include "nic_model/system.hpp"
#include "nic_model/verbs/queue_pair.hpp"
#include "sim/id_format.hpp"

namespace loco::nic {

namespace {

std::uint32_t new_domain(State& s, NicId nic) {
  s.domains.emplace_back(nic);
  const auto domain = static_cast<std::uint32_t>(s.domains.size() - 1);
  s.add_paths(domain);
  return domain;
}

/// The ordering domain of a function of a NIC: the NIC's, or its own with ID-based ordering.
std::uint32_t domain_of(const State& s, NicId nic, std::uint32_t function) {
  if (function == 0 || !s.kernel.profile(nic).splits_writes()) return nic.index();
  return s.hosts[nic].domain_of(function);
}

QpAttributes default_attributes(const HardwareProfile& p, QpId peer) {
  return {.dest_qp = peer,
          .max_rd_atomic = p.nic_max_rd_atomic,
          .timeout = p.nic_ack_timeout,
          .retry_count = p.nic_retry_count,
          .rnr_retry = p.nic_rnr_retry,
          .min_rnr_timer = p.nic_rnr_timer};
}

/// A NIC with several ports gives each packet to one of them, or all to one (fabric::Config::planes): which is the
/// network's to say, of all queue pairs.
void require_planes_alike(const State& s, NicId nic, const DeliveryPolicy& policy) {
  const fabric::PacketNetwork* const network = s.network->packet_network();
  if (network == nullptr || network->links() == 0 || network->graph().ports(first_port(nic).index()).size() < 2) return;
  const fabric::Config& config = network->config();
  if (policy.order.writes_early == config.planes && policy.paths.sprays() == config.sprays) return;
  throw std::invalid_argument("on NICs with several ports all transports place packets alike");
}

void take_device_memory(State& s, HostId node, std::uint32_t index, std::uint64_t size) {
  const NicId nic = s.kernel.nic_of(node, index);
  const std::uint64_t most = s.kernel.profile(nic).nic_device_memory.count;
  Host& host = s.hosts[nic];
  if (!host.take_device_memory(size, most)) {
    throw std::invalid_argument(
        fmt::format("node {}: no room for {} bytes of device memory, {} of {} are taken (nic.device_memory)", node,
                    size, host.device_memory(), most));
  }
  s.reach_nics(node);
}

}  // namespace

Address System::allocate(NodeId node, std::uint64_t size) {
  const HostId host = checked_host(*state_, node);
  constexpr std::uint64_t kMost = 1ULL << 40U;
  if (size == 0 || size > kMost) throw std::invalid_argument(fmt::format("cannot allocate {} bytes", size));
  return state_->memories[host].allocate(size);
}

void System::set_foreign_memory(NodeId node, ForeignMemory* memory) {
  state_->memories[checked_host(*state_, node)].set_foreign(memory);
}

namespace {
/// Throws std::invalid_argument if such a region is impossible.
void check_region(const State& s, NodeId node, Address base, std::uint64_t size, std::uint8_t access) {
  if (!s.memories[checked_host(s, node)].contains(base, size)) {
    throw std::invalid_argument("a memory region lies outside of the allocated memory");
  }
  if ((access & (kRemoteWrite | kRemoteAtomic)) != 0 && (access & kLocalWrite) == 0) {
    throw std::invalid_argument(
        "remote write and remote atomic access need local write access, too (ibv_reg_mr: EINVAL)");
  }
}
}  // namespace

MemoryRegion System::register_memory(NodeId node, Address base, std::uint64_t size, std::uint8_t access,
                                     RegionKind kind) {
  check_region(*state_, node, base, size, access);
  const HostId host(node);
  if (kind.gpu > state_->kernel.config().hosts.gpus(host))
    throw std::invalid_argument(
        fmt::format("host {} has no GPU {}: it has {}", node, kind.gpu - 1, state_->kernel.config().hosts.gpus(host)));
  if (kind.numa >= state_->kernel.config().hosts.sockets(host))
    throw std::invalid_argument(fmt::format("host {} has no NUMA node {}: it has {}", node, kind.numa,
                                            state_->kernel.config().hosts.sockets(host)));
  if ((kind.gpu != 0 ? 1 : 0) + (kind.device ? 1 : 0) + (kind.numa != 0 ? 1 : 0) > 1)
    throw std::invalid_argument("a memory region is in the host's memory, on the NIC or on a GPU, not in two of them");
  if (kind.nic != 0 && !kind.device)
    throw std::invalid_argument("a memory region names a NIC that it is on, but is not memory on a NIC");
  if (kind.device) take_device_memory(*state_, host, kind.nic, size);
  // As on mlx5: an index and a tag byte. Keys differ between regions, so that a wrong one is noticed.
  const auto index = static_cast<std::uint32_t>(state_->regions.size());
  const std::uint32_t key = index << 8U | ((index * 37U + 0x5bU) & 0xffU);
  state_->regions.push_back(
      {.node = node, .base = base, .size = size, .lkey = key, .rkey = key, .access = access, .kind = kind});
  return state_->regions.back();
}

void System::deregister_memory(std::uint32_t key) {
  const std::uint32_t index = key >> 8U;
  if (index >= state_->regions.size() || state_->regions[index].rkey != key)
    throw std::invalid_argument(fmt::format("there is no memory region of key {:#x}", key));
  MemoryRegion& region = state_->regions[index];
  if (region.kind.device)
    state_->hosts[state_->kernel.nic_of(HostId(region.node), region.kind.nic)].return_device_memory(region.size);
  region.lkey = region.rkey = 0;  // no region has key 0
}

void System::change_memory(std::uint32_t key, Address base, std::uint64_t size, std::uint8_t access,
                           std::uint32_t new_key) {
  const std::uint32_t index = key >> 8U;
  if (index >= state_->regions.size() || state_->regions[index].rkey != key || new_key >> 8U != index)
    throw std::invalid_argument(fmt::format("there is no memory region of key {:#x}, {:#x}", key, new_key));
  MemoryRegion& region = state_->regions[index];
  check_region(*state_, region.node, base, size, access);
  region.base = base;
  region.size = size;
  region.access = access;
  region.lkey = region.rkey = new_key;
}

void System::change_domain(std::uint32_t key, std::uint16_t domain) {
  MemoryRegion& region = state_->regions.at(key >> 8U);
  if (region.rkey == key) region.kind.domain = domain;
}

bool System::resize_cq(CqId cq, std::uint32_t entries) { return state_->cqs.at(cq).resize(entries); }

void System::set_qp_access(QpId qp, std::uint8_t access) {
  Connection& connection = state_->connections.at(qp);
  QpSettings settings = state_->settings[connection.settings()];
  settings.access = access;
  connection.set_settings(number_of(state_->settings, settings));
}

CqId System::create_cq(NodeId node, std::uint32_t entries) {
  const HostId host = checked_host(*state_, node);
  if (entries == 0) throw std::invalid_argument("a completion queue needs at least one entry");
  state_->cqs.emplace_back(host, entries);
  return static_cast<CqId>(state_->cqs.size() - 1);
}

QpId System::create_qp(NodeId node, CqId send_cq, std::uint32_t entries, ThreadId thread) {
  return create_qp(node, {.send_cq = send_cq, .send_entries = entries, .thread = thread});
}

namespace {
/// Of very many elements, with room for eight times as many when there is no more: room that is not used takes no
/// memory, only addresses, and what a smaller array leaves behind when it moves is hardly used again.
template <class T>
void make_room(std::vector<T>& all) {
  constexpr std::size_t kMany = 1U << 15U;
  if (all.size() == all.capacity() && all.size() >= kMany) all.reserve(8 * all.size());
}
}  // namespace

QpId System::create_qp(NodeId node, const QpConfig& c) {
  State& s = *state_;
  const HostId host = checked_host(s, node);
  const CqId recv_cq = c.recv_cq == kNone ? c.send_cq : c.recv_cq;
  for (const CqId cq : {c.send_cq, recv_cq}) {
    if (cq >= s.cqs.size() || s.cqs[cq].node() != host) {
      throw std::invalid_argument("a queue pair needs a completion queue of its node");
    }
  }
  if (c.send_entries == 0) throw std::invalid_argument("a send queue needs at least one entry");
  if (c.srq != kNone && (c.srq >= s.receive_queues.size() || !s.receive_queues[c.srq].shared() ||
                         s.receive_queues[c.srq].node() != host)) {
    throw std::invalid_argument("a queue pair needs a shared receive queue of its node");
  }
  const NicId nic = s.kernel.nic_of(host, c.nic);
  const HardwareProfile& p = s.kernel.profile(nic);
  const auto id = static_cast<QpId>(s.connections.size());
  if (c.traffic_class > 7 || (c.ack_class > 7 && c.ack_class != kOwnClass))
    throw std::invalid_argument("a traffic class has a number from 0 to 7");
  if (c.congestion > s.kernel.config().congestion.size())
    throw std::invalid_argument("a queue pair has a congestion control that the system does not have");
  static_cast<void>(s.kernel.port_of(nic, c.port));  // there is such a port
  const std::uint8_t policy = s.kernel.policy_number(c.type, c.transport);
  if (c.type == QpType::rc && !s.kernel.config().transports.empty())
    require_planes_alike(s, nic, s.kernel.policy(policy));
  make_room(s.connections);
  make_room(s.requesters);
  make_room(s.responders);
  make_room(s.contexts);
  s.connections.emplace_back(nic, c, policy);
  QpSettings settings;
  settings.xrc = c.xrc;
  settings.domain = c.domain;
  s.connections.back().set_settings(number_of(s.settings, settings));
  const bool per_qp = p.pcie_ordering_domain == OrderingDomain::qp;
  const std::uint32_t function = s.hosts[nic].next_function(p.pcie_functions);
  const auto domain = [&] { return per_qp ? new_domain(s, nic) : domain_of(s, nic, function); };
  s.requesters.emplace_back(c.send_cq, c.send_entries, domain());
  std::uint32_t queue = c.srq;
  if (c.srq == kNone && c.recv_entries > 0) {
    queue = static_cast<std::uint32_t>(s.receive_queues.size());
    s.receive_queues.emplace_back(host, c.recv_entries, id);
  }
  s.responders.emplace_back(domain(), recv_cq, queue);
  s.contexts.emplace_back();
  s.network->add_queue_pair(id);
  return id;
}

void System::set_qp_thread(QpId qp, ThreadId thread) { state_->connections.at(qp).set_thread(thread); }

void System::connect(QpId a, QpId b) {
  State& s = *state_;
  if (a == b || a >= s.connections.size() || b >= s.connections.size())
    throw std::invalid_argument("connect needs two queue pairs");
  if (s.connections[a].state() != QpState::reset || s.connections[b].state() != QpState::reset) {
    throw std::invalid_argument("a queue pair is connected once");
  }
  if (s.connections[a].type() != s.connections[b].type() || s.connections[a].type() == QpType::ud) {
    throw std::invalid_argument("connect needs two queue pairs of the same connected type");
  }
  if (s.connections[a].policy() != s.connections[b].policy())
    throw std::invalid_argument("connect needs two queue pairs of one transport");
  for (const auto& [mine, other] : {std::pair{a, b}, std::pair{b, a}}) {
    const NicId nic = s.connections[mine].node();
    const HardwareProfile& p = s.kernel.profile(nic);
    QpAttributes attributes = default_attributes(p, other);
    // A responder has room for as many READs and atomics as its peer may ask for.
    const std::uint32_t most = s.kernel.profile(s.connections[other].node()).nic_max_rd_atomic;
    attributes.max_rd_atomic = std::min(attributes.max_rd_atomic, most);
    const std::vector<std::uint32_t>& mtus = s.kernel.config().path_mtu;
    if (const NodeId node = s.kernel.host_of(nic).index(); node < mtus.size()) attributes.path_mtu = mtus[node];
    for (const QpState to : {QpState::init, QpState::rtr, QpState::rts})
      if (modify_qp(mine, to, attributes) != ModifyResult::ok && attributes.path_mtu != 0)
        throw std::invalid_argument(
            fmt::format("a path MTU of {} bytes: expected 256, 512, 1024, 2048 or 4096, at most the links' {}",
                        attributes.path_mtu, p.link_mtu.count));
  }
}

void System::activate(QpId qp, std::uint32_t qkey) {
  State& s = *state_;
  if (qp >= s.connections.size() || s.connections[qp].type() != QpType::ud ||
      s.connections[qp].state() != QpState::reset) {
    throw std::invalid_argument("activate needs an unreliable datagram queue pair in RESET");
  }
  QpAttributes attributes = default_attributes(s.kernel.profile(s.connections[qp].node()), kNone);
  attributes.qkey = qkey;
  for (const QpState to : {QpState::init, QpState::rtr, QpState::rts}) modify_qp(qp, to, attributes);
}

ModifyResult System::modify_qp(QpId qp, QpState to, const QpAttributes& attributes) {
  if (qp >= state_->connections.size()) throw std::invalid_argument(fmt::format("there is no queue pair {}", qp));
  Engine engine(state_->units(), nullptr);
  return modify(engine, qp, to, attributes);
}

void System::power_off(NodeId node) {
  const HostId host = checked_host(*state_, node);
  for (QpId qp = 0; qp < state_->connections.size(); ++qp)
    if (state_->kernel.host_of(state_->connections[qp].node()) == host) modify_qp(qp, QpState::reset);
}

SrqId System::create_srq(NodeId node, std::uint32_t entries, CqId cq) {
  const HostId host = checked_host(*state_, node);
  if (entries == 0) throw std::invalid_argument("a receive queue needs at least one entry");
  if (cq != kNone && (cq >= state_->cqs.size() || state_->cqs[cq].node() != host))
    throw std::invalid_argument("a shared receive queue needs a completion queue of its node");
  state_->receive_queues.emplace_back(host, entries, kNone, cq);
  return static_cast<SrqId>(state_->receive_queues.size() - 1);
}

void System::set_srq_limit(SrqId srq, std::uint32_t limit) {
  ReceiveQueue& queue = state_->receive_queues.at(srq);
  if (!queue.shared()) throw std::invalid_argument("only a shared receive queue has a limit");
  if (limit > queue.depth()) throw std::invalid_argument("a limit is at most what the receive queue holds");
  queue.set_limit(limit);
}

bool System::post_recv(QpId qp, const RecvWqe& wqe) {
  const std::uint32_t queue = state_->responders.at(qp).receive_queue();
  if (queue == kNone || state_->connections[qp].state() == QpState::reset) return false;
  if (state_->receive_queues[queue].shared()) return false;  // ibv_post_recv(3): its own queue is not used
  return post_srq_recv(queue, wqe);
}

bool System::post_srq_recv(SrqId srq, const RecvWqe& wqe) {
  ReceiveQueue& queue = state_->receive_queues.at(srq);
  if (queue.room() == 0) return false;
  queue.post(wqe, kNobody);
  Engine engine(state_->units(), nullptr);
  receives_posted(engine, srq, kNobody, 1);
  return true;
}

ThreadId System::create_thread(NodeId node, sim::SimTime start) {
  State& s = *state_;
  const HostId host = checked_host(s, node);
  s.threads.emplace_back(host);
  const auto id = static_cast<ThreadId>(s.threads.size() - 1);
  s.processes[host].add_thread(id);
  if (has(node)) Engine(s.units(), nullptr).schedule(kEventThreadStep, id, 0, start);
  return id;
}

std::uint32_t System::create_flag(NodeId node, std::uint64_t initial) {
  return state_->processes[checked_host(*state_, node)].add_flag(initial);
}

void System::set_flag(NodeId node, std::uint32_t flag, std::uint64_t initial) {
  state_->processes[checked_host(*state_, node)].set_flag(flag, initial);
}

}  // namespace loco::nic
