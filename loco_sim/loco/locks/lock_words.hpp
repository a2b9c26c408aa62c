// The words of a ticket lock (LOCO paper, App. I: ticket locks), and how its waiters learn of their turn.
//
// A ticket is drawn with a fetch-and-add. The drawn value also tells who drew before: each node adds 1 to the ticket in
// the low 40 bits, and its number plus 1 to a sum above them, so that the difference of two successive values names the
// node. The sums may wrap around. Tickets wrap after 2^40 critical sections, two weeks at one per microsecond, which is
// harmless because only differences are compared and no name gets that old.
//
// The lock's home, accessed by NICs only, holds the served ticket, the next ticket to be drawn, and two words per place
// (ticket modulo nodes): the name of the thread that waits there to be told its turn, and the sign of a thread that has
// seen that its ticket is not served, wherever it waits. Every node that takes part has a seat, accessed by its CPUs
// and by other nodes' NICs:
//   turn      this node's drawn value, put here by its predecessor when its turn comes
//   link      the name of this node's successor, if that one knew its predecessor
//   released  the next value to serve, written here at release; puts of it to other places take it from here
//   sign      this node's latest sign; the put to the home takes it from here
#pragma once

#include <cstdint>

#include "loco_sim/loco/transport.hpp"

namespace loco::lock_words {

inline constexpr unsigned kTicketBits = 40;

/// The ticket in a drawn value, a name, or a served value.
[[nodiscard]] constexpr std::uint64_t ticket_of(std::uint64_t word) {
  return word & ((std::uint64_t{1} << kTicketBits) - 1);
}
/// What a node adds when it draws. Its drawn value plus this is the next value.
[[nodiscard]] constexpr std::uint64_t share_of(NodeId node) { return (std::uint64_t{node} + 1) << kTicketBits | 1; }
/// The node in a name, or the node that drew, from the difference of two successive values.
[[nodiscard]] constexpr NodeId node_of(std::uint64_t word) { return static_cast<NodeId>((word >> kTicketBits) - 1); }
/// The name of the thread with that ticket. Never 0.
[[nodiscard]] constexpr std::uint64_t name_of(std::uint64_t drawn, NodeId node) {
  return (std::uint64_t{node} + 1) << kTicketBits | ticket_of(drawn);
}
/// True if `name` is a name, of the thread directly after the holder of `drawn`.
[[nodiscard]] constexpr bool follows(std::uint64_t name, std::uint64_t drawn) {
  return name >> kTicketBits != 0 && ticket_of(name) == ticket_of(drawn + 1);
}

/// True if `sign`, which has the form of a name, is that of the ticket directly before `drawn`.
[[nodiscard]] constexpr bool is_before(std::uint64_t sign, std::uint64_t drawn) {
  return sign >> kTicketBits != 0 && ticket_of(sign) == ticket_of(drawn - 1);
}

/// Offsets of a seat's words.
inline constexpr std::uint64_t kTurn = 0, kLink = kWord, kReleased = 2 * kWord, kSign = 3 * kWord,
                               kSeatBytes = 4 * kWord;
/// Offsets of a lock's words on its home; the places follow, each a name and a sign.
inline constexpr std::uint64_t kServing = 0, kNext = kWord, kPlaces = 2 * kWord;
inline constexpr std::uint64_t kPlaceBytes = 2 * kWord, kSignInPlace = kWord;
/// The served and the next value, which one get reads in any order.
inline constexpr std::uint64_t kServingAndNext = 2 * kWord;

}  // namespace loco::lock_words
