#include "nic_model/system.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

#include "nic_model/engine/engine.hpp"
#include "nic_model/exploration/fetch_ahead.hpp"
#include "nic_model/pcie/pcie.hpp"
#include "nic_model/port/context.hpp"
#include "nic_model/port/port.hpp"
#include "nic_model/requester/acknowledge.hpp"
#include "nic_model/requester/requester.hpp"
#include "nic_model/requester/retransmit.hpp"
#include "nic_model/responder/responder.hpp"
#include "nic_model/responder/responses.hpp"

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
  network.flow.packet_gap = p.nic_packet_gap;
  network.flow.reth_in_all = overtakes(p.nic_placement);
  network.packet_max = p.link_mtu + p.link_overhead + sim::Bytes{fabric::kAtomicEthBytes};
  return network;
}

/// Can packets be lost, or come in another order than they were sent in?
bool is_lossy(const SystemConfig& c) {
  if (c.profile.link_ideal) return false;
  const fabric::Options& o = c.network.options;
  const bool in_order = o.routing == fabric::Routing::deterministic || o.routing == fabric::Routing::ecmp;
  return !in_order || c.network.buffers_overflow() || o.loss != 0 || !c.network.losses.empty() ||
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
  constexpr std::uint32_t kWays = 4;
  const std::uint64_t pages = p.pcie_iommu ? p.pcie_iommu_window.count / kIommuPage.count : 0;
  translated = KeyCache<std::uint64_t>(static_cast<std::uint32_t>(pages), kWays);
  contexts = KeyCache<std::uint32_t>(p.nic_context_entries, kWays);
  translations = KeyCache<std::uint64_t>(p.nic_translation_entries, kWays);
  read_states = KeyCache<std::uint32_t>(p.nic_read_state_entries, 2);  // see context.cpp
}

namespace {
/// The flow model's network is not in the state: nothing would end a copy's flows.
const State& copyable(const State& s) {
  if (s.config.network.flow.enabled)
    throw std::logic_error("a System whose network is the flow model cannot be copied");
  return s;
}
}  // namespace

State::State(const SystemConfig& c) : config(checked(c)), lossy(is_lossy(c)), fabric(fabric_config(c)) {
  if (c.network.flow.enabled) config.profile.link_mtu = {std::uint64_t{1} << 31U};  // a packet is a message
  const Placement placement = c.profile.nic_placement;
  loose = reads_as_they_come(placement) || (placement == Placement::out_of_order && lossy);
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
         tracks == o.tracks && stalled == o.stalled && counters == o.counters && gap_busy == o.gap_busy &&
         now == o.now && seq == o.seq && subevents == o.subevents;
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

void System::flow_ended(std::uint32_t lane, sim::SimTime now, const fabric::FlowEnd& end) {
  state_->fabric.flow_ended(state_->events, lane, now, end);
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
  probes[probe] = {.address = address, .length = bytes, .key = region.rkey};
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

// --- running --------------------------------------------------------------------------------------------------------

bool System::idle() const { return state_->events.empty(); }

bool System::step(Context& context) {
  if (state_->events.empty()) return false;
  const sim::Event event = state_->events.pop_earliest();
  if (state_->events.take_batch_note()) fetch_ahead(*state_, context.runner);
  run(*state_, context, event);
  return true;
}

void System::step(Context& context, std::size_t i) {
  sim::Event event = state_->events.pop(i);
  if (event.at == kNoTimeYet) event.at = state_->now;
  run(*state_, context, event);
}

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

// --- inspection -----------------------------------------------------------------------------------------------------

const SystemConfig& System::config() const { return state_->config; }
const Counters& System::counters() const { return state_->counters; }
const fabric::Fabric& System::network() const { return state_->fabric; }
QpState System::qp_state(QpId qp) const { return state_->qps.at(qp).state; }
NodeId System::qp_node(QpId qp) const { return state_->qps.at(qp).node; }
QpId System::qp_peer(QpId qp) const { return state_->qps.at(qp).peer; }
ThreadId System::qp_thread(QpId qp) const { return state_->qps.at(qp).thread; }

NodeId System::qp_peer_node(QpId qp) const { return state_->qps.at(qp).peer_node; }
std::uint32_t System::send_queue_room(QpId qp) const { return state_->qps.at(qp).requester.room(); }
std::uint32_t System::recv_queue_room(QpId qp) const {
  const std::uint32_t index = state_->qps.at(qp).responder.queue;
  if (index == kNone) return 0;
  const ReceiveQueue& queue = state_->receive_queues[index];
  return queue.depth - static_cast<std::uint32_t>(queue.entries.size());
}
std::size_t System::cq_size(CqId cq) const { return state_->cqs.at(cq).cqes.size(); }
std::vector<Cqe> System::failed_cqes(CqId cq) const {
  const sim::Ring<Cqe>& cqes = state_->cqs.at(cq).cqes;
  std::vector<Cqe> failed;
  for (std::size_t i = 0; i < cqes.size(); ++i)
    if (cqes[i].status != Status::success) failed.push_back(cqes[i]);
  return failed;
}
bool System::cq_overrun(CqId cq) const { return state_->cqs.at(cq).overrun; }
bool System::thread_stopped(ThreadId thread) const { return state_->threads.at(thread).state == ThreadState::stopped; }
SubeventId System::subevents() const { return state_->subevents; }
std::uint64_t System::seq() const { return state_->seq; }

}  // namespace loco::nic
