#include "nic_model/system.hpp"

#include <algorithm>
#include <stdexcept>

#include "nic_model/engine/engine.hpp"
#include "nic_model/event_dispatch.hpp"
#include "nic_model/exploration/fetch_ahead.hpp"
#include "nic_model/pcie/bursts.hpp"
#include "nic_model/pcie/pcie.hpp"
#include "nic_model/state.hpp"
#include "nic_model/step_check.hpp"
#include "sim/invariant.hpp"

namespace loco::nic {

namespace {

void run(Engine& engine, [[maybe_unused]] const State& state, Context& context, const sim::Event& event) {
  engine.kernel.advance(event.at);
  engine.context = &context;
  handle(engine, event);
  engine.context = nullptr;
#ifdef LOCO_SIM_CHECK_STEPS
  check_step(state, event);
#endif
}

/// Checks that no host has foreign memory, which is not part of the state.
const State& comparable(const State& s) {
  if (std::ranges::any_of(s.memories, &HostMemory::has_foreign))
    throw std::logic_error("a System whose hosts have foreign memory cannot be copied, compared or hashed");
  return s;
}

/// Checks that the network is not the flow model: what shares links among flows is not part of the state, so nothing
/// would end a copy's flows.
const State& copyable(const State& s) {
  if (s.kernel.config().network.model == fabric::Model::flow)
    throw std::logic_error("a System whose network is the flow model cannot be copied");
  return comparable(s);
}
}  // namespace

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
bool System::operator==(const System& other) const { return comparable(*state_) == comparable(*other.state_); }

std::optional<fabric::FlowStart> System::take_start() { return state_->network->flow_network()->take_start(); }

void System::flow_ended(std::uint32_t lane, sim::SimTime now, const fabric::FlowEnd& end) {
  state_->network->flow_network()->flow_ended(state_->kernel.events(), lane, now, end);
}

namespace {
/// The ordering domain of bare DMA, which is the NIC's only one.
std::uint32_t probe_domain(const State& s, NodeId node) {
  if (s.kernel.profile(first_nic(checked_host(s, node))).pcie_ordering_domain != OrderingDomain::nic) {
    throw std::invalid_argument("bare DMA needs pcie.ordering_domain: nic");
  }
  return node;
}
}  // namespace

void System::dma_read(NodeId node, const MemoryRegion& region, Address address, std::uint32_t bytes) {
  probe_domain(*state_, node);
  Engine engine(state_->units(), nullptr);
  start_probe(engine, first_nic(HostId(node)), region, address, bytes);
}

void System::dma_write(NodeId node, const MemoryRegion& region, Address address, std::uint32_t bytes) {
  const std::uint32_t domain = probe_domain(*state_, node);
  Engine engine(state_->units(), nullptr);
  const std::uint32_t buffer = engine.payloads.acquire(bytes);
  std::fill_n(state_->payloads.edit(buffer), bytes, std::byte{});
  post_write(engine, domain, {.probe = true, .buffer = buffer, .length = bytes, .address = address}, {},
             state_->kernel.profile(first_nic(HostId(node))).nic_wqe_start, region.rkey);
}

std::uint64_t System::dma_done(NodeId node) const { return state_->links.at(first_nic(HostId(node))).probes_done(); }

// --- running --------------------------------------------------------------------------------------------------------

namespace {
/// True if nothing is pending, except checks of requesters that wait for answers when there are none.
bool only_looks(const State& s) {
  if (!s.kernel.only_looks()) return false;
  return std::ranges::none_of(s.requesters, [](const Requester& r) { return r.waits_for_answer(); });
}
}  // namespace

bool System::idle() const { return only_looks(*state_); }

bool System::step(Context& context) {
  if (state_->kernel.only_looks() && idle()) return false;
  const sim::Event event = state_->kernel.events().pop_earliest();
  if (state_->kernel.events().take_batch_note()) fetch_ahead(*state_, context.runner);
  run(*engine_, *state_, context, event);
  return true;
}

bool System::due_before(sim::SimTime end) const {
  const sim::EventQueue& events = state_->kernel.events();
  return !events.empty() && events.earliest().at < end;
}

bool System::step_before(Context& context, sim::SimTime end) { return due_before(end) && step(context); }

void System::step(Context& context, std::size_t i) {
  LOCO_INVARIANT(!state_->kernel.config().timed, now(), "system", "in a timed run the earliest event is next");
  sim::Event event = state_->kernel.events().pop(i);
  if (event.at == kNoTimeYet) event.at = state_->kernel.now();
  run(*engine_, *state_, context, event);
}

std::size_t System::pending_events() const { return state_->kernel.events().size(); }
const sim::Event& System::pending_event(std::size_t i) const { return state_->kernel.events().pending(i); }
sim::SimTime System::now() const { return state_->kernel.now(); }
sim::SimTime System::next_time() const { return state_->kernel.events().earliest().at; }

void System::notify(NodeId node, std::uint64_t key) {
  const HostId host = checked_host(*state_, node);
  Engine engine(state_->units(), nullptr);
  touched(engine, host, watch_key(WatchKind::user, key));
}

void System::wake(ThreadId thread, sim::SimTime at) {
  Thread& t = state_->threads.at(thread);
  if (t.state() != ThreadState::stopped) return;
  Engine engine(state_->units(), nullptr);
  t.resume_at(engine, thread, at);
}

void System::read_memory(NodeId node, Address address, std::span<std::byte> out) const {
  const HostId host = checked_host(*state_, node);
  Engine engine(state_->units(), nullptr);
  settle_memory(engine, host, address, out.size());
  state_->memories[host].read(address, out);
}

void System::write_memory(NodeId node, Address address, std::span<const std::byte> in) {
  const HostId host = checked_host(*state_, node);
  if (!state_->memories[host].contains(address, in.size())) {
    throw std::invalid_argument("write_memory outside of the allocated memory");
  }
  Engine engine(state_->units(), nullptr);
  settle_memory(engine, host, address, in.size());
  state_->memories[host].write(address, in);
}

std::uint64_t System::word(NodeId node, Address address) const {
  const HostMemory& memory = state_->memories.at(HostId(node));
  Engine engine(state_->units(), nullptr);
  settle_memory(engine, HostId(node), address, sizeof(std::uint64_t));
  return memory.word(address);
}

void System::set_word(NodeId node, Address address, std::uint64_t value) {
  write_memory(node, word_of(address), std::as_bytes(std::span(&value, 1)));
}

}  // namespace loco::nic
