#include "loco_sim/loco/membership/services.hpp"

#include <algorithm>
#include <array>

namespace loco {

namespace {
/// A note that names a suspect, and the number of the connection over which it last rejoined. After a later rejoin the
/// note is stale, wherever it is still stored.
constexpr std::uint64_t suspect_note(NodeId node, std::uint32_t since) {
  return std::uint64_t{since} << 32U | (node + 1);
}
constexpr NodeId suspect_in(std::uint64_t note) { return static_cast<NodeId>(note) - 1; }
constexpr std::uint32_t since_in(std::uint64_t note) { return static_cast<std::uint32_t>(note >> 32U); }
}  // namespace

node_services::node_services(Transport& t)
    : node_state(t), channels(t, memory, present), again(t, channels, acks, present, memory), stop(t.make_flag()) {}

void node_services::begin(std::uint64_t memory_chunk_bytes) {
  memory.set_chunk_bytes(memory_chunk_bytes);
  if (++managers == 1) return;
  while (running.load(std::memory_order_acquire) != 0) transport.compute(kLookAgainPs);
  transport.flag_fetch_and(stop, 0);
  acks.forget_failures();
  channels.begin();
}

void node_services::set_own(fence_channel* own) {
  const auto lock = channels.holding();
  if (own != nullptr) present.set_manager(own->joining().life());
  again.set_own(own == nullptr ? nullptr : &own->joining());
}

void node_services::end() {
  {
    const std::lock_guard lock(mutex);
    locations.clear();
  }
  try {
    transport.flag_fetch_or(stop, 1);
  } catch (...) {  // a transport that is being torn down throws, and ends the service threads itself
  }
}

void node_services::start(const std::shared_ptr<node_services>& services, const char* name,
                          void (node_services::*body)()) {
  ++services->running;
  services->transport.spawn(
      name,
      [services, body] {
        (services.get()->*body)();
        services->running.fetch_sub(1, std::memory_order_release);
      },
      true);
}

void node_services::serve() {
  std::array<Completion, 16> batch;
  while (true) {
    const std::size_t finished = transport.poll(batch);
    for (std::size_t i = 0; i < finished; ++i) acks.finish(batch[i]);
    if (finished != 0) continue;
    if (channels.handle_next()) continue;
    if (transport.flag_peek(stop) != 0) return;
    transport.pause();
  }
}

void node_services::ask_peers() {
  const Region landing = memory.allocate(transport.num_nodes() * kNote);
  const std::uint64_t mine = transport.my_node() * kNote;
  std::vector<Flag> asked;
  for (NodeId node = 0; node < transport.num_nodes(); ++node) asked.push_back(acks.acquire_word());
  for (bool goes_on = true; goes_on && transport.flag_load(stop) == 0;) {
    if (transport.completions_lost()) return;  // no answer would be reported
    goes_on = transport.another_may_stop();
    if (!goes_on && transport.may_give_up_peers()) {  // no failure yet, or none can come any more
      goes_on = true;
      transport.pause();
      continue;
    }
    for (Region location : connected_peers()) {
      const NodeId node = location.node;
      if (acks.failed(node)) continue;
      if ((transport.flag_load(asked[node]) & ack_word::kInFlight) != 0) {
        goes_on = true;  // that answer may be older than the node's stop
        continue;
      }
      hear(node, landing.base + node * kNote);
      location.connection = present.number(node);
      transport.flag_add_early(asked[node], 1);
      transport.get(landing.base + node * kNote, location, mine, kNote,
                    {.token = ack_word::token(asked[node], 0), .work_id = 0});
    }
    if (goes_on) transport.compute(transport.keep_alive_ps());
  }
}

void node_services::hear(NodeId node, Address answer) {
  if (transport.load(answer + kGivenUp) > present.number(node)) acks.give_up(node, true);
  const std::uint64_t note = transport.load(answer + kSuspect);
  if (note == 0 || acks.suspect() || since_in(note) < acks.latest_of(suspect_in(note))) return;
  acks.note_suspect(suspect_in(note));
}

void node_services::note_failures_in(const Region& notes) {
  acks.set_announcements({.given_up =
                              [this, notes](NodeId node) {
                                transport.store(notes.base + node * kNote + kGivenUp, present.number(node) + 1);
                                transport.memory_fence();
                              },
                          .suspect =
                              [this, notes](NodeId suspect) {
                                const std::uint64_t note = suspect_note(suspect, acks.latest_of(suspect));
                                for (NodeId node = 0; node < transport.num_nodes(); ++node)
                                  transport.store(notes.base + node * kNote + kSuspect, note);
                                transport.memory_fence();
                              }});
  for (NodeId node = 0; managers > 1 && node < transport.num_nodes(); ++node)  // given up under an earlier manager
    if (acks.failed(node)) transport.store(notes.base + node * kNote + kGivenUp, present.number(node) + 1);
}

void node_services::note_connected(const Region& location) {
  const std::lock_guard lock(mutex);
  const auto known = std::ranges::find(locations, location.node, &Region::node);
  if (known == locations.end())
    locations.push_back(location);
  else
    *known = location;
}

std::vector<Region> node_services::connected_peers() {
  const std::lock_guard lock(mutex);
  return locations;
}

}  // namespace loco
