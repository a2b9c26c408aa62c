// Runs a counterexample of `loco-sim verify` on a simulated NIC, to see whether it can happen there.
//
// The paths of the counterexample (straight_line) run as verbs on the hardware model of timed runs, under every
// schedule or, if there are too many, under random ones. Answers depend only on program, profile and limits, unless the
// time limit ends the work, which they then say.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "loco_sim/scenario/hardware.hpp"
#include "nic_model/profile.hpp"
#include "verify/report.hpp"
#include "verify/schedule.hpp"

namespace loco::replay {

struct ReplayLimits {
  std::uint64_t states = 200'000;   ///< states to explore, after which the program is also sampled
  std::uint64_t runs = 4'000;       ///< runs to sample
  double max_seconds = 60;          ///< for both together; 0: no limit
  std::function<void()> poll = {};  ///< called now and then; an exception from it ends the work
};

enum class Shows : std::uint8_t {
  seen,       ///< a run on the hardware takes the paths and breaks the property
  forbidden,  ///< no run does: all schedules were explored
  not_seen,   ///< no explored or sampled run does
  not_run,    ///< the hardware cannot run the program; `why` has the reason
};
[[nodiscard]] std::string_view name(Shows shows);

struct OnHardware {
  std::string hardware;
  Shows shows = Shows::not_run;
  std::uint64_t states = 0;  ///< explored
  std::uint64_t runs = 0;    ///< sampled; 0: exploring was enough
  std::string why;           ///< if not_run
};

/// `semantics` and `schedule` belong to a counterexample.
[[nodiscard]] OnHardware replay_on(const verify::Semantics& semantics, const verify::Schedule& schedule,
                                   const std::string& hardware, const nic::HardwareProfile& profile,
                                   const ReplayLimits& limits = {});

/// The same for the counterexample of a report, if there is one, on several profiles.
[[nodiscard]] std::vector<OnHardware> replay_on(const verify::Report& report,
                                                const std::vector<scenario::Hardware>& hardware,
                                                const ReplayLimits& limits);

/// `on efa-srd-like: seen ...`, without a newline.
[[nodiscard]] std::string to_text(const OnHardware& found);
/// As an element of `replay_on` in the output of `--json` (docs/verify.schema.json).
[[nodiscard]] nlohmann::ordered_json to_json(const OnHardware& found);

/// Adds the results to a report as text or JSON.
void add(const std::vector<OnHardware>& found, std::string& text);
void add(const std::vector<OnHardware>& found, nlohmann::ordered_json& report);

}  // namespace loco::replay
