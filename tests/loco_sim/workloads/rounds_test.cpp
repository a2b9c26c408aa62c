// Which rounds are left out, from their times alone.
#include "loco_sim/workloads/rounds.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>

#include "tests/catch.hpp"

using loco::FastForward;
using loco::NodeId;
using loco::workloads::Rounds;

namespace {

constexpr std::uint32_t kNodes = 3;

/// Plays rounds 0 to `last` - 1 of all nodes, round by round, each taking `time(node, round)` ps. A node is never more
/// than one round ahead. Gives how long they took with what was left out, of the slowest node.
struct Play {
  std::uint64_t disturbed = 0;
  std::uint32_t simulated = 0;

  std::int64_t run(Rounds& rounds, std::uint32_t last, const std::function<std::int64_t(NodeId, Rounds::Round)>& time) {
    std::int64_t ends[kNodes] = {};
    for (Rounds::Round round = 0; round < last;) {
      ++simulated;
      for (NodeId n = 0; n < kNodes; ++n) {
        rounds.begins(round);
        ends[n] += time(n, round);
        rounds.ended(n, round, ends[n]);
      }
      const auto gap = rounds.gap_behind(round);
      round = gap ? gap->to : round + 1;
    }
    return *std::ranges::max_element(ends) + rounds.left_out_ps(last);
  }
};

Rounds rounds_of(FastForward mode, std::vector<Rounds::Row> rows, const Play& play) {
  return {mode, kNodes, std::move(rows), [&play] { return play.disturbed; }};
}

}  // namespace

TEST_CASE("rounds of the same time are left out, and their time is added", "[rounds]") {
  for (const FastForward mode : {FastForward::off, FastForward::exact, FastForward::approximate}) {
    Play play;
    Rounds rounds = rounds_of(mode, {{.first = 0, .last = 100}, {.first = 100, .last = 200}}, play);
    // The second row is another kind of round, and each begins with some that take longer.
    const auto time = [](NodeId n, Rounds::Round r) -> std::int64_t {
      return (r < 100 ? 1'000 : 1'700) + (r % 100 < 3 ? 10 * n + r : 0);
    };
    std::int64_t whole = 0;
    for (Rounds::Round r = 0; r < 200; ++r) whole += time(2, r);
    CHECK(play.run(rounds, 200, time) == whole);
    CHECK((play.simulated < 40) == (mode != FastForward::off));
  }
}

TEST_CASE("rounds that differ in time, or in which packets are lost, are simulated", "[rounds]") {
  const auto slow = [](NodeId n, Rounds::Round r) -> std::int64_t { return n == 1 && r % 4 == 3 ? 1'001 : 1'000; };
  Play differ;
  Rounds exact = rounds_of(FastForward::exact, {{.first = 0, .last = 64}}, differ);
  CHECK(differ.run(exact, 64, slow) == 64'016);
  CHECK(differ.simulated == 64);

  Play lost;
  Rounds disturbed = rounds_of(FastForward::exact, {{.first = 0, .last = 64}}, lost);
  lost.run(disturbed, 64,
           [&lost](NodeId /*n*/, Rounds::Round /*r*/) -> std::int64_t { return ++lost.disturbed, 1'000; });
  CHECK(lost.simulated == 64);

  // A period of four rounds says when the slow one comes again. Node 1 lags behind by 1 ps more each time, though, and
  // that is not a repetition: nodes 0 and 2 take another time.
  Play period;
  Rounds fours = rounds_of(FastForward::exact, {{.first = 0, .last = 64, .period = 4}}, period);
  CHECK(period.run(fours, 64, slow) == 64'016);
  CHECK(period.simulated == 64);
  Play all;
  Rounds alike = rounds_of(FastForward::exact, {{.first = 0, .last = 64, .period = 4}}, all);
  CHECK(all.run(alike, 64, [](NodeId /*n*/, Rounds::Round r) -> std::int64_t { return r % 4 == 3 ? 1'001 : 1'000; }) ==
        64'016);
  CHECK(all.simulated < 20);

  // Near enough for an approximation: 1,001 and 1,000 are within one in 500, and so is the sum.
  Play near;
  Rounds approximate = rounds_of(FastForward::approximate, {{.first = 0, .last = 64}}, near);
  const std::int64_t found = near.run(approximate, 64, slow);
  CHECK(near.simulated < 20);
  CHECK(std::abs(found - 64'016) * 500 <= 64'016);
}
