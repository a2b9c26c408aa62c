// Shows: the generator is the published one, streams depend on seed and name alone, bounded draws are uniform.
#include "sim/rng.hpp"

#include <array>
#include <bit>
#include <boost/random/exponential_distribution.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <cmath>
#include <initializer_list>
#include <string>
#include <vector>

#include "tests/catch.hpp"

using loco::sim::Stream;

TEST_CASE("FNV-1a gives the test vectors of its draft") {
  // draft-eastlake-fnv, appendix C: 64-bit FNV-1a test vectors.
  CHECK(loco::sim::fnv1a64("") == 0xcbf29ce484222325U);
  CHECK(loco::sim::fnv1a64("a") == 0xaf63dc4c8601ec8cU);
  CHECK(loco::sim::fnv1a64("foobar") == 0x85944171f73967e8U);
}

TEST_CASE("SplitMix64 gives the published sequence for seed 1234567") {
  // Rosetta Code, "Pseudo-random numbers/Splitmix64", from the author's C code.
  std::uint64_t state = 1234567;
  for (const std::uint64_t expected : {6457827717110365317U, 3203168211198807973U, 9817491932198370423U,
                                       4593380528125082431U, 16408922859458223821U}) {
    CHECK(loco::sim::splitmix64(state) == expected);
  }
}

TEST_CASE("xoshiro256** gives the published sequence for state 1, 2, 3, 4") {
  // The reference vector of the rand_xoshiro crate, made with the authors' C code.
  Stream stream(Stream::State{1, 2, 3, 4});
  for (const std::uint64_t expected : std::initializer_list<std::uint64_t>{
           11520U, 0U, 1509978240U, 1215971899390074240U, 1216172134540287360U, 607988272756665600U,
           16172922978634559625U, 8476171486693032832U, 10595114339597558777U, 2904607092377533576U}) {
    CHECK(stream() == expected);
  }
}

TEST_CASE("A stream depends on the root seed and the name, and on nothing else") {
  Stream stream(7, "nic.3");
  Stream same(7, "nic.3");
  CHECK(stream == same);
  CHECK(stream() == same());
  CHECK_FALSE(Stream(7, "nic.3") == Stream(8, "nic.3"));
  CHECK_FALSE(Stream(7, "nic.3") == Stream(7, "nic.30"));
  CHECK_FALSE(Stream(7, "nic.3") == Stream(7, "nic.4"));
  static_assert(Stream(1, "a").state() == Stream(1, "a").state(), "usable at compile time");
}

TEST_CASE("A copied stream draws the same numbers, deriving does not advance") {
  Stream stream(1, "fabric");
  stream();
  Stream copy = stream;
  const Stream part = stream.derive("port.0");
  CHECK(stream == copy);
  CHECK_FALSE(part == stream.derive("port.1"));
  for (int i = 0; i < 100; ++i) REQUIRE(stream() == copy());
}

TEST_CASE("Streams of neighbouring seeds and names are unrelated") {
  // Bits of two unrelated sequences agree with probability 1/2: n trials, standard deviation sqrt(n) / 2.
  std::vector<Stream> streams;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    for (const auto* name : {"nic.0", "nic.1", "host.0", ""}) streams.emplace_back(seed, name);
  }
  constexpr int kWords = 2000;
  std::vector<std::vector<std::uint64_t>> words(streams.size());
  for (std::size_t s = 0; s < streams.size(); ++s) {
    for (int i = 0; i < kWords; ++i) words[s].push_back(streams[s]());
  }
  const double n = 64.0 * kWords;
  for (std::size_t l = 0; l < streams.size(); ++l) {
    for (std::size_t r = l + 1; r < streams.size(); ++r) {
      double agree = 0;
      for (std::size_t i = 0; i < kWords; ++i) agree += std::popcount(~(words[l][i] ^ words[r][i]));
      INFO("streams " << l << " and " << r);
      CHECK(std::abs(agree - n / 2) < 6 * std::sqrt(n) / 2);
    }
  }
}

TEST_CASE("below(n) stays below n and is uniform") {
  Stream stream(11, "test");
  constexpr std::uint64_t kBound = 7;
  constexpr int kDraws = 70000;
  std::array<int, kBound> count{};
  for (int i = 0; i < kDraws; ++i) {
    const std::uint64_t drawn = stream.below(kBound);
    REQUIRE(drawn < kBound);
    ++count[drawn];
  }
  // Binomial: mean 10,000, standard deviation sqrt(70,000 * 1/7 * 6/7) = 92.6; six of them.
  for (const int c : count) CHECK(std::abs(c - kDraws / 7) < 556);
  CHECK(stream.below(1) == 0);
  // A bound just above 2^63 rejects almost half of the words: the path that removes the bias.
  for (int i = 0; i < 1000; ++i) REQUIRE(stream.below((1ULL << 63U) + 1) <= (1ULL << 63U));
}

TEST_CASE("A stream feeds the distributions of Boost.Random") {
  Stream stream(3, "test");
  boost::random::uniform_int_distribution<int> die(1, 6);
  for (int i = 0; i < 1000; ++i) {
    const int eyes = die(stream);
    REQUIRE((eyes >= 1 && eyes <= 6));
  }
  boost::random::exponential_distribution<double> exponential(1.0);
  double sum = 0;
  for (int i = 0; i < 10000; ++i) sum += exponential(stream);
  // Mean 1, standard deviation of the sum 100; six of them.
  CHECK(std::abs(sum - 10000) < 600);
}
