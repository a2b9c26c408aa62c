// Published measurements, and what the simulator makes of them: the rows of hardware/measured/*.yaml, each a test of
// perf.hpp with the figure that it should give.
//
// Reading throws text::InputError, running what perf::run throws. The page is a function of the rows.
#pragma once

#include <string>
#include <vector>

#include "loco_sim/perf/perf.hpp"

namespace loco::perf {

/// What of a result is compared, and in which unit.
enum class Metric : std::uint8_t { latency_us, gbps, mib_per_second, mops };

struct Row {
  std::string what;
  std::string hardware;            ///< name of the profile
  std::vector<std::string> files;  ///< that it was read from
  Options options;
  Metric metric = Metric::latency_us;
  double published = 0;
  bool quick = false;     ///< in the subset that the tests run
  bool stand_in = false;  ///< the source does not name the NIC, or names one without a profile: the nearest stands in
};

struct Group {
  std::string title;
  std::string source;
  std::string note;       ///< what the reader must know about these rows; may be empty
  bool model = false;     ///< figures of a published model, not of a measurement: not part of the summary
  bool held_out = false;  ///< found when all values had been set: nothing was fitted to them; a summary of their own
  std::vector<Row> rows;
};

/// The rows that come with the simulator.
[[nodiscard]] std::string measured_path();
[[nodiscard]] std::vector<Group> load_measured(const std::string& path);

/// The figure that the simulator gives for a row, in the row's unit.
[[nodiscard]] double simulate(const Row& row);

struct Outcome {
  const Row* row = nullptr;
  double simulated = 0;
  [[nodiscard]] double error() const { return simulated / row->published - 1; }
};

struct Summary {
  std::size_t rows = 0;
  std::size_t within_15 = 0;
  double mean_absolute_error = 0;
  double worst = 0;
};
[[nodiscard]] Summary summarise(const std::vector<Outcome>& outcomes);
/// Those on the NIC that the source names.
[[nodiscard]] std::vector<Outcome> without_stand_ins(const std::vector<Outcome>& outcomes);

/// As rows call it: us, gbps, mib_s, mops.
[[nodiscard]] std::string_view unit(Metric metric);
/// A figure with its unit, as tables show it.
[[nodiscard]] std::string figure(double value, Metric metric);
/// Those of measurements that profiles may have been fitted to, or of those held out.
[[nodiscard]] std::vector<Outcome> measured(const std::vector<Group>& groups, const std::vector<Outcome>& outcomes,
                                            bool held_out = false);
/// The Markdown page; `outcomes` in the order of the groups' rows.
[[nodiscard]] std::string validation_page(const std::vector<Group>& groups, const std::vector<Outcome>& outcomes);

}  // namespace loco::perf
