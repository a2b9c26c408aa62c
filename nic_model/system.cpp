#include "nic_model/system.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

#include "nic_model/engine/engine.hpp"
#include "nic_model/exploration/fetch_ahead.hpp"
#include "nic_model/pcie/bursts.hpp"
#include "nic_model/pcie/link.hpp"
#include "nic_model/pcie/pcie.hpp"
#include "nic_model/port/context.hpp"
#include "nic_model/port/port.hpp"
#include "nic_model/port/receive_buffer.hpp"
#include "nic_model/requester/requester.hpp"
#include "nic_model/responder/atomics.hpp"
#include "nic_model/responder/responder.hpp"
#include "nic_model/state.hpp"
#include "nic_model/verbs/store_buffer.hpp"
#include "sim/invariant.hpp"

namespace loco::nic {

namespace {

void run_thread(Engine& engine, ThreadId id) {
  engine.threads[id].begin_step();
  Cpu cpu(engine, id);
  engine.context->runner.run(cpu);
  if (engine.threads[id].state() == ThreadState::running) {
    throw std::logic_error("a thread's step must end with a word on when it goes on");
  }
}

void take_packet(Engine& engine, const fabric::Packet& packet) {
  if (fabric::is_response(packet.opcode)) {
    engine.requesters[packet.destination_qp].take_response(engine, packet);
  } else {
    engine.responders[packet.destination_qp].request_arrived(engine, packet);
  }
}

void deliver(Engine& engine, const sim::Event& event) {
  const std::optional<fabric::Packet> packet = engine.network.handle(engine.kernel.events(), engine.now(), event);
  if (engine.lossy()) release_lost(engine);
  if (!packet) return;
  if (!admit_received(engine, *packet)) return engine.release(packet->buffer);
  if (Observer* o = engine.observer()) o->on_packet(PacketStep::received, *packet, engine.now());
  if (packet->marked) answer_mark(engine, *packet);
  if (packet->opcode == fabric::Opcode::cnp) {
    slow_down(engine, packet->destination_qp);
  } else if (!hold_arrival(engine, *packet)) {
    take_packet(engine, *packet);
  }
}

/// The oldest doorbell reaches the NIC.
void ring(Engine& engine, NodeId node) {
  const Doorbell doorbell = take_doorbell(engine, node);
  engine.requesters[doorbell.qp].ring(engine, doorbell.qp, doorbell.posted, doorbell.blueflame);
}

/// A queue pair need not wait for a processing unit any more.
void unit_free(Engine& engine, QpId id) {
  const bool in_turn = begin_turn(engine, id);
  engine.requesters[id].start(engine, id, {});
  if (in_turn) end_turn(engine, id);
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
      return ring(engine, e.where);
    case kEventFetchWqe:
      return engine.requesters[e.where].wqes_fetched(engine, e.where, number);
    case kEventReadPayload:
      return engine.requesters[e.where].read_payload(engine, e.where, number);
    case kEventTransmit:
      return engine.requesters[e.where].transmit(engine, e.where);
    case kEventReadRemote:
      return engine.responders[e.where].read_remote(engine, e.where, e.a);
    case kEventAtomic:
      return execute_atomic(engine, e.where, number);
    case kEventAtomicDone:
      return atomic_done(engine, e.where, number);
    case kEventRespond:
      return engine.responders[e.where].respond(engine, e.where);
    case kEventCommit:
      return commit(engine, e.where, e.a);
    case kEventStrayRequest:
      return engine.responders[e.where].stray_request(engine, e.where, number);
    case kEventTimeout:
      return engine.requesters[e.where].timed_out(engine, e.where);
    case kEventAckTimers:
      return engine.ack_timers.look(engine);
    case kEventRnrTimer:
      return engine.requesters[e.where].rnr_timer_expired(engine, e.where);
    case kEventUnitFree:
      return unit_free(engine, e.where);
    case kEventArrival:
      return take_packet(engine, next_arrival(engine, e.where));
    case kEventProbe:
      return probe_step(engine, e.where, number);
    case kEventProbeDone:
      return engine.links[e.where].probe_done();
    default:
      throw std::logic_error(fmt::format("an event of unknown kind {}", e.what));
  }
}

#ifdef LOCO_SIM_CHECK_STEPS
void check_queue_pair(const State& s, QpId id) {
  s.connections[id].check(id, s.kernel.now());
  s.requesters[id].check(id, s.kernel.now());
  s.responders[id].check(s.connections[id], id, s.kernel.now());
  s.contexts[id].check(id, s.kernel.now());
}

/// Of all units.
void check_all(const State& s) {
  const sim::SimTime now = s.kernel.now();
  for (QpId id = 0; id < s.connections.size(); ++id) check_queue_pair(s, id);
  for (CqId id = 0; id < s.cqs.size(); ++id) s.cqs[id].check(id, now);
  for (SrqId id = 0; id < s.receive_queues.size(); ++id) s.receive_queues[id].check(id, now);
  for (ThreadId id = 0; id < s.threads.size(); ++id) s.threads[id].check(id, now, s.kernel.profile());
  for (NodeId id = 0; id < s.processes.size(); ++id) s.processes[id].check(id, now);
  for (std::uint32_t domain = 0; domain < s.domains.size(); ++domain) s.domains[domain].check(domain, now);
  const HardwareProfile& p = s.kernel.profile();
  for (NodeId node = 0; node < s.links.size(); ++node) {
    s.links[node].check(node, p, now);
    s.ports[node].check(node, now);
    s.receive_buffers[node].check(node, p.nic_receive_buffer.count, now);
    s.caches[node].check(node, p, now);
    s.atomics[node].check(node, now, p.nic_atomic_banks);
  }
}

/// What holds between two steps, of what an event was for; of everything now and then.
void check_step(const State& s, const sim::Event& event) {
  const bool of_queue_pair =
      event.what == kEventFetchWqe || event.what == kEventReadPayload || event.what == kEventTransmit ||
      event.what == kEventTimeout || event.what == kEventRnrTimer || event.what == kEventUnitFree ||
      event.what == kEventReadRemote || event.what == kEventRespond || event.what == kEventStrayRequest;
  if (of_queue_pair) check_queue_pair(s, event.where);
  if (event.what == kEventCommit) s.domains[event.where].check(event.where, s.kernel.now());
  if (event.what == kEventThreadStep || event.what == kEventDrain) {
    s.threads[event.where].check(event.where, s.kernel.now(), s.kernel.profile());
  }
  constexpr std::uint64_t kNowAndThen = 1024;
  if (s.kernel.counters().events % kNowAndThen == 0) check_all(s);
}
#endif

void run(Engine& engine, Context& context, const sim::Event& event) {
  engine.kernel.advance(event.at);
  engine.context = &context;
  handle(engine, event);
  engine.context = nullptr;
}

}  // namespace

namespace {
/// What shares links among flows is not in the state: nothing would end a copy's flows.
const State& copyable(const State& s) {
  if (s.kernel.config().network.model == fabric::Model::flow)
    throw std::logic_error("a System whose network is the flow model cannot be copied");
  return s;
}
}  // namespace

State::State(const SystemConfig& c) : kernel(c), network(fabric::make_network(fabric_config(c))), processes(c.nodes) {
  for (NodeId node = 0; node < c.nodes; ++node) {
    memories.emplace_back(c.witness);
    hosts.emplace_back();
    atomics.emplace_back();
    links.emplace_back(c.profile);
    caches.emplace_back(c.profile);
    if (c.profile.pcie_ordering_domain == OrderingDomain::nic) domains.emplace_back(node);
  }
  if (c.profile.pcie_ordering_domain == OrderingDomain::nic && c.profile.splits_writes()) {
    for (NodeId node = 0; node < c.nodes; ++node) {
      for (std::uint32_t other = 1; other < c.profile.pcie_functions; ++other) domains.emplace_back(node);
    }
  }
  for (std::uint32_t domain = 0, end = static_cast<std::uint32_t>(domains.size()); domain < end; ++domain)
    add_device_path(domain);
  ports.resize(c.nodes);
  receive_buffers = make_receive_buffers(c.nodes, *network, kernel.profile());
  network->start(kernel.events());
}

void State::add_device_path(std::uint32_t domain) {
  if (!kernel.profile().nic_device_own_path) return;
  domains[domain].set_device_path(static_cast<std::uint32_t>(domains.size()));
  domains.emplace_back(domains[domain].node());
}

void System::bind() { engine_ = std::make_unique<Engine>(state_->units(), nullptr); }

System::System(const SystemConfig& config) : state_(std::make_unique<State>(config)) { bind(); }
System::System(const System& other) : state_(std::make_unique<State>(copyable(*other.state_))) { bind(); }
System::System(System&&) noexcept = default;
System& System::operator=(const System& other) {
  if (this == &other) return *this;
  *state_ = copyable(*other.state_);
  bind();  // the network may be another object now
  return *this;
}
System& System::operator=(System&&) noexcept = default;
System::~System() = default;
bool System::operator==(const System& other) const { return *state_ == *other.state_; }

std::optional<fabric::FlowStart> System::take_start() { return state_->network->flow_network()->take_start(); }

void System::flow_ended(std::uint32_t lane, sim::SimTime now, const fabric::FlowEnd& end) {
  state_->network->flow_network()->flow_ended(state_->kernel.events(), lane, now, end);
}

namespace {
/// The domain of bare DMA: the NIC's.
std::uint32_t probe_domain(const State& s, NodeId node) {
  check_node(s, node);
  if (s.kernel.profile().pcie_ordering_domain != OrderingDomain::nic) {
    throw std::invalid_argument("bare DMA needs pcie.ordering_domain: nic");
  }
  return node;
}
}  // namespace

void System::dma_read(NodeId node, const MemoryRegion& region, Address address, std::uint32_t bytes) {
  probe_domain(*state_, node);
  Engine engine(state_->units(), nullptr);
  start_probe(engine, node, region, address, bytes);
}

void System::dma_write(NodeId node, const MemoryRegion& region, Address address, std::uint32_t bytes) {
  const std::uint32_t domain = probe_domain(*state_, node);
  Engine engine(state_->units(), nullptr);
  const std::uint32_t buffer = engine.payloads.acquire(bytes);
  std::fill_n(state_->payloads.edit(buffer), bytes, std::byte{});
  post_write(engine, domain, {.probe = true, .buffer = buffer, .length = bytes, .address = address}, {},
             state_->kernel.profile().nic_wqe_start, region.rkey);
}

std::uint64_t System::dma_done(NodeId node) const { return state_->links.at(node).probes_done(); }

// --- running --------------------------------------------------------------------------------------------------------

namespace {
/// Is nothing pending but a look at those who wait for answers, of whom there are none?
bool only_looks(const State& s) {
  if (s.kernel.events().size() != 1 || !s.ack_timers.pending()) return false;
  return std::ranges::none_of(s.requesters, [](const Requester& r) { return r.waits_for_answer(); });
}
}  // namespace

bool System::idle() const { return state_->kernel.events().empty() || only_looks(*state_); }

bool System::step(Context& context) {
  if (state_->kernel.events().size() <= 1 && idle()) return false;
  const sim::Event event = state_->kernel.events().pop_earliest();
  if (state_->kernel.events().take_batch_note()) fetch_ahead(*state_, context.runner);
  run(*engine_, context, event);
#ifdef LOCO_SIM_CHECK_STEPS
  check_step(*state_, event);
#endif
  return true;
}

void System::step(Context& context, std::size_t i) {
  LOCO_INVARIANT(!state_->kernel.config().timed, now(), "system", "in a timed run the earliest event is next");
  sim::Event event = state_->kernel.events().pop(i);
  if (event.at == kNoTimeYet) event.at = state_->kernel.now();
  run(*engine_, context, event);
#ifdef LOCO_SIM_CHECK_STEPS
  check_step(*state_, event);
#endif
}

std::size_t System::pending_events() const { return state_->kernel.events().size(); }
const sim::Event& System::pending_event(std::size_t i) const { return state_->kernel.events().pending(i); }
sim::SimTime System::now() const { return state_->kernel.now(); }
sim::SimTime System::next_time() const { return state_->kernel.events().earliest().at; }

void System::notify(NodeId node, std::uint64_t key) {
  check_node(*state_, node);
  Engine engine(state_->units(), nullptr);
  touched(engine, node, watch_key(WatchKind::user, key));
}

void System::wake(ThreadId thread, sim::SimTime at) {
  Thread& t = state_->threads.at(thread);
  if (t.state() != ThreadState::stopped) return;
  Engine engine(state_->units(), nullptr);
  t.resume_at(engine, thread, at);
}

void System::read_memory(NodeId node, Address address, std::span<std::byte> out) const {
  check_node(*state_, node);
  Engine engine(state_->units(), nullptr);
  settle_memory(engine, node, address, out.size());
  state_->memories[node].read(address, out);
}

void System::write_memory(NodeId node, Address address, std::span<const std::byte> in) {
  check_node(*state_, node);
  if (!state_->memories[node].contains(address, in.size())) {
    throw std::invalid_argument("write_memory outside of the allocated memory");
  }
  Engine engine(state_->units(), nullptr);
  settle_memory(engine, node, address, in.size());
  state_->memories[node].write(address, in);
}

std::uint64_t System::word(NodeId node, Address address) const {
  const HostMemory& memory = state_->memories.at(node);
  Engine engine(state_->units(), nullptr);
  settle_memory(engine, node, address, sizeof(std::uint64_t));
  return memory.word(address);
}

void System::set_word(NodeId node, Address address, std::uint64_t value) {
  write_memory(node, word_of(address), std::as_bytes(std::span(&value, 1)));
}

// --- inspection -----------------------------------------------------------------------------------------------------

const SystemConfig& System::config() const { return state_->kernel.config(); }
const Counters& System::counters() const {
  Engine engine(state_->units(), nullptr);
  settle_all(engine);
  return state_->kernel.counters();
}
const fabric::Network& System::network() const { return *state_->network; }
QpState System::qp_state(QpId qp) const { return state_->connections.at(qp).state(); }
NodeId System::qp_node(QpId qp) const { return state_->connections.at(qp).node(); }
ThreadId System::qp_thread(QpId qp) const { return state_->connections.at(qp).thread(); }

NodeId System::qp_peer_node(QpId qp) const { return state_->connections.at(qp).peer_node(); }
std::uint32_t System::send_queue_room(QpId qp) const { return state_->requesters.at(qp).room(); }
bool System::qp_settled(QpId qp) const {
  const State& s = *state_;
  const Connection& mine = s.connections.at(qp);
  if (mine.state() != QpState::rts || mine.peer() == kNone) return false;
  const auto pending = [&s](std::uint32_t domain, Stamp stamp) {
    const PostedDomain& d = s.domains[domain];
    return d.holds_data(stamp) || (d.device_path() != kNone && s.domains[d.device_path()].holds_data(stamp));
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
  const std::uint32_t device_path = s.domains[from_peer].device_path();
  if (device_path != kNone && s.domains[device_path].holds_data(Stamp::aNRW)) return true;
  return s.kernel.profile().splits_writes() &&  // else all of a NIC's queue pairs are in one domain
         (s.domains[from_peer].holds_data(Stamp::aNRW) || s.domains[s.requesters[qp].domain()].holds_data(Stamp::aNLW));
}
bool System::stores_pending(NodeId node, Address base, std::uint64_t size) const {
  check_node(*state_, node);
  return std::ranges::any_of(state_->processes[node].threads(),
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
bool System::thread_drained(ThreadId thread) const { return !state_->threads.at(thread).stores_pending(); }
SubeventId System::subevents() const { return state_->kernel.subevents(); }
std::uint64_t System::seq() const { return state_->kernel.seq(); }

}  // namespace loco::nic
