// Published measurements, compared with the simulator: the rows of hardware/measured/*.yaml, each a test of perf.hpp
// with its expected result.
//
// Reading throws text::InputError, running throws what perf::run throws. The page depends only on the rows.
#pragma once

#include <string>
#include <vector>

#include "loco_sim/perf/perf.hpp"

namespace loco::perf {

/// The quantity of a result that is compared, with its unit.
enum class Metric : std::uint8_t { latency_us, gbps, mib_per_second, mops };

struct Row {
  std::string what;
  std::string hardware;            ///< name of the profile
  std::vector<std::string> files;  ///< the files that it was read from
  Options options;
  Metric metric = Metric::latency_us;
  double published = 0;
  bool quick = false;     ///< part of the subset that the tests run
  bool stand_in = false;  ///< the source does not name the NIC, or names one without a profile; a similar one is used
};

struct Group {
  std::string title;
  std::string source;
  std::string note;       ///< what a reader must know about these rows; may be empty
  bool model = false;     ///< values of a published model instead of a measurement; not in the summary
  bool held_out = false;  ///< found after all values had been set, so nothing was fitted to them; summarised separately
  std::vector<Row> rows;
};

/// The path of the rows that come with the simulator.
[[nodiscard]] std::string measured_path();
[[nodiscard]] std::vector<Group> load_measured(const std::string& path);

/// The simulator's result for a row, in the row's unit.
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
/// The outcomes for NICs that the source names.
[[nodiscard]] std::vector<Outcome> without_stand_ins(const std::vector<Outcome>& outcomes);

/// As in rows: us, gbps, mib_s, mops.
[[nodiscard]] std::string_view unit(Metric metric);
/// A value with its unit, as shown in tables.
[[nodiscard]] std::string figure(double value, Metric metric);
/// The outcomes of measurements that profiles may have been fitted to, or of those held out.
[[nodiscard]] std::vector<Outcome> measured(const std::vector<Group>& groups, const std::vector<Outcome>& outcomes,
                                            bool held_out = false);
/// The Markdown page. `outcomes` must be in the order of the groups' rows.
[[nodiscard]] std::string validation_page(const std::vector<Group>& groups, const std::vector<Outcome>& outcomes);

}  // namespace loco::perf
