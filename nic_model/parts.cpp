#include "nic_model/parts.hpp"

#include <algorithm>
#include <barrier>
#include <exception>
#include <thread>

#include "fabric/packet_network.hpp"
#include "nic_model/engine/engine.hpp"
#include "nic_model/engine/kernel.hpp"
#include "nic_model/state.hpp"

namespace loco::nic {

SystemConfig part_config(SystemConfig config, const std::vector<std::uint8_t>& part_of, std::uint8_t part) {
  config.network.share = {.part_of = part_of, .part = part, .ranked = true};
  return config;
}

namespace {
/// What a packet without payload takes on the wire at least.
std::uint32_t least_packet(const SystemConfig& c) { return static_cast<std::uint32_t>(c.profile.link_overhead.count); }
}  // namespace

std::vector<std::uint8_t> parts_of(const SystemConfig& config, std::uint32_t threads) {
  const fabric::Config network = fabric_config(config);
  const bool several_nics = std::ranges::any_of(config.hosts.of, [](const HostConfig& h) { return h.nics != 1; });
  if (threads <= 1 || several_nics || !fabric::not_parted_because(network).empty()) return {};
  std::vector<std::uint8_t> part_of = fabric::make_parts(network, threads);
  const bool parted = std::ranges::any_of(part_of, [](std::uint8_t part) { return part != 0; });
  if (!parted || fabric::lookahead(network, part_of, least_packet(config)).ps <= 0) return {};
  return part_of;
}

// --- a System that is a part -----------------------------------------------------------------------------------------

bool System::has(NodeId node) const { return state_->kernel.has(node); }

namespace {

/// The payload of a packet that leaves goes with it.
void pack(State& s, Parcel& parcel) {
  fabric::Packet& packet = parcel.crossing.packet;
  if (packet.buffer == fabric::kNoBuffer) return;
  parcel.zero = s.payloads.blank(packet.buffer);
  if (!parcel.zero) {
    const std::byte* const bytes = s.payloads.data_at(packet.buffer, packet.offset);
    parcel.payload.assign(bytes, bytes + packet.length);
  }
  parcel.repeated = s.payloads.all_repeated(packet.buffer);
  s.payloads.release(packet.buffer);
}

/// It gets a buffer here.
void unpack(State& s, fabric::Packet& packet, const Parcel& parcel) {
  if (packet.buffer == fabric::kNoBuffer) return;
  packet.buffer = s.payloads.acquire(packet.length, packet.offset);
  if (!parcel.zero) {
    std::ranges::copy(parcel.payload, s.payloads.edit(packet.buffer));
  } else if (!s.payloads.blank(packet.buffer)) {
    std::fill_n(s.payloads.edit(packet.buffer), packet.length, std::byte{});
  }
  for (const RepeatedSample& sample : parcel.repeated) s.payloads.note_repeated(packet.buffer, sample);
}

}  // namespace

void System::take_parcels(std::vector<Parcel>& out) {
  State& s = *state_;
  const std::vector<std::uint8_t>& part_of = s.kernel.config().network.share.part_of;
  for (const sim::Event& event : s.kernel.for_others())
    out.push_back({.to = part_of[s.connections[event.where].node()], .is_event = true, .event = event});
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
}

namespace {
/// Of values that belong to something: those whose owner is simulated in the other part.
template <class T, class Owner>
void absorb_each(const Kernel& part, std::vector<T>& mine, std::vector<T>& others, const Owner& nic_of) {
  for (std::size_t i = 0; i < mine.size(); ++i)
    if (part.has(nic_of(i))) mine[i] = std::move(others[i]);
}
}  // namespace

void System::absorb(System&& part) {
  State& s = *state_;
  State& o = *part.state_;
  const auto itself = [](std::size_t i) { return static_cast<NicId>(i); };
  const auto of_qp = [&s](std::size_t i) { return s.connections[i].node(); };  // the same in both
  const auto each = [&](auto State::*units, const auto& nic_of) { absorb_each(o.kernel, s.*units, o.*units, nic_of); };
  each(&State::memories, itself);
  each(&State::processes, itself);
  each(&State::hosts, itself);
  each(&State::links, itself);
  each(&State::ports, itself);
  each(&State::receive_buffers, itself);
  each(&State::caches, itself);
  each(&State::atomics, itself);
  each(&State::peers, [&s](std::size_t i) { return s.peers[i].host(); });
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

/// What the threads that simulate the parts share. Each writes what is its own, before a barrier behind which others
/// read it.
struct Meeting {
  Meeting(std::size_t parts, sim::Duration ahead)
      : lookahead(ahead),
        next(parts),
        boxes(parts * parts),
        errors(parts),
        barrier(static_cast<std::ptrdiff_t>(parts)) {}

  struct alignas(64) Next {
    sim::SimTime at{};      // of its earliest event; max() when it has none
    bool ends_all = false;  // it has failed, or is to stop
  };
  sim::Duration lookahead;
  std::vector<Next> next;
  std::vector<std::vector<Parcel>> boxes;  // from part p for part q: p * parts + q
  std::vector<std::exception_ptr> errors;
  std::barrier<> barrier;
};

/// The time from which on others may still have an effect on part `mine`; what it does itself comes back to it through
/// one of them. False when nothing is pending, or the run ends.
bool goes_on(const Meeting& m, std::size_t mine, sim::SimTime& until) {
  constexpr sim::SimTime kNever = sim::SimTime::max();
  const auto after = [&](sim::SimTime at, std::int64_t times) { return at == kNever ? at : at + m.lookahead * times; };
  bool any = false;
  until = after(m.next[mine].at, 2);
  for (std::size_t p = 0; p < m.next.size(); ++p) {
    if (m.next[p].ends_all) return false;
    any = any || m.next[p].at != kNever;
    if (p != mine) until = std::min(until, after(m.next[p].at, 1));
  }
  return any;
}

/// One window of a part.
void run_window(Meeting& m, std::size_t mine, const PartRun& run, sim::SimTime until, std::vector<Parcel>& out) {
  while (run.system->step_before(*run.context, until)) {
  }
  out.clear();
  run.system->take_parcels(out);
  for (Parcel& parcel : out) m.boxes[mine * m.next.size() + parcel.to].push_back(std::move(parcel));
}

void take_in(Meeting& m, std::size_t mine, System& system) {
  for (std::size_t p = 0; p < m.next.size(); ++p) {
    std::vector<Parcel>& box = m.boxes[p * m.next.size() + mine];
    for (const Parcel& parcel : box) system.deliver(parcel);
    box.clear();
  }
  m.next[mine].at = system.idle() ? sim::SimTime::max() : system.next_time();
}

void run_part(Meeting& m, std::size_t mine, const PartRun& run, const std::function<bool()>& stop) {
  std::vector<Parcel> out;
  const auto attempt = [&](const auto& work) {
    if (m.errors[mine]) return;
    try {
      work();
    } catch (...) {
      m.errors[mine] = std::current_exception();
    }
  };
  while (true) {
    attempt([&] { take_in(m, mine, *run.system); });
    m.next[mine].ends_all = m.errors[mine] != nullptr || (mine == 0 && stop && stop());
    m.barrier.arrive_and_wait();
    sim::SimTime until{};
    if (!goes_on(m, mine, until)) return;
    attempt([&] { run_window(m, mine, run, until, out); });
    m.barrier.arrive_and_wait();
  }
}

}  // namespace

void run_parts(std::span<const PartRun> parts, const std::function<bool()>& stop) {
  if (parts.empty()) return;
  const SystemConfig& config = parts.front().system->config();
  const std::vector<std::uint8_t>& part_of = config.network.share.part_of;
  const sim::Duration ahead =
      parts.size() == 1 ? sim::Duration{} : fabric::lookahead(fabric_config(config), part_of, least_packet(config));
  if (parts.size() == 1) {
    while (parts.front().system->step(*parts.front().context) && !(stop && stop())) {
    }
    return;
  }
  Meeting meeting(parts.size(), ahead);
  {
    std::vector<std::jthread> threads;
    for (std::size_t p = 1; p < parts.size(); ++p)
      threads.emplace_back([&, p] { run_part(meeting, p, parts[p], stop); });
    run_part(meeting, 0, parts.front(), stop);
  }
  for (const std::exception_ptr& error : meeting.errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace loco::nic
