#include "loco_sim/workloads/collectives/chunk_leaps.hpp"

#include <algorithm>

namespace loco::workloads::collectives {

namespace {
[[nodiscard]] std::uint32_t chunk_of(std::uint64_t work_id, std::uint64_t messages) {
  return static_cast<std::uint32_t>((work_id - 1) / messages);
}
}  // namespace

ChunkLeaps::ChunkLeaps(const Setup& setup, std::uint32_t threads, bool possible)
    : leaps_(
          setup.cluster,
          {.possible = possible && setup.hosts.part().name.empty(), .least_under_way = threads, .one_place = false},
          [this](std::uint32_t chunk, std::uint32_t bytes, std::uint32_t /*packets*/) { left_.at(chunk) -= bytes; }) {
  if (on()) setup.hosts.follow(this);
}

std::uint64_t ChunkLeaps::post(NodeId node, std::uint32_t channel, std::uint64_t bytes, const Region& to) {
  const std::uint32_t chunk = next_++;
  left_[chunk] = bytes;
  leaps_.begins(std::nullopt);
  leaps_.posted(chunk, bytes, to, {node, 0, channel});  // one after the other, whatever queue pairs carry them
  return chunk * kMessages + 1;
}

void ChunkLeaps::on_placed(std::uint64_t work_id, std::uint32_t bytes, sim::SimTime /*at*/) {
  const std::uint32_t chunk = chunk_of(work_id, kMessages);
  const auto found = left_.find(chunk);
  if (found == left_.end()) return;  // placed again
  if (work_id % kMessages == 0) {    // its word
    if (found->second != 0) return;
    left_.erase(found);
    return leaps_.let_go();
  }
  if (found->second == 0) return;
  leaps_.placed(chunk, bytes);
  found->second -= std::min<std::uint64_t>(found->second, bytes);
  if (found->second != 0) return;
  leaps_.hold();  // until its word has come
  leaps_.ended(chunk);
}

void ChunkLeaps::on_request_packet(std::uint64_t work_id, nic::PacketStep step, const fabric::Packet& packet) {
  if (work_id % kMessages == 0) return;
  const std::uint32_t chunk = chunk_of(work_id, kMessages);
  if (step == nic::PacketStep::received) {
    leaps_.arrived(chunk, packet);
  } else {
    leaps_.sent(chunk, packet);
  }
}

void ChunkLeaps::tell(Results& results) const {
  if (leaps_.packets_left_out() > 0)
    results.leave_out("packets_left_out", leaps_.packets_left_out(), leaps_.left_out_ps());
}

}  // namespace loco::workloads::collectives
