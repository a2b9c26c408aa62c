// Which steps of a reduced program depend on each other, told before any search: what lets a search leave out orders
// that show nothing new.
//
// - An operation may leave its channel as late as just before a step that notices: one of its target's readers, writers
//   or takers, one that waits for its channel, or one that issues the same statement. So it is explored only there
//   (what the paper calls remoteOps): `before(process, location, flushes)`.
// - A process may go on alone where nobody else can notice or prevent its step: `alone`. Where loops close it never
// may,
//   so that no other step is put off for ever.
#pragma once

#include <cstdint>
#include <vector>

#include "verify/abstract/reduced.hpp"

namespace loco::verify::abstract {

/// Channels, or operands, by number.
using Members = std::vector<bool>;

class Footprint {
 public:
  /// The reduced program outlives this.
  Footprint(const Reduced& reduced, const FlushMask& flushes);

  /// The channels whose operations matter to what the process does there, with all that matters to these.
  [[nodiscard]] const Members& before(std::uint32_t process, std::uint32_t location) const {
    return before_[process][location];
  }
  /// ... to the `always` properties, and to the `final` ones.
  [[nodiscard]] const Members& before_always() const { return before_always_; }
  [[nodiscard]] const Members& before_final() const { return before_final_; }
  /// Whether the process may go alone there when none of the channels of before() holds anything.
  [[nodiscard]] bool alone(std::uint32_t process, std::uint32_t location) const { return alone_[process][location]; }

  /// The channels that a flush waits for.
  [[nodiscard]] Members waits(std::uint32_t flush) const;

 private:
  struct Accesses {
    std::vector<bool> read;     ///< [variable]
    std::vector<bool> written;  ///< [variable]
    Members channels;           ///< issued to, or waited for
  };
  [[nodiscard]] Accesses accesses(const CpuStep& step) const;
  [[nodiscard]] Members closed(Members channels) const;
  [[nodiscard]] Members touching(const std::vector<bool>& variables) const;
  [[nodiscard]] bool may_go_alone(std::uint32_t process, std::uint32_t location) const;
  [[nodiscard]] std::vector<bool> violation_variables(bool final) const;

  const Reduced* reduced_;
  const FlushMask* flushes_;
  std::vector<std::vector<Members>> before_;
  Members before_always_;
  Members before_final_;
  std::vector<std::vector<bool>> alone_;
};

/// For each process and location the locals whose value may still be used: [process][location][variable].
[[nodiscard]] std::vector<std::vector<std::vector<bool>>> live_locals(const Reduced& reduced);

}  // namespace loco::verify::abstract
