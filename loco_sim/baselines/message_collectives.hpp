// What the ranks of an MPI program do together, for comparison with LOCO's objects: barriers, and broadcasts that do
// not block. Nothing fences: like MPI's barrier they synchronise threads, not memory.
//   dissemination        Hensgen, Finkel and Manber, "Two algorithms for barrier synchronization", 1988; "bruck" in
//   Open
//                        MPI
//   recursive doubling   Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in
//                        MPICH", 2005
//   linear, tree         all tell rank 0, which tells all; the same up and down a binomial tree
//   open_mpi             which of them Open MPI 5 takes for so many ranks (ompi/mca/coll/tuned,
//                        coll_tuned_decision_fixed.c)
//   broadcast            binomial tree with the rounds of libNBC (Hoefler, Lumsdaine and Rehm, "Implementation and
//                        performance analysis of non-blocking collective operations for MPI", SC 2007), which is Open
//                        MPI's MPI_Ibcast: up to four ranks the root sends to all
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "loco_sim/baselines/message_rank.hpp"

namespace loco::baselines {

enum class BarrierAlgorithm : std::uint8_t { dissemination, recursive_doubling, linear, tree, open_mpi };

/// The algorithm that Open MPI 5 chooses for this number of ranks.
[[nodiscard]] BarrierAlgorithm open_mpi_barrier(std::uint32_t ranks);

class message_barrier {
 public:
  message_barrier(message_rank& rank, std::uint32_t ranks, BarrierAlgorithm algorithm)
      : rank_(rank),
        ranks_(ranks),
        algorithm_(algorithm == BarrierAlgorithm::open_mpi ? open_mpi_barrier(ranks) : algorithm) {}

  void waiting();

 private:
  void dissemination();
  void recursive_doubling();
  void linear();
  void tree();
  void tell(Rank rank, std::uint32_t round);
  void hear(Rank rank, std::uint32_t round);

  message_rank& rank_;
  std::uint32_t ranks_;
  BarrierAlgorithm algorithm_;
  std::uint64_t count_ = 0;
  message_rank::Request request_;
};

/// Broadcasts from rank 0, any number of them in flight. Progress is made only in progress(), which checks each of
/// them, as in libNBC.
class message_broadcast {
 public:
  message_broadcast(message_rank& rank, std::uint32_t ranks);

  /// Rank 0: sends message number i. Returns once it has been posted.
  void send(Tag i, std::span<const std::uint64_t> words);
  /// Other ranks, in the order of the numbers: prepares to receive message number i.
  void expect(Tag i);
  /// Returns false if nothing has happened.
  bool progress();
  /// Messages in flight, oldest first: the number, and the words once `request.done` and passed on.
  struct UnderWay {
    Tag number = 0;
    bool passed_on = false;
    message_rank::Request request = {};
  };
  [[nodiscard]] std::deque<UnderWay>& under_way() { return under_way_; }
  /// The rank that messages come from; not for rank 0.
  [[nodiscard]] Rank parent() const { return parent_; }

 private:
  void pass_on(Tag i, std::span<const std::uint64_t> words);

  message_rank& rank_;
  Rank parent_ = 0;
  std::vector<Rank> children_;
  std::deque<UnderWay> under_way_;
};

}  // namespace loco::baselines
