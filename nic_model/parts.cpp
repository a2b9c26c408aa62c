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

/// What the parts share while they run. In a window each part goes on to the least time at which another one may still
/// have an effect on it. Each writes what is its own; others read it in the next phase.
class Windows {
 public:
  Windows(std::span<const PartRun> parts, sim::Duration lookahead)
      : parts_(parts), lookahead_(lookahead), next_(parts.size()), boxes_(parts.size() * parts.size()) {
    for (PartState& part : next_) part.out.reserve(64);
  }

  /// The first phase of a window: takes in what has come for a part. `stop`: this is the last window of all parts.
  void take_in(std::size_t mine, bool stop) {
    PartState& part = next_[mine];
    attempt(part, [&] {
      for (std::size_t p = 0; p < parts_.size(); ++p) {
        std::vector<Parcel>& box = boxes_[p * parts_.size() + mine];
        for (const Parcel& parcel : box) parts_[mine].system->deliver(parcel);
        box.clear();
      }
      part.at = parts_[mine].system->idle() ? sim::SimTime::max() : parts_[mine].system->next_time();
    });
    part.ends_all = part.error != nullptr || stop;
  }

  /// Is this window one more? The same for all parts between the phases.
  [[nodiscard]] bool goes_on() const {
    const bool ends = std::ranges::any_of(next_, [](const PartState& p) { return p.ends_all; });
    return !ends && std::ranges::any_of(next_, [](const PartState& p) { return p.at != sim::SimTime::max(); });
  }

  /// The second phase: runs the part's events, and hands over what goes to others.
  void run(std::size_t mine) {
    const sim::SimTime end = until(mine);
    PartState& part = next_[mine];
    attempt(part, [&] {
      while (parts_[mine].system->step_before(*parts_[mine].context, end)) {
      }
      part.out.clear();
      parts_[mine].system->take_parcels(part.out);
      for (Parcel& parcel : part.out) boxes_[mine * parts_.size() + parcel.to].push_back(std::move(parcel));
    });
  }

  void rethrow() const {
    for (const PartState& part : next_)
      if (part.error) std::rethrow_exception(part.error);
  }

 private:
  struct alignas(64) PartState {
    sim::SimTime at{};      // of its earliest event; max() when it has none
    bool ends_all = false;  // it has failed, or is to stop
    std::exception_ptr error{};
    std::vector<Parcel> out{};
  };

  template <class Work>
  static void attempt(PartState& part, const Work& work) {
    if (part.error) return;
    try {
      work();
    } catch (...) {
      part.error = std::current_exception();
    }
  }

  /// What the part does itself comes back to it through another one.
  [[nodiscard]] sim::SimTime until(std::size_t mine) const {
    const auto after = [this](sim::SimTime at, std::int64_t times) {
      return at == sim::SimTime::max() ? at : at + lookahead_ * times;
    };
    sim::SimTime end = after(next_[mine].at, 2);
    for (std::size_t p = 0; p < next_.size(); ++p)
      if (p != mine) end = std::min(end, after(next_[p].at, 1));
    return end;
  }

  std::span<const PartRun> parts_;
  sim::Duration lookahead_;
  std::vector<PartState> next_;
  std::vector<std::vector<Parcel>> boxes_;  // from part p for part q: p * parts + q
};

void take_turns(Windows& windows, std::size_t parts, const std::function<bool()>& stop) {
  while (true) {
    for (std::size_t p = 0; p < parts; ++p) windows.take_in(p, p == 0 && stop && stop());
    if (!windows.goes_on()) return;
    for (std::size_t p = 0; p < parts; ++p) windows.run(p);
  }
}

void run_at_once(Windows& windows, std::size_t parts, const std::function<bool()>& stop) {
  std::barrier<> all(static_cast<std::ptrdiff_t>(parts));
  const auto run_part = [&](std::size_t mine) {
    while (true) {
      windows.take_in(mine, mine == 0 && stop && stop());
      all.arrive_and_wait();
      if (!windows.goes_on()) return;
      windows.run(mine);
      all.arrive_and_wait();
    }
  };
  std::vector<std::jthread> threads;
  for (std::size_t p = 1; p < parts; ++p) threads.emplace_back(run_part, p);
  run_part(0);
}

}  // namespace

void run_parts(std::span<const PartRun> parts, PartThreads threads, const std::function<bool()>& stop) {
  if (parts.size() == 1) {
    const PartRun& all = parts.front();
    while (all.system->step(*all.context) && !(stop && stop())) {
    }
    return;
  }
  const SystemConfig& config = parts.front().system->config();
  Windows windows(parts, fabric::lookahead(fabric_config(config), config.network.share.part_of, least_packet(config)));
  if (threads == PartThreads::one) {
    take_turns(windows, parts.size(), stop);
  } else {
    run_at_once(windows, parts.size(), stop);
  }
  windows.rethrow();
}

}  // namespace loco::nic
