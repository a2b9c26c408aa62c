// Bounded soundness: the libraries as they are pass, the two historic bugs of Appendix D are found.
#include "model/litmus/soundness.hpp"

#include <algorithm>

#include "tests/catch.hpp"

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
