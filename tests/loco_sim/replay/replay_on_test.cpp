// Counterexamples on hardware. What a NIC shows is derived from what orders what (docs/machine.md), beside each
// program.
#include "loco_sim/replay/replay_on.hpp"

#include <fstream>
#include <sstream>
#include <string>

#include "loco_sim/scenario/hardware.hpp"
#include "tests/catch.hpp"
#include "tests/verify/programs.hpp"
#include "tests/verify/random_program.hpp"
#include "verify/explicit_engine.hpp"

namespace {

using namespace loco;
using replay::Shows;
using verify::Network;

nic::HardwareProfile reliable() { return scenario::load_hardware("model-weak").profile; }
nic::HardwareProfile unordered() {
  nic::HardwareProfile profile = reliable();
  profile.nic_placement = nic::Placement::unordered;
  return profile;
}
nic::HardwareProfile inlined() {
  nic::HardwareProfile profile = reliable();
  profile.nic_inline_puts = true;
  profile.nic_inline_max = {8};
  return profile;
}

/// What the profile shows of a shortest counterexample of the program.
replay::OnHardware shown(const std::string& text, const nic::HardwareProfile& profile,
                         const replay::ReplayLimits& limits = {}, Network network = Network::kUnordered) {
  const verify::Program program = loco::test::parsed(text);
  const verify::FlushMask flushes = verify::all_flushes(program);
  const verify::Answer answer = verify::explicit_engine()->check({program, flushes, network, {}});
  return replay::replay_on({program, flushes, network}, answer.counterexample.value().schedule, "it", profile, limits);
}

Shows shows(const std::string& text, const nic::HardwareProfile& profile) { return shown(text, profile).shows; }

std::string scenario_text(const std::string& name) {
  std::ifstream in(std::string(LOCO_SIM_SOURCE_DIR) + "/scenarios/verify/" + name);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("a get behind a put: a READ pushes WRITEs, unless packets are placed as they come") {
  const std::string lock = scenario_text("peterson_no_put_flush.rma");
  CHECK(shows(lock, reliable()) == Shows::forbidden);
  CHECK(shows(lock, unordered()) == Shows::seen);
}

TEST_CASE("two puts: WRITEs of a queue pair are placed in order, or as they come") {
  const std::string message = scenario_text("message_passing.rma");
  CHECK(shows(message, reliable()) == Shows::forbidden);
  CHECK(shows(message, unordered()) == Shows::seen);
}

TEST_CASE("two gets: READs are served in either order, whatever the placement") {
  CHECK(shows(scenario_text("two_gets.rma"), reliable()) == Shows::seen);
}

TEST_CASE("a put reads its source late, unless the CPU sends the data with the request") {
  const std::string change = scenario_text("put_then_store.rma");
  CHECK(shows(change, reliable()) == Shows::seen);
  CHECK(shows(change, inlined()) == Shows::forbidden);
}

TEST_CASE("memory is looked at while operations are pending") {
  // When the process has ended, its put may be pending still, and is done when all is over.
  CHECK(shows("process 1 { shared one = 1; put(B, 2, one); } process 2 { shared B = 0; } assert final (B == 1);",
              reliable()) == Shows::seen);
  // Both puts are done in the end: that C came first shows in between only.
  const std::string order =
      "process 1 { shared one = 1; put(B, 2, one); put(C, 2, one); } process 2 { shared B = 0, C = 0; } "
      "assert always (B == 1 || C == 0);";
  CHECK(shows(order, reliable()) == Shows::forbidden);
  CHECK(shows(order, unordered()) == Shows::seen);
}

TEST_CASE("what a process has stored is in memory when it has ended") {
  // A store in the store buffer is none that the exact semantics misses: what breaks this one is the order of puts.
  const std::string stored =
      "process 1 { shared A = 0, one = 1; put(B, 2, one); put(C, 2, one); store A = 1; } "
      "process 2 { shared B = 0, C = 0; } assert final (A == 1 && (B == 1 || C == 0));";
  CHECK(shows(stored, reliable()) == Shows::forbidden);
  CHECK(shows(stored, unordered()) == Shows::seen);
}

TEST_CASE("an assertion in a process") {
  const std::string seen =
      "process 1 { shared F = 7; local f; F = get(X, 2); load f = F; assert (f == 0); } process 2 { shared X = 0; }";
  CHECK(shows(seen + " assert always (1);", reliable()) == Shows::seen);  // the get takes its time: f is 7
  const std::string order =
      "process 1 { shared one = 1; put(B, 2, one); put(C, 2, one); } "
      "process 2 { shared B = 0, C = 0; local b, c; load c = C; load b = B; assert (b >= c); } assert always (1);";
  CHECK(shows(order, reliable()) == Shows::forbidden);
  CHECK(shows(order, unordered()) == Shows::seen);
}

TEST_CASE("hardware that cannot run a program says so") {
  nic::HardwareProfile profile = reliable();
  profile.nic_atomic_cap = nic::AtomicCap::none;
  const std::string add =
      "process 1 { shared R = 0, one = 1; local r; R = rga(Z, 2, one); load r = R; } process 2 { shared Z = 5; } "
      "assert final (r == 5);";
  CHECK(shows(add, reliable()) == Shows::seen);
  const replay::OnHardware found = shown(add, profile);
  CHECK(found.shows == Shows::not_run);
  CHECK(found.why.find("expected hardware with remote atomics") != std::string::npos);
  const std::string huge = "process 1 { shared X = 4611686018427387904; } assert always (X == 0);";  // 2^62
  CHECK(shown(huge, reliable()).why == "it has numbers of more than 61 bits");
}

TEST_CASE("what is too large to explore is sampled, and the answer says so") {
  const std::string message = scenario_text("message_passing.rma");
  const replay::OnHardware found = shown(message, unordered(), {.states = 1, .poll = {}});
  CHECK(found.shows == Shows::seen);
  CHECK(found.runs > 0);
  const replay::OnHardware never = shown(message, reliable(), {.states = 1, .runs = 50, .poll = {}});
  CHECK(never.shows == Shows::not_seen);
  CHECK(never.runs == 50);
  CHECK(replay::to_text(never).find("proves nothing") != std::string::npos);
  const std::string passing =
      "process 1 { shared one = 1; put(B, 2, one); } process 2 { shared B = 0; } assert final (B == 1);";
  CHECK(shown(passing, reliable(), {.states = 1, .poll = {}}).shows == Shows::seen);
}

TEST_CASE("random programs: what breaks without a network shows everywhere, and weaker placement shows more") {
  // A NIC may be done with each operation before anything else happens: then it is as if there were no network.
  int without_network = 0;
  int seen = 0;
  for (std::uint32_t seed = 0; seed < 60 / loco::test::kShare; ++seed) {
    const std::string text = loco::test::random_program(seed);
    INFO("seed " << seed << "\n" << text);
    const verify::Program program = loco::test::parsed(text);
    for (const Network network : {Network::kUnordered, Network::kSc}) {
      const verify::FlushMask flushes = verify::all_flushes(program);
      const verify::Answer answer = verify::explicit_engine()->check({program, flushes, network, {}});
      if (!answer.counterexample) continue;
      const verify::Semantics semantics(program, flushes, network);
      const auto on = [&](const nic::HardwareProfile& profile) {
        const replay::ReplayLimits limits{.states = 10'000, .runs = 300, .poll = {}};
        return replay::replay_on(semantics, answer.counterexample->schedule, "it", profile, limits).shows;
      };
      const Shows strong = on(reliable());
      const Shows weak = on(unordered());
      CHECK(strong != Shows::not_run);
      if (strong == Shows::seen) CHECK(weak != Shows::forbidden);
      if (network == Network::kSc) CHECK(strong != Shows::forbidden);
      seen += strong == Shows::seen ? 1 : 0;
      without_network += network == Network::kSc ? 1 : 0;
    }
  }
  const int enough = loco::test::kShare == 1 ? 4 : 1;  // a share of the seeds finds a share of them
  CHECK(without_network >= enough);
  CHECK(seen >= enough);
}
