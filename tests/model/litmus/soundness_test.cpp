// Bounded soundness: the libraries as they are pass, the two historic bugs of Appendix D are found.
#include "model/litmus/implementations/soundness.hpp"

#include <algorithm>

#include "model/litmus/answers/litmus.hpp"
#include "model/litmus/language/parser.hpp"
#include "model/litmus/search/search.hpp"
#include "sim/rng.hpp"
#include "tests/catch.hpp"
#include "tests/model/litmus/random_program.hpp"

using namespace loco::model::litmus;

namespace {

SoundnessResult check(const std::string& library, int threads, int calls, const Implementation& how = {}) {
  SoundnessOptions options;
  options.library = library;
  options.threads = threads;
  options.calls = calls;
  options.implementation = how;
  return check_soundness(options);
}

}  // namespace

TEST_CASE("LOCO's libraries show nothing that their specifications forbid", "[soundness]") {
  for (const char* library : {"sv", "bal", "rbl", "msw"}) {
    const SoundnessResult r = check(library, 2, 2);
    INFO(library << "\n" << r.counterexample);
    CHECK(r.sound);
    CHECK(r.complete);
    CHECK(r.clients > 30);
  }
}

TEST_CASE("the barrier without a global fence is unsound (Appendix D, first bug)", "[soundness]") {
  Implementation how;
  how.barrier_without_fence = true;
  const SoundnessResult r = check("bal", 2, 3, how);
  CHECK_FALSE(r.sound);
  // A smallest client: four calls, one of them the other participant's.
  CHECK_THAT(r.counterexample, loco::test::contains_text("barrier(z)\"}"));
  CHECK_THAT(r.counterexample, loco::test::contains_text("; barrier(z); r0 = x"));
  CHECK(r.outcomes == std::vector<std::string>{"r0=0"});
}

TEST_CASE("guards read in the direction of writing are unsound (Appendix D, second bug)", "[soundness]") {
  Implementation how;
  how.mixed_size = MixedSize::guards_forward;
  const SoundnessResult r = check("msw", 2, 1, how);
  CHECK_FALSE(r.sound);
  CHECK_THAT(r.counterexample, loco::test::contains_text("write(m, [1, 1])"));
  CHECK_THAT(r.counterexample, loco::test::contains_text("r0 = tryread(m)"));
  CHECK(r.outcomes == std::vector<std::string>{"r0=[0, 1]", "r0=[1, 0]"});
}

TEST_CASE("a global fence that does not wait is unsound", "[soundness]") {
  Implementation how;
  how.fence_without_wait = true;
  const SoundnessResult r = check("sv", 2, 3, how);
  CHECK_FALSE(r.sound);
  CHECK_THAT(r.counterexample, loco::test::contains_text("gf({"));
}

TEST_CASE("clients that are left out are covered by those that are compared", "[soundness]") {
  // With every client compared, mistakes are found in clients of the same size, and nothing more is found.
  struct Case {
    const char* library;
    int threads, calls;
    bool fence_without_wait;
    MixedSize mixed_size;
    bool sound;
  };
  const Case c = GENERATE(
      Case{"sv", 2, 2, false, MixedSize::hash, true}, Case{"sv", 1, 3, false, MixedSize::hash, true},
      Case{"sv", 2, 3, true, MixedSize::hash, false}, Case{"msw", 1, 3, false, MixedSize::hash, true},
      Case{"msw", 2, 2, false, MixedSize::guards, true}, Case{"msw", 2, 2, false, MixedSize::guards_forward, false});
  SoundnessOptions options;
  options.library = c.library;
  options.threads = c.threads;
  options.calls = c.calls;
  options.implementation.fence_without_wait = c.fence_without_wait;
  options.implementation.mixed_size = c.mixed_size;
  const SoundnessResult few = check_soundness(options);
  options.every_client = true;
  const SoundnessResult all = check_soundness(options);
  INFO(c.library << "\n" << few.counterexample << all.counterexample);
  CHECK(few.sound == c.sound);
  CHECK(all.sound == c.sound);
  CHECK(few.clients < all.clients);
  const auto calls = [](const std::string& client) { return std::count(client.begin(), client.end(), ';'); };
  CHECK(calls(few.counterexample) == calls(all.counterexample));
}

TEST_CASE("the order of search is by size, and limits are told", "[soundness]") {
  SoundnessOptions options;
  options.library = "sv";
  options.clients_max = 10;
  const SoundnessResult r = check_soundness(options);
  CHECK(r.clients == 10);
  CHECK_FALSE(r.complete);
  options.library = "locks";
  CHECK_THROWS_WITH(check_soundness(options), loco::test::contains_text("found \"locks\""));
}

TEST_CASE("rdmawait over rdmatso is sound (Theorems G.3, H.9); waits that poll nothing are not", "[soundness]") {
  const SoundnessResult r = check("rdmawait", 2, 2);
  INFO(r.counterexample);
  CHECK(r.sound);
  CHECK(r.complete);
  CHECK(r.clients > 500);
  // What `--bug wait_without_poll` finds among some ten thousand clients.
  const Program client = parse_text(
                             "model: rdmawait\nlocations: {x: {node: 1}, y: {node: 2}}\nthreads:\n"
                             "- {node: 1, code: 'put(y, x) as d; wait(d); x = 1'}\n- {node: 2, code: 'a = y'}\n",
                             "client")
                             .front();
  const auto shown = [&](bool polls) {
    Options o;
    o.model = "rdmatso";
    return enumerate(waits_by_polls(client, polls), o).outcomes.size();
  };
  CHECK(enumerate(client).outcomes.size() == 1);
  CHECK(shown(true) == 1);
  CHECK(shown(false) == 2);
}

namespace {
SoundnessResult check_promises_of(const std::string& library, int calls, const Implementation& how = {}) {
  SoundnessOptions options;
  options.library = library;
  options.calls = calls;
  options.promises = true;
  options.implementation = how;
  return check_soundness(options);
}
}  // namespace

TEST_CASE("LOCO's libraries keep each promise in every execution of small clients (Definition 3.13)", "[soundness]") {
  for (const auto& [library, calls] : {std::pair{"sv", 1}, {"bal", 1}, {"rbl", 1}, {"msw", 1}}) {
    const SoundnessResult r = check_promises_of(library, calls);
    INFO(library << "\n" << r.counterexample << "\n" << r.promise);
    CHECK(r.sound);
    CHECK(r.complete);
    CHECK(r.executions > 10);
  }
}

TEST_CASE("mixed-size variables with guards keep their promises, too", "[soundness]") {
  const SoundnessResult r = check_promises_of("msw", 1, {.mixed_size = MixedSize::guards});
  INFO(r.counterexample << "\n" << r.promise);
  CHECK(r.sound);
  CHECK(r.executions > 10);
}

TEST_CASE("a broken promise that no client of a call each can see", "[soundness]") {
  Implementation how;
  how.barrier_fences_others = true;
  CHECK(check("bal", 2, 1, how).sound);
  const SoundnessResult r = check_promises_of("bal", 1, how);
  CHECK_FALSE(r.sound);
  CHECK(r.outcomes.empty());
  CHECK_THAT(r.promise, loco::test::contains_text("aGF_1 of `barrier(z)`"));
}

TEST_CASE("consistency is monotonic: with less in hb, what was consistent is (Definition 3.5)", "[soundness]") {
  loco::sim::Stream stream(1, "monotonic");
  std::size_t larger = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const test::RandomShape shape{.model = "loco", .total_max = 6, .atomics = seed % 2 == 0};
    const Program p = parse_text(test::random_document(seed, shape), "random").front();
    std::size_t looked_at = 0;
    (void)search(p, *find_model("loco"), {}, {}, [&](const FoundExecution& found) {
      const Skeleton& x = *found.skeleton;
      Axioms more = *found.axioms;  // the rest of a program orders pairs of these, too
      std::vector<std::pair<int, int>> pairs;
      for (int k = 0; k < 4 && x.n > 1; ++k) {
        const auto from = static_cast<int>(stream.below(static_cast<std::uint64_t>(x.n)));
        const auto to = static_cast<int>(stream.below(static_cast<std::uint64_t>(x.n)));
        if (from != to) pairs.emplace_back(from, to);
      }
      for (const auto& [from, to] : pairs) more.so.add(from, to);
      if (consistent(x, more, found.witness)) {
        ++larger;
        for (std::size_t out = 0; out < pairs.size(); ++out) {
          Axioms fewer = *found.axioms;
          for (std::size_t k = 0; k < pairs.size(); ++k)
            if (k != out) fewer.so.add(pairs[k].first, pairs[k].second);
          CHECK(consistent(x, fewer, found.witness));
        }
      }
      CHECK(consistent(x, *found.axioms, found.witness));
      return ++looked_at < 20;
    });
  }
  CHECK(larger > 40);
}
