// A counterexample of `loco-sim verify` on a simulated NIC: does what it shows happen there?
//
// The paths of the counterexample (straight_line) run as verbs on the hardware model of timed runs, under every
// schedule, or, where these are too many, under random ones. Answers are a function of program, profile and limits,
// unless the time limit ends the work; then they say so.
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
  std::uint64_t states = 200'000;   ///< explored; beyond, the program is sampled as well
  std::uint64_t runs = 4'000;       ///< sampled
  double max_seconds = 60;          ///< for both; 0: no limit
  std::function<void()> poll = {};  ///< called now and then; what it throws ends the work
};

enum class Shows : std::uint8_t {
  seen,       ///< a run of the hardware breaks the property along the paths
  forbidden,  ///< none does: all schedules were explored
  not_seen,   ///< none of those that were explored and sampled does
  not_run,    ///< the hardware cannot run the program (`why`)
};
[[nodiscard]] std::string_view name(Shows shows);

struct OnHardware {
  std::string hardware;
  Shows shows = Shows::not_run;
  std::uint64_t states = 0;  ///< explored
  std::uint64_t runs = 0;    ///< sampled; 0: exploring was enough
  std::string why;           ///< of not_run
};

/// `semantics` and `schedule` are of a counterexample.
[[nodiscard]] OnHardware replay_on(const verify::Semantics& semantics, const verify::Schedule& schedule,
                                   const std::string& hardware, const nic::HardwareProfile& profile,
                                   const ReplayLimits& limits = {});

/// The same for the counterexample of a report, if there is one, on several profiles.
[[nodiscard]] std::vector<OnHardware> replay_on(const verify::Report& report,
                                                const std::vector<scenario::Hardware>& hardware,
                                                const ReplayLimits& limits);

/// `on efa-srd-like: seen ...`, without a newline.
[[nodiscard]] std::string to_text(const OnHardware& found);
/// An element of `replay_on` in what `--json` prints (docs/verify.schema.json).
[[nodiscard]] nlohmann::ordered_json to_json(const OnHardware& found);

/// Adds them to a report's words or JSON.
void add(const std::vector<OnHardware>& found, std::string& text);
void add(const std::vector<OnHardware>& found, nlohmann::ordered_json& report);

}  // namespace loco::replay
