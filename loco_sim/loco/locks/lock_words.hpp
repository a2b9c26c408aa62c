// The words of a ticket lock (LOCO paper, App. I: ticket locks), and how its waiters are told of their turn.
//
// A ticket is drawn with a fetch-and-add. What is drawn also says who drew before: each node adds 1 to the ticket, in
// the low 40 bits, and its number plus 1 above them, so that two values that one draw lies between tell who drew. The
// sums above wrap around without harm. Tickets do after 2^40 sections, which take two weeks at one a microsecond: only
// differences are looked at, and no name is as old as that.
//
// On the lock's home, for NICs alone: what is served, what is drawn next, and by ticket modulo nodes two words, the
// name of who waits there, to be told its turn, and the sign of who has seen that its ticket is not served, wherever it
// waits. On every node that takes part, for its CPUs and others' NICs, a seat:
//   turn      what this node drew, once it is its turn: whoever passes the lock on puts it there
//   link      the name of who comes behind this node, if that one knew it
//   released  what is served behind this node's latest ticket, once it lets go; what is put elsewhere comes from here
//   sign      its latest sign, which is put on the home from here
#pragma once

#include <cstdint>

#include "loco_sim/loco/transport.hpp"

namespace loco::lock_words {

inline constexpr unsigned kTicketBits = 40;

/// The ticket of a drawn value, a name, or what is served.
[[nodiscard]] constexpr std::uint64_t ticket_of(std::uint64_t word) {
  return word & ((std::uint64_t{1} << kTicketBits) - 1);
}
/// What a node adds when it draws: behind its ticket comes what it drew plus that.
[[nodiscard]] constexpr std::uint64_t share_of(NodeId node) { return (std::uint64_t{node} + 1) << kTicketBits | 1; }
/// Of a name; or who drew, of the difference that one draw makes.
[[nodiscard]] constexpr NodeId node_of(std::uint64_t word) { return static_cast<NodeId>((word >> kTicketBits) - 1); }
/// Who waits with that ticket. Never 0.
[[nodiscard]] constexpr std::uint64_t name_of(std::uint64_t drawn, NodeId node) {
  return (std::uint64_t{node} + 1) << kTicketBits | ticket_of(drawn);
}
/// Does a name, if it is one, say who comes directly behind the holder of a ticket?
[[nodiscard]] constexpr bool follows(std::uint64_t name, std::uint64_t drawn) {
  return name >> kTicketBits != 0 && ticket_of(name) == ticket_of(drawn + 1);
}

/// Is it the sign of who drew the ticket before this one? A sign is a name.
[[nodiscard]] constexpr bool is_before(std::uint64_t sign, std::uint64_t drawn) {
  return sign >> kTicketBits != 0 && ticket_of(sign) == ticket_of(drawn - 1);
}

/// Offsets of a seat's words.
inline constexpr std::uint64_t kTurn = 0, kLink = kWord, kReleased = 2 * kWord, kSign = 3 * kWord,
                               kSeatBytes = 4 * kWord;
/// Offsets of a lock's words on its home; behind them the places of those who wait: name and sign.
inline constexpr std::uint64_t kServing = 0, kNext = kWord, kPlaces = 2 * kWord;
inline constexpr std::uint64_t kPlaceBytes = 2 * kWord, kSignInPlace = kWord;
/// What is served and what is drawn next, in one get: in any order.
inline constexpr std::uint64_t kServingAndNext = 2 * kWord;

}  // namespace loco::lock_words
