// The results for one program, as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "verify/engine.hpp"
#include "verify/flush_search.hpp"
#include "verify/liveness/check.hpp"
#include "verify/semantics.hpp"

namespace loco::verify {

struct Report {
  Program program;
  bool flush_after_every_remote = false;  ///< `--where`: the flushes are not the file's
  FlushMask flushes;                      ///< that counted for `answer`
  Network network = Network::kUnordered;
  Answer answer;
  std::vector<liveness::LiveAnswer> liveness;  ///< of all its liveness properties
  std::optional<FlushSearch> search;
  double seconds = 0;
};

/// Several lines: the verdict, the placements of flushes, the schedule step by step.
[[nodiscard]] std::string to_text(const Report& report);

/// An element of the array that `--json` prints (docs/verify.schema.json).
/// `times`: with how long it took, which is no function of the program.
[[nodiscard]] nlohmann::ordered_json to_json(const Report& report, bool times = false);

[[nodiscard]] std::string_view name(Verdict verdict);

/// Whether all properties, of safety and of liveness, are proved.
[[nodiscard]] bool holds(const Report& report);

/// The steps of a schedule, a line each, numbered from 1; and as elements of `"trace"`.
[[nodiscard]] std::vector<std::string> schedule_lines(const Semantics& semantics, const Schedule& schedule);
[[nodiscard]] nlohmann::ordered_json schedule_json(const Semantics& semantics, const Schedule& schedule);

/// `flush(1) in line 5`, or `after put(Y, 1, X) in line 4`.
[[nodiscard]] std::string flush_text(const Report& report, std::uint32_t flush);

}  // namespace loco::verify
