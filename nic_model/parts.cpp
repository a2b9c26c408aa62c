#include "nic_model/parts.hpp"

#include <algorithm>
#include <barrier>
#include <exception>
#include <limits>
#include <numeric>
#include <thread>
#include <utility>

#include "fabric/packet_network.hpp"
#include "nic_model/engine/engine.hpp"
#include "nic_model/engine/kernel.hpp"
#include "nic_model/parcel.hpp"
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
  parcel.zero = s.payloads.blank(packet.buffer);
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

/// What the parts share while they run. A window has two phases. What a part writes in one phase the others read in the
/// next.
class PartMeeting::Windows {
 public:
  Windows(std::size_t parts, sim::Duration lookahead)
      : all(static_cast<std::ptrdiff_t>(parts)), lookahead_(lookahead), parts_(parts), boxes_(parts * parts) {}

  /// The first phase of a window: takes in what has come for a part, and lets threads go on that have gathered in all.
  void take_in(std::size_t mine, System& system) {
    Part& part = parts_[mine];
    attempt(part, [&] {
      if (part.gatherings > part.released) release_gathered(part);
      part.gathered_before = part.gatherings;
      for (std::size_t p = 0; p < parts_.size(); ++p) {
        std::vector<Parcel>& box = boxes_[p * parts_.size() + mine];
        for (const Parcel& parcel : box) system.deliver(parcel);
        box.clear();
      }
      part.at = system.idle() ? sim::SimTime::max() : system.next_time();
    });
    part.ends_all = part.error != nullptr;
  }

  /// True if there is another window. The same for all parts between the phases.
  [[nodiscard]] bool goes_on() const {
    return !ended() && std::ranges::any_of(parts_, [](const Part& p) { return p.at != sim::SimTime::max(); });
  }
  /// True if a part has ended the run for all.
  [[nodiscard]] bool ended() const {
    return std::ranges::any_of(parts_, [](const Part& p) { return p.ends_all; });
  }

  /// Second phase: runs the part's events and hands over what goes to others.
  template <class RunUntil>
  void run(std::size_t mine, System& system, const RunUntil& run_until) {
    Part& part = parts_[mine];
    part.returns = false;
    attempt(part, [&] {
      run_until(until(mine));
      part.out.clear();
      system.take_parcels(part.out);
      for (Parcel& parcel : part.out) boxes_[mine * parts_.size() + parcel.to].push_back(std::move(parcel));
    });
  }

  [[nodiscard]] std::size_t parts() const { return parts_.size(); }
  [[nodiscard]] const std::exception_ptr& error(std::size_t part) const { return parts_[part].error; }
  /// True at the first call only: the part takes part in no further window.
  [[nodiscard]] bool leaves(std::size_t mine) { return !std::exchange(parts_[mine].left, true); }
  void end_all(std::size_t mine) { parts_[mine].ends_all = true; }

  void gathers(std::size_t mine, std::function<void(sim::SimTime)> release) {
    parts_[mine].release = std::move(release);
  }
  void gathered(std::size_t mine, sim::SimTime at) {
    Part& part = parts_[mine];
    ++part.gatherings;
    part.gathered_at = at;
    part.returns = true;
  }
  [[nodiscard]] bool must_return(std::size_t mine) const { return parts_[mine].returns; }

  std::barrier<> all;

 private:
  struct alignas(64) Part {
    sim::SimTime at{};      // the time of its earliest event; max() if it has none
    bool ends_all = false;  // the part has failed, which ends all
    bool left = false;
    std::exception_ptr error{};
    std::vector<Parcel> out{};
    // Threads that meet: while a window's events run, others read only how often they had before it.
    std::function<void(sim::SimTime)> release{};  // empty: it has none of them
    std::uint64_t gatherings = 0, gathered_before = 0, released = 0;
    sim::SimTime gathered_at{};
    bool returns = false;
  };

  /// When all parts have gathered. Precondition: this one has.
  void release_gathered(Part& part) {
    sim::SimTime last = part.gathered_at;
    for (const Part& other : parts_) {
      if (!other.release) continue;
      if (other.gatherings != part.gatherings) return;
      last = std::max(last, other.gathered_at);
    }
    ++part.released;
    part.release(last);
  }

  template <class Work>
  static void attempt(Part& part, const Work& work) {
    if (part.error) return;
    try {
      work();
    } catch (...) {
      part.error = std::current_exception();
    }
  }

  /// The time up to which a part may run. It includes the effects of its own events that come back through another
  /// part.
  [[nodiscard]] sim::SimTime until(std::size_t mine) const {
    const auto after = [this](sim::SimTime at, std::int64_t times) {
      return at == sim::SimTime::max() ? at : at + lookahead_ * times;
    };
    sim::SimTime end = after(parts_[mine].at, 2);
    for (std::size_t p = 0; p < parts_.size(); ++p)
      if (p != mine) end = std::min(end, after(parts_[p].at, 1));
    return std::min(end, until_gathered(mine));
  }

  /// What waits for the threads of others to gather goes no further than to the earliest instant at which they can:
  /// that of an event of theirs, or of one that is due to anything that still happens.
  [[nodiscard]] sim::SimTime until_gathered(std::size_t mine) const {
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    for (const Part& p : parts_)
      if (p.release) least = std::min(least, p.gathered_before);
    if (least == std::numeric_limits<std::uint64_t>::max()) return sim::SimTime::max();  // nobody meets
    if (parts_[mine].release && parts_[mine].gathered_before == least) return sim::SimTime::max();
    sim::SimTime earliest = sim::SimTime::max();
    for (const Part& p : parts_) {
      if (p.at == sim::SimTime::max()) continue;
      earliest = std::min(earliest, p.at + lookahead_);
      if (p.release && p.gathered_before == least) earliest = std::min(earliest, p.at);
    }
    return earliest == sim::SimTime::max() ? earliest : earliest + sim::Duration{1};
  }

  sim::Duration lookahead_;
  std::vector<Part> parts_;
  std::vector<std::vector<Parcel>> boxes_;  // from part p for part q: p * parts + q
};

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

void PartMeeting::gathers(std::size_t mine, std::function<void(sim::SimTime)> release) {
  windows_->gathers(mine, std::move(release));
}
void PartMeeting::gathered(std::size_t mine, sim::SimTime at) { windows_->gathered(mine, at); }
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
