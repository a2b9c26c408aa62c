// Profiles are complete and name their sources; the atomic unit's service time. The published figures themselves are
// rows of the validation (docs/validation.md), a part of which tests/loco_sim/perf runs.
#include <filesystem>
#include <fstream>

#include "nic_model/profile_options.hpp"
#include "rig.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::test;

TEST_CASE("ConnectX-5: fetch-and-adds of one queue pair, 16 outstanding, run at 2.17 M a second") {
  Rig rig(profile_file(GENERATE("cx5-roce-25g", "cx5-roce-100g", "cx5-roce-100g-direct")));
  std::vector<nic::Wqe> wqes;
  for (std::uint64_t i = 0; i < 200; ++i) wqes.push_back(rig.fetch_add(8 * i, 0, 1));
  rig.post_and_run(wqes, true);
  const auto& cqes = rig.recorder.cqes;
  REQUIRE(cqes.size() == 200);
  const double per_us = 150.0 / ((cqes[190].at - cqes[40].at).nanoseconds() / 1000.0);
  CHECK(per_us == Approx(2.17).epsilon(0.02));  // 461 ns each
}

TEST_CASE("every profile sets every field, in range, and names its source") {
  for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator(LOCO_SIM_HARDWARE_DIR)) {
    if (entry.path().extension() != ".yaml") continue;
    const std::string name = entry.path().stem();
    INFO(name);
    const nic::HardwareProfile profile = profile_file(name);  // throws when one is missing
    CHECK(profile.validate() == "");
    std::ifstream file(entry.path());
    bool based = false;
    std::size_t values = 0;
    for (std::string line; std::getline(file, line);) {
      if (line.rfind("base:", 0) == 0) based = true;
      if (line.rfind("  ", 0) != 0) continue;  // values are indented, groups and comments are not
      ++values;
      INFO(line);
      const auto source = line.find("# source: ");
      CHECK(source != std::string::npos);
      CHECK(line.size() > source + 14);
    }
    // without a base: all, but the PCIe rate is set in one of two ways
    if (!based) CHECK(values == nic::profile_options().size() - (profile.pcie_generation != 0 ? 1 : 0));
  }
}
