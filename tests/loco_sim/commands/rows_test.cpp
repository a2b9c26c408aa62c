// The tables of commands: what holds of each row, whoever reads it.
#include <array>
#include <limits>
#include <set>
#include <string>

#include "loco_sim/commands/generate.hpp"
#include "loco_sim/commands/litmus.hpp"
#include "loco_sim/commands/networks.hpp"
#include "loco_sim/commands/perf.hpp"
#include "loco_sim/commands/robust.hpp"
#include "loco_sim/commands/verify.hpp"
#include "tests/catch.hpp"

namespace loco {
namespace {

using options::Kind;
using options::Row;

/// Each option of a command line, each keyword of Python's and each member is that of one row.
template <class Command>
void require_apart() {
  std::set<std::string> seen;
  Command command;
  for (const Row& row : commands::rows<Command>()) {
    REQUIRE(!(row.names.empty() && row.keyword.empty()));
    if (!row.keyword.empty()) CHECK(seen.insert("keyword " + std::string(row.keyword)).second);
    std::string names(row.names);
    for (std::size_t comma = 0; !names.empty(); names.erase(0, comma == std::string::npos ? comma : comma + 1)) {
      comma = names.find(',');
      CHECK(seen.insert(names.substr(0, comma)).second);
    }
  }
}

/// A value that is said as it is held is the same value, and what is outside of the range changes nothing.
template <class Command>
void require_values() {
  Command command;
  for (const Row& row : commands::rows<Command>()) {
    INFO(row.keyword << " " << row.names);
    const std::string before = held(row, &command);
    if (!before.empty()) {
      CHECK(assign(row, &command, before));
      CHECK(held(row, &command) == before);
    }
    if (row.kind == Kind::integer || row.kind == Kind::size) {
      constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
      CHECK_FALSE(assign(row, &command, "-1"));
      CHECK_FALSE(assign(row, &command, "x"));
      if (row.least > 0) CHECK_FALSE(assign(row, &command, std::to_string(row.least - 1)));
      if (row.most < kMost) CHECK_FALSE(assign(row, &command, std::to_string(row.most + 1)));
      CHECK_FALSE(assign(row, &command, "18446744073709551616"));  // 2^64
    }
    if (!row.choices.empty()) CHECK_FALSE(assign(row, &command, "none of them"));
    if (row.kind == Kind::flag) {
      CHECK(assign(row, &command, "true"));
      CHECK_FALSE(assign(row, &command, "yes"));
      CHECK(held(row, &command) == "true");
      CHECK(assign(row, &command, "false"));
    }
    if (row.kind == Kind::seconds) CHECK_FALSE(assign(row, &command, "nan"));
    CHECK(held(row, &command) == before);
  }
}

template <class... Commands>
void require_all() {
  (require_apart<Commands>(), ...);
  (require_values<Commands>(), ...);
}

TEST_CASE("rows of a command are apart, and keep to their ranges") {
  require_all<commands::Corerma, commands::Fit, commands::Generate, commands::Litmus, commands::Perf, commands::Robust,
              commands::Verify>();
}

/// 2 MiB of the command line are 2^21 bytes; of Python bytes are said.
TEST_CASE("the command line counts memory in MiB") {
  commands::Verify verify;
  for (const Row& row : commands::rows<commands::Verify>()) {
    if (row.keyword != "max_memory") continue;
    CHECK(held(row, &verify, row.unit) == "2048");
    CHECK(assign(row, &verify, "2", row.unit));
    CHECK(verify.options.max_memory == std::uint64_t{1} << 21U);
    CHECK_FALSE(assign(row, &verify, "0", row.unit));
    CHECK_FALSE(assign(row, &verify, "17592186044416", row.unit));  // 2^64 bytes
    CHECK(assign(row, &verify, "3"));
  }
  CHECK(verify.options.max_memory == 3);
}

TEST_CASE("a number that is not said yet, or is below its range, is held as nothing") {
  commands::Perf perf;
  perf.options.inline_max = 0;
  for (const Row& row : commands::rows<commands::Perf>()) {
    if (row.keyword == "inline_max") CHECK(held(row, &perf) == "0");
    if (row.keyword == "iterations") CHECK(held(row, &perf).empty());
    if (row.keyword == "duration") {
      CHECK(held(row, &perf).empty());
      CHECK(assign(row, &perf, "2"));  // seconds, as perftest has it
      CHECK(perf.options.duration.ps == 2'000'000'000'000);
      CHECK_FALSE(assign(row, &perf, "0"));
    }
  }
}

}  // namespace
}  // namespace loco
