// coreRMA programs as the generator of tests handles them (coreRMA paper, Section 3, Tables 1 and 3): sequences of
// statements, all accesses atomic, without names and values. Two programs are told apart by what they do only:
// processes, hosts and variables are numbers, each local read has a register and each local write a constant of its
// own.
//
// Process i runs on host i; further hosts hold variables only. Flat arrays: programs are copied, compared and thrown
// away by the million.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace loco::model::corerma {

inline constexpr int kProcessesMax = 4;
inline constexpr int kHostsMax = 8;
inline constexpr int kSizeMax = 24;  ///< actions and variables of a program together
inline constexpr std::int8_t kNobody = -1;

/// For arrays, by the signed numbers used throughout.
[[nodiscard]] constexpr std::size_t index(int i) { return static_cast<std::size_t>(i); }

enum class Kind : std::uint8_t { read, write, get, put, rga, cas, flush };
inline constexpr int kKinds = 7;
inline constexpr std::array<std::string_view, kKinds> kKindNames = {"read", "write", "get",  "put",
                                                                    "rga",  "cas",   "flush"};
inline constexpr std::array<std::string_view, kKinds> kKindLetters = {"r", "w", "g", "p", "a", "c", "f"};
inline constexpr std::array<int, kKinds> kActions = {1, 1, 2, 2, 3, 4, 1};  ///< that a statement is made of

[[nodiscard]] constexpr int actions(Kind kind) { return kActions[static_cast<std::size_t>(kind)]; }
[[nodiscard]] constexpr bool is_remote(Kind kind) {
  return kind == Kind::get || kind == Kind::put || kind == Kind::rga || kind == Kind::cas;
}

/// `u = local`, `local = 1`, `local = get(remote)`, `put(remote, local)`, `local = rga(remote, operand)`,
/// `local = cas(remote, operand, operand2)`, `flush(host)`. Fields are ordered as statements are, first to last.
struct Statement {
  Kind kind = Kind::read;
  std::int8_t local = kNobody;     ///< a variable of the process
  std::int8_t remote = kNobody;    ///< a variable of any host
  std::int8_t host = kNobody;      ///< the remote variable's, or the one that a flush is for
  std::int8_t operand = kNobody;   ///< a variable of the process
  std::int8_t operand2 = kNobody;  ///< a variable of the process

  friend constexpr auto operator<=>(const Statement&, const Statement&) = default;
};

struct Program {
  int processes = 1;
  int count = 0;      ///< statements of all processes, one process after the other
  int variables = 0;  ///< numbered by first appearance (local, remote, operand, operand2 of each statement)
  std::array<Statement, kSizeMax> statements{};
  std::array<std::int8_t, kProcessesMax> end{};  ///< of each process: one past its last statement
  std::array<std::int8_t, kSizeMax> home{};      ///< of each variable: its host

  [[nodiscard]] const Statement& statement(int i) const { return statements[static_cast<std::size_t>(i)]; }
  [[nodiscard]] int begin_of(int process) const {
    return process == 0 ? 0 : end[static_cast<std::size_t>(process - 1)];
  }
  [[nodiscard]] int end_of(int process) const { return end[static_cast<std::size_t>(process)]; }
  [[nodiscard]] int home_of(int variable) const { return home[static_cast<std::size_t>(variable)]; }
  [[nodiscard]] int actions_of(int process) const;
  /// Actions, and one initial write a variable.
  [[nodiscard]] int size() const;
};

/// The order of canonical forms: by size, then the actions of each process, then statement by statement.
[[nodiscard]] bool before(const Program& a, const Program& b);
[[nodiscard]] bool same(const Program& a, const Program& b);

/// `wa.ra.pab1_rb`: processes are separated by `_`, statements by `.`; a letter for the kind (r w g p a c f), then the
/// variables, then the host of the remote variable or flush.
[[nodiscard]] std::string text(const Program& program);

/// Parses such a text. Throws std::invalid_argument, `expected ..., found ...`, for any other.
[[nodiscard]] Program parse_program(std::string_view text);

/// Whether the program is the representative of its class: numbered by first appearance, and first (`before`) among the
/// programs that exchanging processes gives.
[[nodiscard]] bool is_canonical(const Program& program);

/// The same program with processes in the given order, renumbered: process i of the result is `order[i]` of this one.
[[nodiscard]] Program reordered(const Program& program, const std::array<int, kProcessesMax>& order);

}  // namespace loco::model::corerma
