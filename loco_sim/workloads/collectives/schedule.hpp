// Collectives as schedules: which rank sends which parts of its buffer to which rank, where they go there, and whether
// they are added to what is there or replace it. A schedule follows from the number of ranks alone; it knows no network
// and no times, so tests can check it against the collective's definition.
//
// A rank's buffer has `slots` of the same size. A move begins when everything that it sends is there: all moves of
// earlier steps into these slots of its sender have arrived and have been added or placed. Depending on the schedule's
// pace, the sender's previous move must also be complete, what was sent to it one step earlier must have arrived, or
// moves of the same stream wait for each other only. The ranks of a move differ.
//
// Sources: ring all-reduce: Patarasuk and Yuan, JPDC 2009; recursive halving and doubling, pairwise exchange,
// scatter-all-gather broadcast: Thakur, Rabenseifner and Gropp, IJHPCA 2005; Bruck and others, IEEE TPDS 1997; two
// trees: Sanders, Speck and Traeff, Parallel Computing 2009, laid out as NCCL has done since 2.4.
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
  hierarchical,        ///< all_reduce: within groups of ranks, then between them, all members at once
  pairwise,            ///< all_to_all, and the three below
  staged,
  bruck,
  direct,
  binomial,            ///< broadcast, reduce
  chain,               ///< the same, in chunks
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
  std::uint32_t stream = 0;  ///< moves of a stream from one rank to another arrive in order
};

/// What a rank waits for before a move besides the data that it sends.
enum class Pace : std::uint8_t {
  free,      ///< nothing
  streams,   ///< its previous move of the same stream to leave, with a limit for each of them
  complete,  ///< its previous move to complete
  staged,    ///< the arrival of what was sent to it one step earlier
};

struct Schedule {
  Rank ranks = 0;
  std::uint32_t slots = 0;  ///< of a rank's buffer
  std::uint32_t parts = 0;  ///< slots that the size of the collective is divided by
  Pace pace = Pace::free;
  std::uint32_t under_way = 8;  ///< moves that a rank sends at once, of each stream where these are paced; few of
                                ///< chunks, so that the first is not delayed
  std::vector<Move> moves{};    ///< ascending by step
};

/// True if the algorithm can do that with this many ranks (at least 2). `group`: of hierarchical, the number of
/// consecutive ranks in a group.
[[nodiscard]] bool fits(Collective what, Algorithm how, Rank ranks, Rank group = 0);

/// `chunks`: number of chunks into which pipelined algorithms (chain, double_tree) divide the vector; others ignore it.
/// The root is rank 0. Precondition: fits().
[[nodiscard]] Schedule make_schedule(Collective what, Algorithm how, Rank ranks, std::uint32_t chunks, Rank group = 0);

/// What a slot of a rank holds before and after, as a set of contributions. Rank r's slot begins with its own
/// contribution {r} if `begins`, and ends with the contributions of all ranks or of one.
struct Expected {
  bool begins = false;          ///< the slot has content at the start
  bool ends = false;            ///< its content at the end is checked
  bool sum = false;             ///< at the end: all ranks' contributions to that part
  Rank of = 0;                  ///< otherwise: this rank's
  std::uint32_t part_then = 0;  ///< at the start: the index of the rank's part
  std::uint32_t part = 0;       ///< at the end: the index of the part
};
[[nodiscard]] Expected expected(Collective what, const Schedule& schedule, Rank rank, Slot slot);

}  // namespace loco::workloads::collectives
