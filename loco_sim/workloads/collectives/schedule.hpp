// Collectives as schedules: who sends which parts of its buffer to whom, where they go there, and whether they are
// added to what lies there or take its place. A schedule is made from the number of ranks alone; it knows no network
// and no times, so that tests hold it to its law.
//
// A rank's buffer has `slots` of one size. A move begins when all that it sends is there: all earlier moves (by step)
// into these slots of its sender have come and have been added or placed, and, in schedules that say so, the sender's
// move before it is complete or what was sent to it one step earlier has come. Ranks of a move differ.
//
// Sources: ring all-reduce: Patarasuk and Yuan, JPDC 2009; recursive halving and doubling, pairwise exchange,
// scatter-all-gather broadcast: Thakur, Rabenseifner and Gropp, IJHPCA 2005; Bruck and others, IEEE TPDS 1997; two
// trees: Sanders, Speck and Traeff, Parallel Computing 2009, laid out as NCCL does since 2.4.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace loco::workloads::collectives {

using Rank = std::uint32_t;
using Slot = std::uint32_t;

enum class Collective : std::uint8_t { all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, reduce };

enum class Algorithm : std::uint8_t {
  ring,
  halving_doubling,    ///< all_reduce
  recursive_doubling,  ///< all_reduce; all_gather of a power of two of ranks
  recursive_halving,   ///< reduce_scatter of a power of two of ranks
  double_tree,         ///< all_reduce
  hierarchical,        ///< all_reduce: within groups of ranks, then between them, every member at once
  pairwise,            ///< all_to_all, and the three below
  staged,
  bruck,
  direct,
  binomial,            ///< broadcast, reduce
  chain,               ///< likewise, in chunks
  scatter_all_gather,  ///< broadcast
};

/// One slot that goes from the sender's buffer to the receiver's.
struct Piece {
  Slot from = 0;
  Slot to = 0;
  bool operator==(const Piece&) const = default;
};

struct Move {
  std::uint32_t step = 0;
  Rank from = 0;
  Rank to = 0;
  bool add = false;
  std::vector<Piece> pieces{};
};

/// What a rank waits for before a move, besides what it sends.
enum class Pace : std::uint8_t {
  free,      ///< nothing
  in_order,  ///< its own move before has left
  complete,  ///< its own move before is complete
  staged,    ///< what is sent to it one step before has come
};

struct Schedule {
  Rank ranks = 0;
  std::uint32_t slots = 0;  ///< of a rank's buffer
  std::uint32_t parts = 0;  ///< slots that the size of the collective is divided into
  Pace pace = Pace::free;
  std::uint32_t under_way = 8;  ///< moves that a rank sends at once: of chunks few, so that the first is not held up
  std::vector<Move> moves{};    ///< by step, ascending
};

/// Does the algorithm do that, with so many ranks (2 at least)? `group`: ranks in a row that are one, of hierarchical.
[[nodiscard]] bool fits(Collective what, Algorithm how, Rank ranks, Rank group = 0);

/// `chunks`: what pipelined algorithms (chain, double_tree) cut the vector into; others ignore it. The root is rank 0.
/// Precondition: fits().
[[nodiscard]] Schedule make_schedule(Collective what, Algorithm how, Rank ranks, std::uint32_t chunks, Rank group = 0);

/// What a slot of a rank holds before and after, as a set of contributions: rank r's slot begins with its own
/// contribution {r} where `begins`, and ends with that of all or of one rank.
struct Expected {
  bool begins = false;          ///< the slot has something at the start
  bool ends = false;            ///< what it holds at the end is looked at
  bool sum = false;             ///< at the end: of all ranks' contributions to that part
  Rank of = 0;                  ///< else: of this rank's
  std::uint32_t part_then = 0;  ///< at the start: which of the rank's parts it is
  std::uint32_t part = 0;       ///< at the end: which part of theirs
};
[[nodiscard]] Expected expected(Collective what, const Schedule& schedule, Rank rank, Slot slot);

}  // namespace loco::workloads::collectives
