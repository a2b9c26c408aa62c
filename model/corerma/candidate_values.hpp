// The values of a candidate: what each action reads and writes when reads have the sources that the candidate picks
// (coreRMA paper, Section 3.2 and Fig. 4's clauses on r_val and w_val).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "model/corerma/action_graph.hpp"

namespace loco::model::corerma {

/// A candidate with the pivot's edge that it loses its cycles with.
struct Witness {
  int from = 0, to = 0;                          ///< the edge
  std::array<std::int8_t, kSizeMax> source{};    ///< of each action that reads: the writer, or kNobody (initial value)
  std::array<std::int8_t, kSizeMax> position{};  ///< of each writer: its place among those of its variable
};

/// The constants of a program, all distinct: 0, 1, 2, ..., or 1, 10, 100, ... where accumulates add them up, so that
/// different sums differ.
struct Constants {
  explicit Constants(const Program& program);

  std::array<std::int64_t, kSizeMax> initial{};  ///< of each variable
  std::array<std::int64_t, kSizeMax> written{};  ///< of each statement that is a local write
};

class CandidateValues {
 public:
  CandidateValues(const Program& program, const ActionGraph& graph, const Witness& candidate)
      : program_(program), graph_(graph), candidate_(candidate), constants_(program) {}

  /// The value that an action reads; empty if the value depends on itself.
  [[nodiscard]] std::optional<std::int64_t> read(int action) const { return read(action, 0); }

 private:
  using Value = std::optional<std::int64_t>;
  [[nodiscard]] Value read(int action, int depth) const;
  [[nodiscard]] Value written(int action, int depth) const;

  const Program& program_;
  const ActionGraph& graph_;
  const Witness& candidate_;
  Constants constants_;
};

}  // namespace loco::model::corerma
