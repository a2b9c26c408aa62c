#include "nic_model/parts.hpp"

#include <algorithm>
#include <exception>
#include <numeric>
#include <thread>
#include <utility>

#include "fabric/packet_network.hpp"
#include "nic_model/engine/engine.hpp"
#include "nic_model/engine/kernel.hpp"
#include "nic_model/parcel.hpp"
#include "nic_model/part_windows.hpp"
#include "nic_model/state.hpp"

namespace loco::nic {

SystemConfig part_config(SystemConfig config, const std::vector<std::uint8_t>& part_of, std::uint8_t part) {
  config.network.share = {.part_of = part_of, .part = part, .ranked = true};
  return config;
}

namespace {
/// The least size of a packet on the wire, without payload.
std::uint32_t least_packet(const SystemConfig& c) { return static_cast<std::uint32_t>(c.profile.link_overhead.count); }
}  // namespace

std::string_view not_parted_because(const SystemConfig& config) {
  if (std::ranges::any_of(config.hosts.of, [](const HostConfig& h) { return h.ports != 1; }))
    return "NICs have several ports";
  return fabric::not_parted_because(fabric_config(config));
}

namespace {
/// Which host each NIC is of; empty where all hosts have one.
std::vector<std::uint32_t> hosts_of_nics(const SystemConfig& config) {
  const std::vector<NicPlace> further = further_nics(config.hosts);
  if (further.empty()) return {};
  std::vector<std::uint32_t> hosts(config.nodes);
  std::iota(hosts.begin(), hosts.end(), std::uint32_t{0});
  for (const NicPlace& nic : further) hosts.push_back(nic.host.index());
  return hosts;
}
}  // namespace

std::vector<std::uint8_t> parts_of(const SystemConfig& config, std::uint32_t threads) {
  if (threads <= 1 || !not_parted_because(config).empty()) return {};
  const fabric::Config network = fabric_config(config);
  std::vector<std::uint8_t> part_of = fabric::make_parts(network, threads, hosts_of_nics(config));
  const bool parted = std::ranges::any_of(part_of, [](std::uint8_t part) { return part != 0; });
  if (!parted || fabric::lookahead(network, part_of, least_packet(config)).ps <= 0) return {};
  return part_of;
}

// --- a System that is a part -----------------------------------------------------------------------------------------

bool System::has(NodeId node) const { return state_->kernel.has(HostId(node)); }

void System::set_flag_at(NodeId node, std::uint32_t flag, std::uint64_t value, sim::SimTime at) {
  state_->kernel.schedule_last(kEventSetFlag, HostId(node), flag, value, at);
}

namespace {

/// Moves the payload of a packet that leaves into the parcel.
void pack(State& s, Parcel& parcel) {
  fabric::Packet& packet = parcel.crossing.packet;
  if (packet.buffer == fabric::kNoBuffer) return;
  parcel.zero = s.payloads.blank(packet.buffer, packet.offset, packet.length);
  if (!parcel.zero) {
    const std::byte* const bytes = s.payloads.data_at(packet.buffer, packet.offset);
    parcel.payload.assign(bytes, bytes + packet.length);
  }
  parcel.repeated = s.payloads.all_repeated(packet.buffer);
  s.payloads.release(packet.buffer);
}

/// Gives the payload of a packet that has arrived a buffer here.
void unpack(State& s, fabric::Packet& packet, const Parcel& parcel) {
  if (packet.buffer == fabric::kNoBuffer) return;
  packet.buffer = s.payloads.acquire(packet.length, packet.offset);
  if (!parcel.zero) {
    std::ranges::copy(parcel.payload, s.payloads.edit(packet.buffer));
  } else if (!s.payloads.blank(packet.buffer, packet.offset, packet.length)) {
    std::fill_n(s.payloads.edit(packet.buffer), packet.length, std::byte{});
  }
  for (const RepeatedSample& sample : parcel.repeated) s.payloads.note_repeated(packet.buffer, sample);
}

}  // namespace

void System::take_parcels(std::vector<Parcel>& out) {
  State& s = *state_;
  const std::vector<std::uint8_t>& part_of = s.kernel.config().network.share.part_of;
  for (const sim::Event& event : s.kernel.for_others())
    out.push_back(
        {.to = part_of[first_port(s.connections[event.where].node()).index()], .is_event = true, .event = event});
  s.kernel.for_others().clear();
  std::vector<fabric::Crossing> crossings;
  s.network->take_crossings(crossings);
  for (const fabric::Crossing& crossing : crossings) {
    Parcel& parcel = out.emplace_back();
    parcel.to = part_of[s.network->packet_network()->graph().link(crossing.link).to];
    parcel.crossing = crossing;
    if (!crossing.is_pause) pack(s, parcel);
  }
}

void System::deliver(const Parcel& parcel) {
  State& s = *state_;
  if (parcel.is_event) return s.kernel.schedule_for(s.connections[parcel.event.where].node(), parcel.event);
  fabric::Crossing crossing = parcel.crossing;
  if (!crossing.is_pause) unpack(s, crossing.packet, parcel);
  s.network->cross(s.kernel.events(), crossing);
  while (const std::optional<fabric::Lost> lost = s.network->take_lost()) {  // with its link
    s.kernel.count(&Counters::packets_lost);
    s.payloads.release(lost->packet.buffer);
  }
}

namespace {
/// Takes from another part the values whose owner is simulated there.
template <class T, class Owner>
void absorb_each(const Kernel& part, std::vector<T>& mine, std::vector<T>& others, const Owner& owner) {
  for (std::size_t i = 0; i < mine.size(); ++i)
    if (part.has(owner(i))) mine[i] = std::move(others[i]);
}
template <class Id, class T>
void absorb_each(const Kernel& part, sim::IdVector<Id, T>& mine, sim::IdVector<Id, T>& others) {
  for (const Id id : mine.ids())
    if (part.has(id)) mine[id] = std::move(others[id]);
}
}  // namespace

void System::absorb(System&& part) {
  State& s = *state_;
  State& o = *part.state_;
  const auto of_qp = [&s](std::size_t i) { return s.connections[i].node(); };  // the same in both parts
  const auto each = [&](auto State::*units, const auto&... owner) {
    absorb_each(o.kernel, s.*units, o.*units, owner...);
  };
  each(&State::memories);
  each(&State::processes);
  each(&State::hosts);
  each(&State::links);
  each(&State::ports);
  each(&State::receive_buffers);
  each(&State::caches);
  each(&State::atomics);
  each(&State::tree_links, [&s](std::size_t i) { return s.tree_links[i].name().host; });
  each(&State::threads, [&s](std::size_t i) { return s.threads[i].node(); });
  each(&State::domains, [&s](std::size_t i) { return s.domains[i].node(); });
  each(&State::cqs, [&s](std::size_t i) { return s.cqs[i].node(); });
  each(&State::receive_queues, [&s](std::size_t i) { return s.receive_queues[i].node(); });
  each(&State::contexts, of_qp);
  each(&State::requesters, of_qp);
  each(&State::responders, of_qp);
  each(&State::connections, of_qp);
  s.kernel.absorb(o.kernel);
  s.network->absorb(*o.network);
}

// --- all parts -------------------------------------------------------------------------------------------------------

namespace {
std::size_t count_parts(const std::vector<std::uint8_t>& part_of) {
  return part_of.empty() ? 1 : *std::ranges::max_element(part_of) + std::size_t{1};
}
}  // namespace

PartMeeting::PartMeeting(const SystemConfig& machine, const std::vector<std::uint8_t>& part_of)
    : windows_(std::make_unique<Windows>(count_parts(part_of),
                                         fabric::lookahead(fabric_config(machine), part_of, least_packet(machine)))) {}
PartMeeting::~PartMeeting() = default;

std::size_t PartMeeting::parts() const { return windows_->parts(); }

bool PartMeeting::run(std::size_t mine, System& system, const std::function<void(sim::SimTime)>& run_until) {
  Windows& windows = *windows_;
  while (true) {
    windows.take_in(mine, system);
    windows.all.arrive_and_wait();
    if (!windows.goes_on()) break;
    windows.run(mine, system, run_until);
    windows.all.arrive_and_wait();
  }
  static_cast<void>(windows.leaves(mine));  // the others no longer wait for it
  if (windows.error(mine)) std::rethrow_exception(windows.error(mine));
  return !windows.ended();
}

void PartMeeting::gathers(std::size_t mine, std::size_t group, std::function<void(sim::SimTime)> release) {
  windows_->gathers(mine, group, std::move(release));
}
void PartMeeting::gathered(std::size_t mine, std::size_t group, sim::SimTime at) {
  windows_->gathered(mine, group, at);
}
bool PartMeeting::must_return(std::size_t mine) const { return windows_->must_return(mine); }

void PartMeeting::leave(std::size_t mine) {
  if (!windows_->leaves(mine)) return;
  windows_->end_all(mine);
  windows_->all.arrive_and_drop();
}

namespace {

/// Handles all events of a part that are due before `end`.
void run_until(const PartRun& run, sim::SimTime end) {
  while (run.system->step_before(*run.context, end)) {
  }
}

}  // namespace

void PartMeeting::take_turns(std::span<const PartRun> parts) {
  Windows& windows = *windows_;
  while (true) {
    for (std::size_t p = 0; p < parts.size(); ++p) windows.take_in(p, *parts[p].system);
    if (!windows.goes_on()) break;
    for (std::size_t p = 0; p < parts.size(); ++p)
      windows.run(p, *parts[p].system, [&](sim::SimTime end) { run_until(parts[p], end); });
  }
  for (std::size_t p = 0; p < parts.size(); ++p)
    if (windows.error(p)) std::rethrow_exception(windows.error(p));
}

void run_parts(std::span<const PartRun> parts, PartThreads threads) {
  if (parts.size() == 1) {
    const PartRun& all = parts.front();
    while (all.system->step(*all.context)) {
    }
    return;
  }
  const SystemConfig& config = parts.front().system->config();
  PartMeeting meeting(config, config.network.share.part_of);
  if (threads == PartThreads::one) return meeting.take_turns(parts);
  std::vector<std::exception_ptr> errors(parts.size());
  const auto run_part = [&](std::size_t mine) {
    try {
      static_cast<void>(meeting.run(mine, *parts[mine].system, [&](sim::SimTime end) { run_until(parts[mine], end); }));
    } catch (...) {
      errors[mine] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t p = 1; p < parts.size(); ++p) others.emplace_back(run_part, p);
    run_part(0);
  }
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace loco::nic
