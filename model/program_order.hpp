// Preserved program order (Fig. 10) with a number of edges linear in the number of subevents.
//
// The rows of the table fall into seven classes of equal rows. For each class (and, for stamps that name a remote
// node, for each node) a thread keeps one chain point after all its earlier subevents of that class; a subevent
// takes an edge from the chain of each class that its column lists. The same once more between starts, for
// rdmawait's events only, with the cells that issue order adds (ippo).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "model/event.hpp"
#include "model/order.hpp"
#include "model/stamps.hpp"

namespace loco::model {

/// Rows of Fig. 10 that are equal share a class.
enum class RowClass : std::uint8_t { always, cpu_write, nlr_fence, nrw, nrr, nlw, nar };
inline constexpr std::size_t kRowClasses = 7;

/// Issue order: ppo and cells B1, B5, G10, I10 (Appendix G.2, ippo).
[[nodiscard]] constexpr bool issue_ordered(Stamp earlier, Stamp later, bool same_node) {
  if (kStampOrder.ordered(earlier, later, same_node)) return true;
  if (earlier == Stamp::aCW) return later == Stamp::aCR || later == Stamp::aWT;
  return (earlier == Stamp::aNRW || earlier == Stamp::aNLW) && later == Stamp::aRF && same_node;
}

class ProgramOrder {
 public:
  /// `without`: cells that do not count.
  ProgramOrder(Order& order, std::uint32_t nodes, std::span<const StampPair> without);

  void begin_thread();
  /// Edges into the event's subevents from the thread's earlier ones. Starts too when `issue` (rdmawait's events).
  void enter(Event& event, bool issue);
  /// Makes the event's subevents earlier ones. To be called when the edges into its starts are complete.
  void leave(const Event& event, bool issue);

 private:
  using Chains = std::array<Point, kRowClasses>;
  /// One chain a class, for finishes and for starts; `added` are the event's own subevents while it is left.
  struct Level {
    Chains finish, start;
    Chains added_finish, added_start;
  };
  Level& peer(std::uint32_t node);
  void settle(Level& level);

  /// For each column, the classes that precede it.
  struct Masks {
    std::array<std::uint8_t, kStamps> finish{};
    std::array<std::uint8_t, kStamps> start{};
  };
  static constexpr Masks make_masks();

  Order* order_;
  Masks masks_;
  std::array<bool, kRowClasses> replaces_;  // a later subevent of the class is always after the earlier ones
  Level thread_;                            // classes whose stamps name no node
  std::vector<Level> peers_;                // of the nodes that this thread has talked to
  std::vector<std::uint32_t> slot_;         // by node: its index in peers_ + 1, or 0
  std::vector<std::uint32_t> used_;         // nodes with a slot
};

}  // namespace loco::model
