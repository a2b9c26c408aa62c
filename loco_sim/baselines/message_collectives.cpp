#include "loco_sim/baselines/message_collectives.hpp"

#include <algorithm>
#include <bit>
#include <optional>

namespace loco::baselines {

// --- barriers -------------------------------------------------------------------------------------------------------

namespace {
/// Rounds of a barrier are part of its tags: one for each power of two, for both the way up and the way down, and two
/// for ranks beyond the greatest power of two.
constexpr unsigned kRoundBits = 6;
constexpr std::uint32_t kDown = 31;
constexpr std::uint32_t kBefore = 62;
constexpr std::uint32_t kAfter = 63;
}  // namespace

BarrierAlgorithm open_mpi_barrier(std::uint32_t ranks) {
  using enum BarrierAlgorithm;
  if (ranks < 4) return recursive_doubling;
  if (ranks < 8) return linear;
  if (ranks < 64) return recursive_doubling;
  if (ranks < 256) return dissemination;
  if (ranks < 512) return tree;
  if (ranks < 1024) return dissemination;
  return ranks < 4096 ? tree : dissemination;
}

void message_barrier::tell(Rank rank, std::uint32_t round) { rank_.send(rank, count_ << kRoundBits | round, {}); }
void message_barrier::hear(Rank rank, std::uint32_t round) {
  rank_.receive(rank, count_ << kRoundBits | round, request_);
}

void message_barrier::waiting() {
  ++count_;
  switch (algorithm_) {
    case BarrierAlgorithm::dissemination:
      return dissemination();
    case BarrierAlgorithm::recursive_doubling:
      return recursive_doubling();
    case BarrierAlgorithm::linear:
      return linear();
    case BarrierAlgorithm::tree:
    case BarrierAlgorithm::open_mpi:  // already resolved
      return tree();
  }
}

void message_barrier::dissemination() {
  const Rank me = rank_.rank();
  for (std::uint32_t k = 0; (1U << k) < ranks_; ++k) {
    tell((me + (1U << k)) % ranks_, k);
    hear((me + ranks_ - (1U << k)) % ranks_, k);
  }
}

/// Ranks beyond the greatest power of two are represented by another rank.
void message_barrier::recursive_doubling() {
  const Rank me = rank_.rank();
  const std::uint32_t full = std::bit_floor(ranks_);
  if (me >= full) {
    tell(me - full, kBefore);
    hear(me - full, kAfter);
    return;
  }
  const bool stands = me + full < ranks_;
  if (stands) hear(me + full, kBefore);
  for (std::uint32_t k = 0; (1U << k) < full; ++k) {
    tell(me ^ (1U << k), k);
    hear(me ^ (1U << k), k);
  }
  if (stands) tell(me + full, kAfter);
}

void message_barrier::linear() {
  if (rank_.rank() != 0) {
    tell(0, kBefore);
    hear(0, kAfter);
    return;
  }
  for (Rank other = 1; other < ranks_; ++other) hear(other, kBefore);
  for (Rank other = 1; other < ranks_; ++other) tell(other, kAfter);
}

void message_barrier::tree() {
  const Rank me = rank_.rank();
  // Up: a rank that receives from the one above in round k represents both from then on.
  const auto partner = [&](std::uint32_t k) -> std::optional<Rank> {
    const Rank other = me ^ (1U << k);
    if ((other & ((1U << k) - 1)) != 0 || other >= ranks_) return std::nullopt;
    return other;
  };
  const auto rounds = static_cast<std::uint32_t>(std::bit_width(ranks_ - 1));
  for (std::uint32_t k = 0; k < rounds; ++k)
    if (const auto other = partner(k)) *other > me ? hear(*other, k) : tell(*other, k);
  for (std::uint32_t k = rounds; k-- > 0;)
    if (const auto other = partner(k)) *other > me ? tell(*other, kDown + k) : hear(*other, kDown + k);
}

// --- broadcasts ------------------------------------------------------------------------------------------------------

message_broadcast::message_broadcast(message_rank& rank, std::uint32_t ranks) : rank_(rank) {
  constexpr std::uint32_t kLinearUpTo = 4;  // as in libNBC
  const Rank me = rank.rank();
  if (ranks <= kLinearUpTo) {
    for (Rank r = 1; me == 0 && r < ranks; ++r) children_.push_back(r);
    return;
  }
  if (me != 0) parent_ = me - std::bit_floor(me);
  for (std::uint32_t step = me == 0 ? 1 : 2 * std::bit_floor(me); me + step < ranks; step *= 2)
    children_.push_back(me + step);
}

void message_broadcast::pass_on(Tag i, std::span<const std::uint64_t> words) {
  for (const Rank child : children_) rank_.send(child, i, words);
}

void message_broadcast::send(Tag i, std::span<const std::uint64_t> words) { pass_on(i, words); }

void message_broadcast::expect(Tag i) {
  under_way_.push_back({.number = i});
  rank_.post_receive(parent_, i, under_way_.back().request);  // a deque never moves its elements
}

bool message_broadcast::progress() {
  bool happened = rank_.progress();
  // libNBC visits all broadcasts in flight: for each its link, its array of requests, the request and its state.
  constexpr std::size_t kLooksEach = 4;
  rank_.look_at(kLooksEach * static_cast<std::size_t>(std::ranges::count(under_way_, false, &UnderWay::passed_on)));
  for (UnderWay& u : under_way_) {
    if (u.passed_on || !u.request.done) continue;
    u.passed_on = happened = true;
    pass_on(u.number, u.request.words);
  }
  return happened;
}

}  // namespace loco::baselines
