// Robustness of RMA programs: examples, and the proof from graphs against the search of runs, which share nothing.
#include "verify/robust.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/verify/programs.hpp"
#include "tests/verify/random_program.hpp"

namespace {

using namespace loco::verify;
using loco::test::parsed;

RmaRobustness on(const std::string& text, Network network) {
  const Program p = parsed(text);
  return robustness(p, all_flushes(p), network);
}

std::string message_passing(const std::string& flush) {
  return "process 1 { shared message = 7, one = 1; put(inbox, 2, message); " + flush +
         " put(full, 2, one); }\n"
         "process 2 { shared inbox = 0, full = 0; local f, m; while (f == 0) load f = full; load m = inbox; }\nassert "
         "final (1 == 1);\n";
}

}  // namespace

TEST_CASE("robust: message passing needs the order of its puts") {
  const RmaRobustness weak = on(message_passing(""), Network::kUnordered);
  REQUIRE(weak.robust == false);
  CHECK(weak.cycle.size() == 4);
  // The run is one that the semantics takes.
  const Program p = parsed(message_passing(""));
  const Semantics semantics(p, all_flushes(p), Network::kUnordered);
  State s = semantics.initial();
  for (const Step& step : weak.schedule) {
    REQUIRE_FALSE(semantics.obstacle(s, step).has_value());
    s = semantics.after(s, step);
  }
  // The loop has no bound: only the proof can say it.
  for (const Network network : {Network::kVerbs, Network::kInOrder}) {
    const RmaRobustness strong = on(message_passing(""), network);
    CHECK(strong.robust == true);
    CHECK(strong.proved);
  }
  CHECK(on(message_passing("flush(2);"), Network::kUnordered).robust == true);
  CHECK(on(message_passing("flush(1);"), Network::kUnordered).robust == false);
}

TEST_CASE("robust: a put whose source is overwritten, the paper's example") {
  CHECK(on(loco::test::kPutThenStore, Network::kUnordered).robust == true);
  std::string without = loco::test::kPutThenStore;
  without.erase(without.find("  flush(1);\n"), 12);
  CHECK(on(without, Network::kUnordered).robust == false);
  CHECK(on(without, Network::kInOrder).robust == false);
  CHECK(on(without, Network::kSc).robust == true);
}

TEST_CASE("robust: what is proved is never refuted by a run, on the programs of scenarios/verify") {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(RMA_PROGRAMS))
    if (entry.path().extension() == ".rma") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  CHECK(files.size() > 30);
  int proved = 0, refuted = 0;
  for (const std::string& file : files) {
    const Program p = parse_file(file);
    for (const Network network : {Network::kUnordered, Network::kVerbs, Network::kInOrder}) {
      INFO(file << " " << name(network));
      const RmaRobustness r = search_runs(p, all_flushes(p), network, {.points = 1'500});
      const bool by_graphs = robust_by_graphs(p, all_flushes(p), network);
      proved += by_graphs ? 1 : 0;
      refuted += r.robust == false ? 1 : 0;
      CHECK_FALSE((by_graphs && r.robust == false));
    }
  }
  CHECK(proved > 0);
  CHECK(refuted > 0);
}

TEST_CASE("robust: the proof against the search on random programs") {
  int proved = 0, refuted = 0;
  for (std::uint32_t seed = 1; seed <= loco::test::some(200) / loco::test::kShare; ++seed) {
    const Program p = parsed(loco::test::random_program(seed));
    for (const Network network : {Network::kUnordered, Network::kVerbs, Network::kInOrder}) {
      INFO("seed " << seed << " " << name(network));
      const RmaRobustness r = search_runs(p, all_flushes(p), network, {.points = 2'000});
      const bool by_graphs = robust_by_graphs(p, all_flushes(p), network);
      proved += by_graphs ? 1 : 0;
      refuted += r.robust == false ? 1 : 0;
      CHECK_FALSE((by_graphs && r.robust == false));
    }
  }
  INFO(proved << " proved, " << refuted << " refuted");
  CHECK((loco::test::kShare > 1 || refuted > 0));
}
