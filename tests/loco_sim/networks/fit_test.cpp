// The rules that a fit finds are those that the profile was made to keep.
//
// What a profile keeps is derived from its mechanisms (docs/corerma.md, "What networks keep"), not from runs: a
// reliable connection whose requests are taken in order keeps puts before what follows them (PP, PTG, AO), its payloads
// are read in order and before later requests leave (SF), answers come in order (RL), a flush holds up its thread (FA),
// and a process reaches its own memory through a queue pair like others (SO). READs in order add GG; one request at a
// time adds GTP and GTA, the rest of IR. What is placed as it comes keeps SF and FA only.
#include "loco_sim/networks/fit.hpp"

#include <algorithm>
#include <set>

#include "loco_sim/networks/networks.hpp"
#include "loco_sim/scenario/hardware.hpp"
#include "model/litmus/answers/litmus.hpp"
#include "model/litmus/language/parser.hpp"
#include "tests/catch.hpp"

using namespace loco;
using networks::FitResult;

namespace {

/// The smallest ones of each rule; of AO, the first to show a get ahead of an rga is behind the 25th.
constexpr std::uint64_t kTests = 30;

std::string fitted(const nic::HardwareProfile& profile) {
  const FitResult r = networks::fit(profile, {.tests = kTests});
  CHECK(r.basic);
  CHECK(r.sampled == 0);
  std::string all;
  for (const auto& s : r.strongest) all += (all.empty() ? "" : " | ") + networks::words(s);
  return all;
}

nic::HardwareProfile named(const char* name) { return scenario::load_hardware(name).profile; }

}  // namespace

// Where requests are taken as they come, atomics wait for the messages before them (nic.atomic_placement): a put and a
// later atomic keep their order (PTA), on the process itself, too (SO). Nothing waits for an atomic: not AO.
TEST_CASE("fit recovers what each network was made to keep, and what the campaign takes it to keep") {
  for (const auto& [name, expected] : {std::pair{"verbs", "corerma-verbs plus PTG, PTA, AO, SO, OA, SF, RL, FA"},
                                       {"aries", "corerma-aries plus PTA, SO, OA, SF, FA"},
                                       {"aries-deterministic", "corerma-aries plus PP, PTA, SO, OA, SF, FA"},
                                       {"portals", "corerma plus SO, SF, RL, FA"}}) {
    // All go the same way: one that keeps its order and one that has flaws.
    if (!loco::test::all_cases() && std::string_view(name).starts_with("aries")) continue;
    if (loco::test::kShare > 1 && std::string_view(name) != "verbs") continue;
    INFO(name);
    const networks::Network& network = *std::ranges::find(networks::networks(), name, &networks::Network::name);
    const FitResult r = networks::fit(named(std::string(network.hardware).c_str()), {.tests = kTests});
    REQUIRE(r.strongest.size() == 1);
    CHECK(networks::words(r.strongest.front()) == expected);
    CHECK(r.strongest.front().rules == network.keeps);
    // The two flaws of Portals touch a process's own memory only.
    const bool flawed = network.name == "portals";
    CHECK(r.left_out == (flawed ? "rga or cas on the process's own memory" : ""));
    CHECK(r.exceptions.empty() == !flawed);
  }
}

TEST_CASE("fit takes any profile, on any network") {
  if (loco::test::kShare > 1) return;  // sanitized: the fits of the other cases go through the same code
  nic::HardwareProfile p = named("model-weak");
  p.nic_placement = nic::Placement::unordered;
  CHECK(fitted(networks::on_network(p, fabric::Routing::adaptive)) == "corerma-unordered plus PTA, SO, SF, FA");
  if (!loco::test::all_cases()) return;
  p.nic_atomic_placement = nic::AtomicPlacement::as_they_come;
  CHECK(fitted(networks::on_network(p, fabric::Routing::adaptive)) == "corerma-unordered plus SF, FA");
  p.nic_atomic_placement = nic::AtomicPlacement::behind_earlier;
  // One path: what is placed as it comes is placed in order, as on model-weak.
  CHECK(networks::on_network(p, fabric::Routing::deterministic) == named("model-weak"));
  CHECK(fitted(named("model-weak")) == "corerma-unordered plus PP, PTG, PTA, AO, SO, SF, RL, FA");
  p.nic_placement = nic::Placement::serial;
  CHECK(fitted(p) == "corerma plus SO, SF, RL, FA");
  p.nic_inline_max = {8};
  p.nic_inline_puts = true;
  CHECK(fitted(p).starts_with("corerma plus SR"));
}

TEST_CASE("each rule that is not kept has a test that shows it") {
  const FitResult r = networks::fit(named("verbs-vpi-like"), {.tests = kTests});
  REQUIRE(r.strongest.size() == 1);
  const networks::StrongestSet& s = r.strongest.front();
  std::set<std::string> out;
  for (const networks::RuledOutRule& rule : s.ruled_out) {
    out.insert(std::string(name(rule.rule)));
    CHECK_FALSE(rule.by.cycle.empty());
    const auto program = model::litmus::parse_text(rule.by.document, "test").front();
    model::litmus::Options options;
    const auto shows = [&](networks::RuleSet rules) {
      options.model = rules.text();
      return witness(program, parse_outcome(program, rule.by.outcome), options).has_value();
    };
    CHECK(shows(s.rules));
    CHECK_FALSE(shows(s.rules.with(rule.rule)));
  }
  CHECK(out == std::set<std::string>{"AT", "GTA", "GTP", "SR"});
}

// A fault breaks a rule of the paper: completions that are ahead of the data break F2, as a flushed get may not be
// there.
TEST_CASE("where basic rules are broken, fit says which can be kept without which") {
  nic::HardwareProfile p = named("model-weak");
  p.faults.add(nic::Fault::completion_before_data);
  const FitResult r = networks::fit(p, {.tests = 6});
  CHECK_FALSE(r.basic);
  CHECK(std::ranges::any_of(r.strongest, [](const networks::StrongestSet& s) {
    return !s.rules.has(networks::Rule::f2) &&
           s.rules.includes(model::litmus::kCoreRmaUnordered.without(networks::Rule::f2));
  }));
  for (const networks::StrongestSet& s : r.strongest) CHECK_FALSE(s.rules.includes(model::litmus::kCoreRmaUnordered));
}
