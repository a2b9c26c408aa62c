// Variables that may all grow by the same number without any difference to what a program does: tickets, of which only
// the differences matter.
//
// Such a group is never compared with anything but itself, and what is written to it is one of it, or one of it plus
// what is of no group. All of it may then be moved by a constant: the same steps are taken, and conditions and
// properties are as true as before (a bisimulation). Found by types: an expression has, for each group, the factor by
// which it moves.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "verify/program.hpp"

namespace loco::verify::liveness {

class Shifts {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffU;

  explicit Shifts(const Program& program);

  [[nodiscard]] std::uint32_t groups() const { return groups_; }
  /// kNone: it is of no group.
  [[nodiscard]] std::uint32_t of_shared(std::uint32_t variable) const { return group_[variable]; }
  [[nodiscard]] std::uint32_t of_local(std::uint32_t local) const { return group_[shared_ + local]; }

 private:
  [[nodiscard]] std::uint32_t root(std::uint32_t variable);
  void unite(std::uint32_t a, std::uint32_t b);
  void fix(std::uint32_t variable);
  [[nodiscard]] bool pass(const Program& program);
  void remote(const RemoteStatement& statement);
  void assign(std::uint32_t target, const Expression& expression);
  void condition(const Expression& expression);
  [[nodiscard]] std::uint32_t variable(const ExpressionNode& node) const;

  std::uint32_t shared_ = 0;
  std::uint32_t groups_ = 0;
  std::vector<std::uint32_t> parent_;
  std::vector<bool> fixed_;  ///< moved by nothing
  std::vector<std::uint32_t> group_;
  bool changed_ = false;
};

}  // namespace loco::verify::liveness
