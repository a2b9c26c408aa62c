#include "loco_sim/loco/memory/departures.hpp"

#include <algorithm>
#include <utility>

#include "probe/probe.hpp"

namespace loco {

void departures::left(std::uint32_t life, const std::string& name, std::uint32_t offered, std::vector<reached> peers) {
  gone_.insert_or_assign(life, departure{.name = name, .offered = offered, .peers = std::move(peers)});
}

void departures::told_too_late(std::uint32_t life, const std::string& name, const reached& peer) {
  const auto [at, fresh] = gone_.try_emplace(life);
  LOCO_PROBE(memory_offered_after_departure);
  departure& gone = at->second;
  gone.name = name;
  gone.peers.push_back(peer);
  gone.destroyed |= fresh;  // an unknown endpoint has been reclaimed already, so nobody here uses it
  if (fresh || std::exchange(gone.told, false)) open_.push_back(life);
  note_any();
}

void departures::destroyed(std::uint32_t life, std::vector<piece> memory, std::vector<use> uses) {
  const auto at = gone_.find(life);
  if (at == gone_.end()) return;
  departure& gone = at->second;
  gone.destroyed = true;
  gone.memory = std::move(memory);
  gone.uses = std::move(uses);
  if (gone.memory.empty() && gone.uses.empty() && gone.peers.empty()) {
    done_.push_back(life);
    gone_.erase(at);
    return;
  }
  open_.push_back(life);
  note_any();
}

void departures::peer_gone(std::uint32_t life) {
  const auto at = gone_.find(life);
  if (at == gone_.end() || at->second.offered == 0) return;
  if (--at->second.offered != 0 || !at->second.told) return;
  open_.push_back(life);
  note_any();
}

void departures::fenced(std::uint32_t thread, std::span<const NodeId> nodes) {
  for (const std::uint32_t life : open_)
    std::erase_if(gone_.at(life).uses,
                  [&](const use& u) { return u.thread == thread && std::ranges::find(nodes, u.node) != nodes.end(); });
}

void departures::settle() {
  // Works on a copy, because the loop refills open_.
  const std::vector<std::uint32_t> open = std::exchange(open_, {});
  for (const std::uint32_t life : open)
    if (const auto at = gone_.find(life); at != gone_.end() && settle(at)) open_.push_back(life);
  note_any();
}

bool departures::settle(Gone::iterator at) {
  departure& gone = at->second;
  std::erase_if(gone.uses, [this](const use& u) { return transport_.settled(u.thread, u.node); });
  if (!gone.destroyed || !gone.uses.empty()) return true;
  if (!std::exchange(gone.told, true)) {
    for (const reached& peer : gone.peers) tell_(peer.node, gone.name, peer.life);
    gone.peers.clear();
    done_.push_back(at->first);
  }
  if (gone.offered != 0) return false;  // peer_gone() reopens it when the last peer has answered
  const bool stored = std::ranges::all_of(
      gone.memory, [this](const piece& p) { return transport_.stored(p.region.base, p.region.size); });
  if (!stored) {
    LOCO_PROBE(memory_still_written_to);
    return true;
  }
  for (const piece& p : gone.memory) memory_.give_back(p.region, p.device);
  gone_.erase(at);
  return false;
}

}  // namespace loco
