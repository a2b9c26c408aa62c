// The quick rows of the published measurements: each within 15 %, the mean absolute error at most 6 %. The full
// table is docs/validation.md.
#include "loco_sim/perf/validation.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tests/catch.hpp"
#include "text/input_error.hpp"

using namespace loco;

TEST_CASE("published measurements: the quick rows lie within 15 %") {
  const std::vector<perf::Group> groups = perf::load_measured(perf::measured_path());
  std::vector<perf::Outcome> outcomes;
  for (const perf::Group& group : groups) {
    for (const perf::Row& row : group.rows) {
      if (!row.quick) continue;
      outcomes.push_back({&row, perf::simulate(row)});
      INFO(group.title << ": " << row.what << ": " << outcomes.back().simulated << ", published " << row.published);
      CHECK(std::abs(outcomes.back().error()) <= 0.15);
    }
  }
  CHECK(outcomes.size() >= 25);
  CHECK(perf::summarise(outcomes).mean_absolute_error <= 0.06);
}

TEST_CASE("published measurements: all rows, on average within 5.5 %", "[.long]") {
  const std::vector<perf::Group> groups = perf::load_measured(perf::measured_path());
  std::vector<perf::Outcome> outcomes;
  for (const perf::Group& group : groups) {
    for (const perf::Row& row : group.rows) outcomes.push_back({&row, perf::simulate(row)});
  }
  const perf::Summary all = perf::summarise(perf::measured(groups, outcomes));
  CHECK(all.rows >= 150);
  CHECK(all.mean_absolute_error <= 0.055);
  CHECK(perf::measured(groups, outcomes, true).size() >= 50);  // whatever their errors are: nothing is fitted to them
}

TEST_CASE("the page about the measurements shows figure, result and error of each row") {
  perf::Row row;
  row.what = "thing";
  row.hardware = "machine";
  row.metric = perf::Metric::mops;
  row.published = 2;
  std::vector<perf::Group> groups = {{.title = "Title", .source = "origin", .note = "remark", .rows = {row}}};
  const std::vector<perf::Outcome> outcomes = {{groups[0].rows.data(), 2.5}};
  const std::string page = perf::validation_page(groups, outcomes);
  CHECK(page.find("| thing | machine | 2 Mop/s | 2.5 Mop/s | +25.0 % |") != std::string::npos);
  CHECK(page.find("0 of 1 measured rows") != std::string::npos);
  CHECK(page.find("remark") != std::string::npos);
  CHECK(page.find("held out") == std::string::npos);
  groups[0].held_out = true;
  const std::string others = perf::validation_page(groups, outcomes);
  CHECK(others.find("0 of 0 measured rows") != std::string::npos);
  CHECK(others.find("Of 1 others") != std::string::npos);
  CHECK(others.find("stands in") == std::string::npos);
  CHECK(others.find("Source: origin (held out)") != std::string::npos);
  groups[0].rows[0].stand_in = true;
  const std::string stand_ins = perf::validation_page(groups, outcomes);
  CHECK(stand_ins.find("Of 1 of them the source does not name the NIC") != std::string::npos);
  CHECK(stand_ins.find("Of the other 0, 0 lie") != std::string::npos);
}

TEST_CASE("rows that do not fit are refused with their place") {
  const auto refused = [](const std::string& rows, const std::string& expected) {
    const std::string path = std::filesystem::temp_directory_path() / "loco_sim_rows_test.yaml";
    std::ofstream(path) << "- {title: t, source: s, hardware: pcie-bench, rows: [" << rows << "]}\n";
    try {
      (void)perf::load_measured(path);
      FAIL("accepted: " << rows);
    } catch (const text::InputError& error) {
      CHECK_THAT(error.what(), loco::test::contains_text(expected));
    }
    std::remove(path.c_str());
  };
  refused("{what: x, test: dma_read_lat}", "one of us, gbps, mib_s, mops");
  refused("{what: x, test: dma_read_lat, us: fast}", "a number above 0");
  refused("{what: x, test: dma_red_lat, us: 1}", "dma_read_lat");
  refused("{what: x, us: 1}", "the key test");
}
