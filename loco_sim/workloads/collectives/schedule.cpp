#include "loco_sim/workloads/collectives/schedule.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace loco::workloads::collectives {

namespace {

bool power_of_two(Rank n) { return std::has_single_bit(n); }

/// Consecutive slots that keep their places.
std::vector<Piece> row(Slot first, std::uint32_t count) {
  std::vector<Piece> pieces(count);
  for (std::uint32_t i = 0; i < count; ++i) pieces[i] = {first + i, first + i};
  return pieces;
}

void ring_reduce_scatter(Schedule& s, std::uint32_t step) {
  const Rank n = s.ranks;
  for (std::uint32_t k = 0; k + 1 < n; ++k)
    for (Rank r = 0; r < n; ++r) s.moves.push_back({step + k, r, (r + 1) % n, true, row((r + 2 * n - k - 1) % n, 1)});
}

/// Initially rank r has part r.
void ring_all_gather(Schedule& s, std::uint32_t step) {
  const Rank n = s.ranks;
  for (std::uint32_t k = 0; k + 1 < n; ++k)
    for (Rank r = 0; r < n; ++r) s.moves.push_back({step + k, r, (r + 1) % n, false, row((r + n - k) % n, 1)});
}

/// The first of the slots that a rank still has after halving down to `width` ranks.
Slot first_of(Rank r, std::uint32_t width) { return r / width * width; }

void add_recursive_halving(Schedule& s, std::uint32_t step, Rank n) {
  for (std::uint32_t width = n / 2; width >= 1; width /= 2, ++step)
    for (Rank r = 0; r < n; ++r) {
      const Rank other = r ^ width;
      s.moves.push_back({step, r, other, true, row(first_of(other, width), width)});
    }
}

void recursive_doubling_gather(Schedule& s, std::uint32_t step, Rank n) {
  for (std::uint32_t width = 1; width < n; width *= 2, ++step)
    for (Rank r = 0; r < n; ++r) s.moves.push_back({step, r, r ^ width, false, row(first_of(r, width), width)});
}

/// Ranks beyond a power of two first send their vectors to others and get the sums at the end (Thakur and others, 4.5).
void add_halving_doubling(Schedule& s) {
  const Rank n = std::bit_floor(s.ranks);
  const Rank rest = s.ranks - n;
  for (Rank r = 0; r < rest; ++r) s.moves.push_back({0, n + r, r, true, row(0, s.slots)});
  const auto levels = static_cast<std::uint32_t>(std::countr_zero(n));
  add_recursive_halving(s, 1, n);
  recursive_doubling_gather(s, 1 + levels, n);
  for (Rank r = 0; r < rest; ++r) s.moves.push_back({1 + 2 * levels, r, n + r, false, row(0, s.slots)});
}

/// In each step ranks exchange everything that they have summed so far.
void recursive_doubling_reduce(Schedule& s) {
  std::uint32_t step = 0;
  for (Rank width = 1; width < s.ranks; width *= 2, ++step)
    for (Rank r = 0; r < s.ranks; ++r) s.moves.push_back({step, r, r ^ width, true, row(0, s.slots)});
}

/// Within groups of g, a ring gives member i the sum of block i. Then the i-th members of all m groups reduce their
/// blocks on a ring of their own, all g rings at once. Then the groups gather. Slots: g blocks of m parts.
void add_hierarchical(Schedule& s, Rank g) {
  const Rank m = s.ranks / g;
  const auto rank = [g](Rank group, Rank member) { return group * g + member; };
  std::uint32_t step = 0;
  for (Rank k = 0; k + 1 < g; ++k, ++step)
    for (Rank a = 0; a < m; ++a)
      for (Rank i = 0; i < g; ++i)
        s.moves.push_back({step, rank(a, i), rank(a, (i + 1) % g), true, row((i + 2 * g - k - 1) % g * m, m)});
  const auto between = [&](bool add, Rank part, Rank a, Rank i) {
    s.moves.push_back({step, rank(a, i), rank((a + 1) % m, i), add, row(i * m + part, 1)});
  };
  for (const bool add : {true, false})
    for (Rank k = 0; k + 1 < m; ++k, ++step)
      for (Rank a = 0; a < m; ++a)
        for (Rank i = 0; i < g; ++i) between(add, (a + 2 * m - k - (add ? 1 : 0)) % m, a, i);
  for (Rank k = 0; k + 1 < g; ++k, ++step)
    for (Rank a = 0; a < m; ++a)
      for (Rank i = 0; i < g; ++i)
        s.moves.push_back({step, rank(a, i), rank(a, (i + 1) % g), false, row((i + g - k) % g * m, m)});
}

constexpr Rank kRoot = 0xffffffffU;

/// Parents in a binary tree with root 0, in which ranks 1 to n - 1 are placed by their lowest bit (NCCL's btree).
Rank tree_parent(Rank r, Rank n) {
  if (r == 0) return kRoot;
  const Rank bit = r & (~r + 1);
  const Rank up = (r ^ bit) | (bit << 1U);
  return up >= n ? r ^ bit : up;
}

/// The second tree: mirrored for an even number of ranks, shifted by one for an odd one.
Rank second_parent(Rank r, Rank n) {
  if (n % 2 == 0) {
    const Rank p = tree_parent(n - 1 - r, n);
    return p == kRoot ? kRoot : n - 1 - p;
  }
  const Rank p = tree_parent((r + n - 1) % n, n);
  return p == kRoot ? kRoot : (p + 1) % n;
}

std::uint32_t depth(Rank r, Rank n, Rank (*parent)(Rank, Rank)) {
  std::uint32_t d = 0;
  for (Rank p = parent(r, n); p != kRoot; p = parent(p, n)) ++d;
  return d;
}

/// Chunks [first, last) go up a tree, summed on the way, and down it again. A step is a level of the tree and a chunk.
void add_tree(Schedule& s, Rank (*parent)(Rank, Rank), Slot first, Slot last, std::uint32_t stream) {
  const Rank n = s.ranks;
  std::uint32_t deepest = 0;
  for (Rank r = 0; r < n; ++r) deepest = std::max(deepest, depth(r, n, parent));
  for (Slot c = first; c < last; ++c)
    for (Rank r = 0; r < n; ++r) {
      const Rank up = parent(r, n);
      if (up == kRoot) continue;
      const std::uint32_t d = depth(r, n, parent);
      s.moves.push_back({c - first + deepest - d, r, up, true, row(c, 1), stream});
      s.moves.push_back({c - first + deepest + d, up, r, false, row(c, 1), stream});
    }
}

/// Half of the chunks in each of two trees. Each rank is an inner node of one and a leaf of the other, so both together
/// can use its port fully in both directions. Every edge is a stream each way, with some chunks under way, as in NCCL:
/// in rounds, for which Sanders and others color the edges (section 3), a round trip is lost behind each chunk.
void add_double_tree(Schedule& s) {
  const std::uint32_t half = s.slots / 2;
  add_tree(s, tree_parent, 0, half, 0);
  add_tree(s, second_parent, half, s.slots, 1);
}

// All-to-all: of the first n slots slot d is for rank d; slot n + r is what rank r has sent.

void exchange(Schedule& s, bool at_once) {
  const Rank n = s.ranks;
  for (Rank k = 1; k < n; ++k)
    for (Rank r = 0; r < n; ++r) {
      const Rank to = (r + k) % n;
      s.moves.push_back({at_once ? 0 : k - 1, r, to, false, {{to, n + r}}});
    }
}

/// Blocks travel by powers of two until they arrive. A block that travels j ranks lies in a new slot after each step,
/// so that nothing still to be sent is overwritten.
void add_bruck(Schedule& s) {
  const Rank n = s.ranks;
  const auto behind = [n](std::uint32_t step, Rank j) { return (2 + step) * n + j; };
  std::uint32_t step = 0;
  for (Rank hop = 1; hop < n; hop *= 2, ++step)
    for (Rank r = 0; r < n; ++r) {
      Move move{step, r, (r + hop) % n, false, {}};
      for (Rank j = 1; j < n; ++j) {
        if ((j & hop) == 0) continue;
        const Rank gone = j & (hop - 1);                 // how far it has travelled before this step
        const bool arrives = (j & ~(2 * hop - 1)) == 0;  // no higher bit is left
        const auto came = gone == 0 ? 0 : static_cast<std::uint32_t>(std::bit_width(gone)) - 1;
        const Slot from = gone == 0 ? (r + j) % n : behind(came, j);
        const Rank origin = (r + n - gone) % n;
        move.pieces.push_back({from, arrives ? n + origin : behind(step, j)});
      }
      s.moves.push_back(std::move(move));
    }
}

/// Down a binomial tree; a reduce goes up it.
void add_binomial(Schedule& s, bool up) {
  std::vector<Move> down;
  std::uint32_t step = 0;
  for (Rank width = std::bit_ceil(s.ranks) / 2; width >= 1; width /= 2, ++step)
    for (Rank r = 0; r < s.ranks; r += 2 * width)
      if (r + width < s.ranks) down.push_back({step, r, r + width, false, row(0, s.slots)});
  if (up) {
    std::ranges::reverse(down);
    for (Move& m : down) m = {step - 1 - m.step, m.to, m.from, true, std::move(m.pieces)};
  }
  s.moves = std::move(down);
}

void add_chain(Schedule& s, bool up) {
  for (Slot c = 0; c < s.slots; ++c)
    for (Rank r = 0; r + 1 < s.ranks; ++r) {
      const Rank a = up ? s.ranks - 1 - r : r;
      const Rank b = up ? a - 1 : a + 1;
      s.moves.push_back({c + r, a, b, up, row(c, 1)});
    }
}

/// The root's vector is scattered down a binomial tree, then all ranks gather it on a ring.
void add_scatter_all_gather(Schedule& s) {
  std::uint32_t step = 0;
  for (Rank width = std::bit_ceil(s.ranks) / 2; width >= 1; width /= 2, ++step)
    for (Rank r = 0; r < s.ranks; r += 2 * width)
      if (r + width < s.ranks)
        s.moves.push_back({step, r, r + width, false, row(r + width, std::min(width, s.ranks - r - width))});
  ring_all_gather(s, step);
}

}  // namespace

bool fits(Collective what, Algorithm how, Rank ranks, Rank group) {
  using enum Algorithm;
  switch (what) {
    case Collective::all_reduce:
      return how == ring || how == halving_doubling || how == double_tree ||
             (how == hierarchical && group >= 2 && group < ranks && ranks % group == 0) ||
             (how == recursive_doubling && power_of_two(ranks));
    case Collective::all_gather:
      return how == ring || (how == recursive_doubling && power_of_two(ranks));
    case Collective::reduce_scatter:
      return how == ring || (how == recursive_halving && power_of_two(ranks));
    case Collective::all_to_all:
      return how == pairwise || how == staged || how == bruck || how == direct;
    case Collective::broadcast:
      return how == binomial || how == chain || how == scatter_all_gather;
    case Collective::reduce:
      return how == binomial || how == chain;
  }
  return false;
}

Schedule make_schedule(Collective what, Algorithm how, Rank ranks, std::uint32_t chunks, Rank group) {
  using enum Algorithm;
  Schedule s{.ranks = ranks, .slots = ranks, .parts = ranks};
  const bool up = what == Collective::reduce;
  switch (how) {
    case ring:
      if (what != Collective::all_gather) ring_reduce_scatter(s, 0);
      if (what == Collective::all_reduce) ring_all_gather(s, ranks - 1);
      if (what == Collective::all_gather) ring_all_gather(s, 0);
      break;
    case halving_doubling:
      s.slots = s.parts = std::bit_floor(ranks);
      add_halving_doubling(s);
      break;
    case recursive_doubling:
      if (what == Collective::all_gather) {
        recursive_doubling_gather(s, 0, ranks);
      } else {
        s.slots = s.parts = 1;
        recursive_doubling_reduce(s);
      }
      break;
    case recursive_halving:
      add_recursive_halving(s, 0, ranks);
      break;
    case double_tree:
      s.slots = s.parts = std::max(2U, chunks);
      s.pace = Pace::streams;
      add_double_tree(s);
      break;
    case hierarchical:
      add_hierarchical(s, group);
      break;
    case pairwise:
    case staged:
    case direct:
      s.slots = 2 * ranks;
      s.pace = how == pairwise ? Pace::complete : how == staged ? Pace::staged : Pace::free;
      exchange(s, how == direct);
      break;
    case bruck:
      s.slots = (2 + static_cast<std::uint32_t>(std::bit_width(ranks - 1))) * ranks;
      add_bruck(s);
      break;
    case binomial:
      s.slots = s.parts = 1;
      s.pace = Pace::complete;  // one child after the other; all at once would share the port and delay each other
      add_binomial(s, up);
      break;
    case chain:
      s.slots = s.parts = std::max(1U, chunks);
      add_chain(s, up);
      break;
    case scatter_all_gather:
      add_scatter_all_gather(s);
      break;
  }
  std::ranges::stable_sort(s.moves, {}, &Move::step);
  return s;
}

Expected expected(Collective what, const Schedule& s, Rank rank, Slot slot) {
  Expected e{.part_then = slot, .part = slot};
  switch (what) {
    case Collective::all_reduce:
      return {true, true, true, 0, slot, slot};
    case Collective::all_gather:
      return {slot == rank, true, false, slot, slot, slot};
    case Collective::reduce_scatter:
      return {true, slot == rank, true, 0, slot, slot};
    case Collective::all_to_all: {
      const Rank n = s.ranks;
      if (slot < n) return {true, false, false, rank, slot, slot};
      if (slot >= 2 * n || slot - n == rank) return e;  // a rank's block for itself stays where it is
      return {false, true, false, slot - n, slot, rank};
    }
    case Collective::broadcast:
      return {rank == 0, true, false, 0, slot, slot};
    case Collective::reduce:
      return {true, rank == 0, true, 0, slot, slot};
  }
  return e;
}

}  // namespace loco::workloads::collectives
