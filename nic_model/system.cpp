#include "nic_model/system.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

#include "nic_model/acknowledge.hpp"
#include "nic_model/context.hpp"
#include "nic_model/engine.hpp"
#include "nic_model/fetch_ahead.hpp"
#include "nic_model/pcie.hpp"
#include "nic_model/port.hpp"
#include "nic_model/queue_pair.hpp"
#include "nic_model/receive_queue.hpp"
#include "nic_model/requester.hpp"
#include "nic_model/responder.hpp"
#include "nic_model/responses.hpp"

namespace loco::nic {

namespace {

fabric::Config fabric_config(const SystemConfig& c) {
  const HardwareProfile& p = c.profile;
  fabric::Config network = c.network;
  network.topology = p.link_ideal ? fabric::Topology::ideal : c.topology;
  network.nodes = c.nodes;
  network.link_rate = p.link_rate;
  network.link_delay = p.link_delay;
  network.switch_latency = p.switch_latency;
  network.loopback_latency = p.nic_loopback;
  network.delivery_latency = p.nic_receive;
  network.flow.mtu = p.link_mtu;
  network.flow.overhead = p.link_overhead;
  network.packet_max = p.link_mtu + p.link_overhead + sim::Bytes{fabric::kAtomicEthBytes};
  return network;
}

/// Can packets be lost, or come in another order than they were sent in?
bool is_lossy(const SystemConfig& c) {
  const fabric::Options& o = c.network.options;
  const bool in_order = o.routing == fabric::Routing::deterministic || o.routing == fabric::Routing::ecmp;
  return !in_order || o.flow_control == fabric::FlowControl::drop_tail || o.loss != 0 || !c.network.losses.empty() ||
         !c.network.changes.empty();
}

SystemConfig checked(const SystemConfig& config) {
  if (const std::string error = config.profile.validate(); !error.empty()) throw std::invalid_argument(error);
  if (const std::string_view error = fabric_config(config).validate(); !error.empty()) {
    throw std::invalid_argument(std::string(error));
  }
  const Faults& faults = config.profile.faults;
  if (is_lossy(config) && (faults.has(Fault::responder_reorders) || faults.has(Fault::early_write_completion))) {
    throw std::invalid_argument(
        "the faults responder_reorders and early_write_completion need a network that neither loses nor reorders");
  }
  return config;
}

void check_node(const State& s, NodeId node) {
  if (node >= s.hosts.size()) throw std::invalid_argument(fmt::format("there is no node {}", node));
}

std::uint32_t new_domain(State& s, NodeId node) {
  s.domains.push_back({.node = node});
  return static_cast<std::uint32_t>(s.domains.size() - 1);
}

/// The order of posted writes that a function of a NIC is in: the NIC's, or with ID-based ordering its own.
std::uint32_t domain_of(const State& s, NodeId node, std::uint32_t function) {
  if (function == 0 || !s.config.profile.splits_writes()) return node;
  const auto nodes = static_cast<std::uint32_t>(s.hosts.size());
  return nodes + node * (s.config.profile.pcie_functions - 1) + function - 1;
}

QpAttributes default_attributes(const HardwareProfile& p, QpId peer) {
  return {.dest_qp = peer,
          .max_rd_atomic = p.nic_max_rd_atomic,
          .timeout = p.nic_ack_timeout,
          .retry_count = p.nic_retry_count,
          .rnr_retry = p.nic_rnr_retry,
          .min_rnr_timer = p.nic_rnr_timer};
}

void run_thread(Engine& engine, ThreadId id) {
  engine.state.threads[id].state = ThreadState::running;
  Cpu cpu(engine, id);
  engine.context->runner.run(cpu);
  if (engine.state.threads[id].state == ThreadState::running) {
    throw std::logic_error("a thread's step must end with a word on when it goes on");
  }
}

void take_packet(Engine& engine, const fabric::Packet& packet) {
  if (fabric::is_response(packet.opcode)) {
    response_arrived(engine, packet);
  } else {
    request_arrived(engine, packet);
  }
}

void deliver(Engine& engine, const sim::Event& event) {
  State& s = engine.state;
  const std::optional<fabric::Packet> packet = s.fabric.handle(s.events, s.now, event);
  if (s.lossy) release_lost(engine);
  if (!packet) return;
  if (Observer* o = engine.observer()) o->on_packet(PacketStep::received, *packet, s.now);
  if (packet->marked) answer_mark(engine, *packet);
  if (packet->opcode == fabric::Opcode::cnp) {
    s.qps[packet->destination_qp].congestion.edit().rate.on_cnp(s.now, s.fabric.config().options.dcqcn);
  } else if (!hold_arrival(engine, *packet)) {
    take_packet(engine, *packet);
  }
}

void handle(Engine& engine, const sim::Event& e) {
  const auto number = static_cast<std::uint32_t>(e.a);
  switch (e.what) {
    case fabric::kEventLane:
    case fabric::kEventDepart:
    case fabric::kEventPause:
    case fabric::kEventLink:
    case fabric::kEventReroute:
      return deliver(engine, e);
    case fabric::kEventResumed:
      return port_resumed(engine, e.where);
    case kEventThreadStep:
      return run_thread(engine, e.where);
    case kEventDrain:
      return drain(engine, e.where);
    case kEventDoorbell:
      return doorbell_arrived(engine, e.where);
    case kEventFetchWqe:
      return wqes_fetched(engine, e.where, e.a);
    case kEventReadPayload:
      return read_payload(engine, e.where, number);
    case kEventTransmit:
      return transmit(engine, e.where);
    case kEventReadRemote:
      return read_remote(engine, e.where, e.a);
    case kEventAtomic:
      return execute_atomic(engine, e.where);
    case kEventAtomicDone:
      return atomic_unit_free(engine, e.where);
    case kEventRespond:
      return respond(engine, e.where);
    case kEventCommit:
      return commit(engine, e.where, e.a);
    case kEventStrayRequest:
      return stray_request(engine, e.where, number);
    case kEventRetryExceeded:
      return retry_exceeded(engine, e.where, number);
    case kEventTimeout:
      return timed_out(engine, e.where);
    case kEventRnrTimer:
      return rnr_timer_expired(engine, e.where);
    case kEventUnitFree:
      return unit_free(engine, e.where);
    case kEventArrival:
      return take_packet(engine, next_arrival(engine, e.where));
    case kEventProbe:
      return probe_step(engine, e.where, number);
    case kEventProbeDone:
      ++engine.state.hosts[e.where].probes_done;
      return;
    default:
      throw std::logic_error(fmt::format("an event of unknown kind {}", e.what));
  }
}

void run(State& s, Context& context, const sim::Event& event) {
  if (event.at > s.now) s.now = event.at;
  ++s.counters.events;
  Engine engine(s, &context);
  handle(engine, event);
}

}  // namespace

Host::Host(bool witness, const HardwareProfile& p) : memory(witness) {
  constexpr std::uint32_t kWays = 4, kPage = 4096;
  translated =
      KeyCache<std::uint64_t>(p.pcie_iommu ? static_cast<std::uint32_t>(p.pcie_iommu_window.count / kPage) : 0, kWays);
  contexts = KeyCache<std::uint32_t>(p.nic_context_entries, kWays);
  translations = KeyCache<std::uint64_t>(p.nic_translation_entries, kWays);
  read_states = KeyCache<std::uint32_t>(p.nic_read_state_entries, 2);  // see context.cpp
}

namespace {
/// The flow model's network is not in the state: a copy would have a past and no future.
const State& copyable(const State& s) {
  if (s.config.network.flow.enabled)
    throw std::logic_error("a System whose network is the flow model cannot be copied");
  return s;
}
}  // namespace

State::State(const SystemConfig& c) : config(checked(c)), lossy(is_lossy(c)), fabric(fabric_config(c)) {
  if (c.network.flow.enabled) config.profile.link_mtu = {std::uint64_t{1} << 31U};  // a packet is a message
  const Placement placement = c.profile.nic_placement;
  loose = placement == Placement::unordered || (placement == Placement::out_of_order && lossy);
  for (NodeId node = 0; node < c.nodes; ++node) {
    hosts.emplace_back(c.witness, c.profile);
    if (c.profile.pcie_ordering_domain == OrderingDomain::nic) domains.push_back({.node = node});
  }
  if (c.profile.pcie_ordering_domain == OrderingDomain::nic && c.profile.splits_writes()) {
    for (NodeId node = 0; node < c.nodes; ++node) {
      for (std::uint32_t other = 1; other < c.profile.pcie_functions; ++other) domains.push_back({.node = node});
    }
  }
  fabric.start(events);
}

bool State::operator==(const State& o) const {
  if (events.size() != o.events.size()) return false;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (!(events.pending(i) == o.events.pending(i))) return false;
  }
  return config.profile == o.config.profile && config.nodes == o.config.nodes && config.witness == o.config.witness &&
         fabric == o.fabric && hosts == o.hosts && threads == o.threads && domains == o.domains && qps == o.qps &&
         cqs == o.cqs && receive_queues == o.receive_queues && regions == o.regions && buffers == o.buffers &&
         stalled == o.stalled && counters == o.counters && now == o.now && seq == o.seq && subevents == o.subevents;
}

System::System(const SystemConfig& config) : state_(std::make_unique<State>(config)) {}
System::System(const System& other) : state_(std::make_unique<State>(copyable(*other.state_))) {}
System::System(System&&) noexcept = default;
System& System::operator=(const System& other) {
  if (this != &other) *state_ = copyable(*other.state_);
  return *this;
}
System& System::operator=(System&&) noexcept = default;
System::~System() = default;
bool System::operator==(const System& other) const { return *state_ == *other.state_; }

std::optional<fabric::FlowStart> System::take_start() { return state_->fabric.take_start(); }

void System::flow_ended(std::uint32_t lane, sim::SimTime now, sim::Duration latency) {
  state_->fabric.flow_ended(state_->events, lane, now, latency);
}

// --- set-up ----------------------------------------------------------------------------------------------------------

Address System::allocate(NodeId node, std::uint64_t size) {
  check_node(*state_, node);
  constexpr std::uint64_t kMost = 1ULL << 40U;
  if (size == 0 || size > kMost) throw std::invalid_argument(fmt::format("cannot allocate {} bytes", size));
  return state_->hosts[node].memory.allocate(size);
}

MemoryRegion System::register_memory(NodeId node, Address base, std::uint64_t size, std::uint8_t access,
                                     RegionKind kind) {
  check_node(*state_, node);
  if (!state_->hosts[node].memory.contains(base, size)) {
    throw std::invalid_argument("a memory region lies outside of the allocated memory");
  }
  // As on mlx5: an index and a tag byte. Keys differ between regions, so that a wrong one is noticed.
  const auto index = static_cast<std::uint32_t>(state_->regions.size());
  const std::uint32_t key = index << 8U | ((index * 37U + 0x5bU) & 0xffU);
  state_->regions.push_back(
      {.node = node, .base = base, .size = size, .lkey = key, .rkey = key, .access = access, .kind = kind});
  return state_->regions.back();
}

CqId System::create_cq(NodeId node, std::uint32_t entries) {
  check_node(*state_, node);
  if (entries == 0) throw std::invalid_argument("a completion queue needs at least one entry");
  state_->cqs.push_back({.node = node, .entries = entries});
  return static_cast<CqId>(state_->cqs.size() - 1);
}

QpId System::create_qp(NodeId node, CqId send_cq, std::uint32_t entries, ThreadId thread) {
  return create_qp(node, {.send_cq = send_cq, .send_entries = entries, .thread = thread});
}

QpId System::create_qp(NodeId node, const QpConfig& c) {
  State& s = *state_;
  check_node(s, node);
  const CqId recv_cq = c.recv_cq == kNone ? c.send_cq : c.recv_cq;
  for (const CqId cq : {c.send_cq, recv_cq}) {
    if (cq >= s.cqs.size() || s.cqs[cq].node != node) {
      throw std::invalid_argument("a queue pair needs a completion queue of its node");
    }
  }
  if (c.send_entries == 0) throw std::invalid_argument("a send queue needs at least one entry");
  if (c.srq != kNone && (c.srq >= s.receive_queues.size() || s.receive_queues[c.srq].owner != kNone ||
                         s.receive_queues[c.srq].node != node)) {
    throw std::invalid_argument("a queue pair needs a shared receive queue of its node");
  }
  const auto id = static_cast<QpId>(s.qps.size());
  QueuePair& qp = s.qps.emplace_back();
  qp.node = node;
  qp.type = c.type;
  qp.thread = c.thread;
  qp.requester.cq = c.send_cq;
  qp.requester.depth = c.send_entries;
  qp.responder.cq = recv_cq;
  qp.responder.queue = c.srq;
  if (c.srq == kNone && c.recv_entries > 0) {
    qp.responder.queue = static_cast<std::uint32_t>(s.receive_queues.size());
    s.receive_queues.push_back({.node = node, .depth = c.recv_entries, .owner = id});
  }
  const bool per_qp = s.config.profile.pcie_ordering_domain == OrderingDomain::qp;
  const std::uint32_t function = s.hosts[node].queue_pairs++ % s.config.profile.pcie_functions;
  qp.requester.domain = per_qp ? new_domain(s, node) : domain_of(s, node, function);
  qp.responder.domain = per_qp ? new_domain(s, node) : domain_of(s, node, function);
  s.fabric.add_queue_pair(id);
  if (s.fabric.config().options.dcqcn.enabled) qp.congestion.edit().rate = fabric::Dcqcn(s.config.profile.link_rate);
  return id;
}

void System::set_qp_thread(QpId qp, ThreadId thread) { state_->qps.at(qp).thread = thread; }

void System::connect(QpId a, QpId b) {
  State& s = *state_;
  if (a == b || a >= s.qps.size() || b >= s.qps.size()) throw std::invalid_argument("connect needs two queue pairs");
  if (s.qps[a].state != QpState::reset || s.qps[b].state != QpState::reset) {
    throw std::invalid_argument("a queue pair is connected once");
  }
  if (s.qps[a].type != s.qps[b].type || s.qps[a].type == QpType::ud) {
    throw std::invalid_argument("connect needs two queue pairs of the same connected type");
  }
  for (const auto& [mine, other] : {std::pair{a, b}, std::pair{b, a}}) {
    const QpAttributes attributes = default_attributes(s.config.profile, other);
    for (const QpState to : {QpState::init, QpState::rtr, QpState::rts}) modify_qp(mine, to, attributes);
  }
}

void System::activate(QpId qp, std::uint32_t qkey) {
  State& s = *state_;
  if (qp >= s.qps.size() || s.qps[qp].type != QpType::ud || s.qps[qp].state != QpState::reset) {
    throw std::invalid_argument("activate needs an unreliable datagram queue pair in RESET");
  }
  QpAttributes attributes = default_attributes(s.config.profile, kNone);
  attributes.qkey = qkey;
  for (const QpState to : {QpState::init, QpState::rtr, QpState::rts}) modify_qp(qp, to, attributes);
}

ModifyResult System::modify_qp(QpId qp, QpState to, const QpAttributes& attributes) {
  if (qp >= state_->qps.size()) throw std::invalid_argument(fmt::format("there is no queue pair {}", qp));
  Engine engine(*state_, nullptr);
  return modify(engine, qp, to, attributes);
}

SrqId System::create_srq(NodeId node, std::uint32_t entries) {
  check_node(*state_, node);
  if (entries == 0) throw std::invalid_argument("a receive queue needs at least one entry");
  state_->receive_queues.push_back({.node = node, .depth = entries});
  return static_cast<SrqId>(state_->receive_queues.size() - 1);
}

void System::set_srq_limit(SrqId srq, std::uint32_t limit) {
  ReceiveQueue& queue = state_->receive_queues.at(srq);
  if (queue.owner != kNone) throw std::invalid_argument("only a shared receive queue has a limit");
  queue.limit = limit;
}

bool System::post_recv(QpId qp, const RecvWqe& wqe) {
  const QueuePair& q = state_->qps.at(qp);
  if (q.responder.queue == kNone || q.state == QpState::reset) return false;
  return post_srq_recv(q.responder.queue, wqe);
}

bool System::post_srq_recv(SrqId srq, const RecvWqe& wqe) {
  ReceiveQueue& queue = state_->receive_queues.at(srq);
  if (queue.entries.size() == queue.depth) return false;
  queue.entries.push_back(wqe);
  Engine engine(*state_, nullptr);
  receives_posted(engine, srq, 1);
  return true;
}

ThreadId System::create_thread(NodeId node, sim::SimTime start) {
  State& s = *state_;
  check_node(s, node);
  s.threads.emplace_back().node = node;
  const auto id = static_cast<ThreadId>(s.threads.size() - 1);
  s.hosts[node].threads.push_back(id);
  Engine(s, nullptr).schedule(kEventThreadStep, id, 0, start);
  return id;
}

std::uint32_t System::create_flag(NodeId node, std::uint64_t initial) {
  check_node(*state_, node);
  state_->hosts[node].flags.push_back(initial);
  return static_cast<std::uint32_t>(state_->hosts[node].flags.size() - 1);
}

namespace {
/// The domain of bare DMA: the NIC's.
std::uint32_t probe_domain(const State& s, NodeId node) {
  check_node(s, node);
  if (s.config.profile.pcie_ordering_domain != OrderingDomain::nic) {
    throw std::invalid_argument("bare DMA needs pcie.ordering_domain: nic");
  }
  return node;
}
}  // namespace

void System::dma_read(NodeId node, const MemoryRegion& region, Address address, std::uint32_t bytes) {
  const std::uint32_t domain = probe_domain(*state_, node);
  Engine engine(*state_, nullptr);
  sim::Pool<Probe>& probes = state_->hosts[node].probes;
  const std::uint32_t probe = probes.acquire();
  probes[probe] = {.address = address, .length = bytes};
  issue_read(engine, domain, {.kind = ReadKind::probe, .where = node, .number = probe}, bytes,
             state_->config.profile.nic_wqe_start, {region.rkey, address});
}

void System::dma_write(NodeId node, const MemoryRegion& region, Address address, std::uint32_t bytes) {
  const std::uint32_t domain = probe_domain(*state_, node);
  Engine engine(*state_, nullptr);
  const std::uint32_t buffer = engine.new_buffer(bytes);
  std::fill_n(state_->buffers[buffer].data(), bytes, std::byte{});
  post_write(engine, domain, {.probe = true, .buffer = buffer, .length = bytes, .address = address}, {},
             state_->config.profile.nic_wqe_start, region.rkey);
}

std::uint64_t System::dma_done(NodeId node) const { return state_->hosts.at(node).probes_done; }

// --- running
// -----------------------------------------------------------------------------------------------------------

bool System::idle() const { return state_->events.empty(); }

bool System::step(Context& context) {
  if (state_->events.empty()) return false;
  const sim::Event event = state_->events.pop_earliest();
  if (state_->events.take_batch_note()) fetch_ahead(*state_, context.runner);
  run(*state_, context, event);
  return true;
}

void System::step(Context& context, std::size_t i) { run(*state_, context, state_->events.pop(i)); }

std::size_t System::pending_events() const { return state_->events.size(); }
const sim::Event& System::pending_event(std::size_t i) const { return state_->events.pending(i); }
sim::SimTime System::now() const { return state_->now; }
sim::SimTime System::next_time() const { return state_->events.earliest().at; }

void System::notify(NodeId node, std::uint64_t key) {
  check_node(*state_, node);
  Engine(*state_, nullptr).touched(node, watch_key(WatchKind::user, key));
}

void System::wake(ThreadId thread, sim::SimTime at) {
  Thread& t = state_->threads.at(thread);
  if (t.state != ThreadState::stopped) return;
  t.state = ThreadState::scheduled;
  Engine(*state_, nullptr).schedule(kEventThreadStep, thread, 0, at);
}

void System::read_memory(NodeId node, Address address, std::span<std::byte> out) const {
  check_node(*state_, node);
  state_->hosts[node].memory.read(address, out);
}

void System::write_memory(NodeId node, Address address, std::span<const std::byte> in) {
  check_node(*state_, node);
  if (!state_->hosts[node].memory.contains(address, in.size())) {
    throw std::invalid_argument("write_memory outside of the allocated memory");
  }
  state_->hosts[node].memory.write(address, in);
}

std::uint64_t System::word(NodeId node, Address address) const { return state_->hosts.at(node).memory.word(address); }

void System::set_word(NodeId node, Address address, std::uint64_t value) {
  write_memory(node, word_of(address), std::as_bytes(std::span(&value, 1)));
}

// --- inspection
// ----------------------------------------------------------------------------------------------------------

const SystemConfig& System::config() const { return state_->config; }
const Counters& System::counters() const { return state_->counters; }
const fabric::Fabric& System::network() const { return state_->fabric; }
QpState System::qp_state(QpId qp) const { return state_->qps.at(qp).state; }
NodeId System::qp_node(QpId qp) const { return state_->qps.at(qp).node; }
QpId System::qp_peer(QpId qp) const { return state_->qps.at(qp).peer; }
NodeId System::qp_peer_node(QpId qp) const { return state_->qps.at(qp).peer_node; }
std::uint32_t System::send_queue_room(QpId qp) const {
  const Requester& rq = state_->qps.at(qp).requester;
  return rq.depth - static_cast<std::uint32_t>(rq.queue.size());
}
std::uint32_t System::recv_queue_room(QpId qp) const {
  const std::uint32_t index = state_->qps.at(qp).responder.queue;
  if (index == kNone) return 0;
  const ReceiveQueue& queue = state_->receive_queues[index];
  return queue.depth - static_cast<std::uint32_t>(queue.entries.size());
}
std::size_t System::cq_size(CqId cq) const { return state_->cqs.at(cq).cqes.size(); }
bool System::cq_overrun(CqId cq) const { return state_->cqs.at(cq).overrun; }
bool System::thread_stopped(ThreadId thread) const { return state_->threads.at(thread).state == ThreadState::stopped; }
SubeventId System::subevents() const { return state_->subevents; }
std::uint64_t System::seq() const { return state_->seq; }

}  // namespace loco::nic
