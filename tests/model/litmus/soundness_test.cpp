// Bounded soundness: the libraries as they are pass, the two historic bugs of Appendix D are found.
#include "model/litmus/soundness.hpp"

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

TEST_CASE("the order of search is by size, and limits are told", "[soundness]") {
  SoundnessOptions options;
  options.library = "sv";
  options.clients_max = 10;
  const SoundnessResult r = check_soundness(options);
  CHECK(r.clients == 10);
  CHECK_FALSE(r.complete);
  options.library = "locks";
  CHECK_THROWS_WITH(check_soundness(options), loco::test::contains_text("found 'locks'"));
}
