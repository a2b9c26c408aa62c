// A proof that can be checked: an inductive invariant of the reduced program (reduced.hpp), as a list of abstract
// states.
//
// A state of the certificate says where processes stand, how many operations each channel holds (the cap of a channel
// stands for that many and more), which requests all wait for earlier ones, a conjunction of literals over memory, and
// for each operand of a channel that holds something a list of conjunctions, one of which each number in its set
// satisfies. The states are inductive: the initial state is in one; and from every state, each step that is possible
// leads into the state that the certificate names for it. No state violates a property.
//
// As text it is JSON: literals are numbers of predicates from 1 on, negative when the predicate does not hold, and
// steps are listed in a fixed order (see `Moves`), so that whoever checks has nothing to search for.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "verify/abstract/linear.hpp"
#include "verify/abstract/reduced.hpp"
#include "verify/network.hpp"
#include "verify/program.hpp"

namespace loco::verify::abstract {

using Literals = std::vector<std::int32_t>;

struct CertificateState {
  std::vector<std::uint32_t> at;
  std::vector<std::uint32_t> held;
  std::vector<bool> behind;  ///< [Reduced::ordered]
  Literals memory;
  std::vector<std::vector<Literals>> sets;  ///< [operand]
  /// [move]: the state that it leads to; kNowhere: it cannot be made.
  std::vector<std::uint32_t> next;
};

inline constexpr std::uint32_t kNowhere = 0xffffffff;

struct Certificate {
  Network network = Network::kUnordered;
  FlushMask flushes;
  std::vector<std::uint32_t> caps;  ///< [channel]
  std::vector<Linear> predicates;
  std::vector<CertificateState> states;  ///< the first one has the initial state
};

/// What may happen in a state, by control alone: a step of a process, or an operation that leaves its channel with one
/// member of each operand's list, and how many the channel holds after that.
struct Move {
  bool nic = false;
  std::uint32_t step = 0;            ///< of Reduced::cpu or Reduced::nic
  std::vector<std::uint32_t> picks;  ///< [operand of the channel]: of its list
  std::vector<std::uint32_t> at;     ///< control afterwards
  std::vector<std::uint32_t> held;
  std::vector<bool> behind;
};

/// All moves of a state, in a fixed order: steps of processes, then of NICs, by number; lists in their order; the
/// channel one less before as many. Steps that are assertions that fail are among them, with `at` as before.
[[nodiscard]] std::vector<Move> moves(const Reduced& reduced, const Certificate& certificate,
                                      const CertificateState& state);

[[nodiscard]] std::string to_text(const Reduced& reduced, const Certificate& certificate);
/// Throws std::invalid_argument, with what was expected, when the text is no certificate of this program.
[[nodiscard]] Certificate certificate_from(const Program& program, std::string_view text);

}  // namespace loco::verify::abstract
