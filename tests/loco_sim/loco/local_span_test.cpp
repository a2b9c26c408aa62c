// Words of a node's own memory as an array: by a pointer where the transport has one, by the transport's loads and
// stores where it has none, with the same results.
#include "loco_sim/loco/memory/local_span.hpp"

#include <array>
#include <set>
#include <sstream>
#include <vector>

#include "loco_sim/loco/objects/shared_bytes.hpp"
#include "loco_sim/loco/operations/mem_ref.hpp"
#include "tests/loco_sim/loco/both.hpp"
#include "tests/loco_sim/loco/span_programs.hpp"
#include "trace/file.hpp"

using namespace loco::test;  // NOLINT: a test
using loco::local_span;
using loco::local_words;

namespace {

/// Memory that counts the calls for words of it, and shows them or not.
class CountingMemory final : public loco::LocalMemory {
 public:
  explicit CountingMemory(bool shows) : shows_(shows) {}
  loco::Region allocate(std::uint64_t) override { return {}; }
  std::uint64_t load(loco::Address address) override {
    ++calls;
    return words.at(address / 8);
  }
  void store(loco::Address address, std::uint64_t value) override {
    ++calls;
    words.at(address / 8) = value;
  }
  std::uint64_t compare_swap_local(loco::Address, std::uint64_t, std::uint64_t) override { return 0; }
  void memory_fence() override {}
  std::uint64_t* direct(loco::Address address, std::uint64_t) override {
    return shows_ ? words.data() + address / 8 : nullptr;
  }

  int calls = 0;
  std::vector<std::uint64_t> words = std::vector<std::uint64_t>(10);

 private:
  bool shows_;
};

}  // namespace

TEST_CASE("a local_span reads and writes like an array") {
  const bool shows = GENERATE(false, true);
  CountingMemory memory(shows);
  const local_words words(memory, 16, 4);
  words[0] = 5;
  words[1] = words[0] + 1;
  words[2] = words[1];  // the value, not the place
  words[1] = 9;
  words.store_release(3, 7);
  CHECK(words.load_acquire(3) == 7);
  CHECK(memory.words == std::vector<std::uint64_t>{0, 0, 5, 9, 6, 7, 0, 0, 0, 0});
  CHECK(std::vector<std::uint64_t>(words.begin(), words.end()) == std::vector<std::uint64_t>{5, 9, 6, 7});
  CHECK(words.subspan(1, 2).size() == 2);
  CHECK(words.subspan(1, 2)[1] == 6);
  CHECK(words.subspan(1, 2).address() == 24);
  CHECK(local_words().empty());

  const local_span<double> numbers(memory, 16, 4);
  numbers[0] = 0.5;
  CHECK(memory.words[2] == 0x3fe0000000000000);  // IEEE 754: 2^-1, exponent 1022, no fraction
  const local_span<const double> to_read = numbers;
  CHECK(to_read[0] == 0.5);

  // Each of the 4 + 1 writes of words and of a number above, and of their 3 + 4 + 1 + 1 reads, is one call, or none.
  CHECK(memory.calls == (shows ? 0 : 6 + 9));
}

TEST_CASE("a local_span refuses an element that is not there") {
  CountingMemory memory(true);
  const local_words words(memory, 0, 4);
  CHECK_THROWS_WITH(words.at(4), "element 4 of a local_span of 4");
  CHECK_THROWS_AS(words.at(~std::size_t{0}), std::out_of_range);
  CHECK_THROWS_AS(local_words().at(0), std::out_of_range);
#ifndef NDEBUG
  CHECK_THROWS_WITH(words[4], "element 4 of a local_span of 4");
  CHECK_THROWS_WITH(words.load_acquire(5), "element 5 of a local_span of 4");
  CHECK_THROWS_AS(words.store_release(4, 1), std::out_of_range);
  CHECK_THROWS_AS(words.subspan(2, 3), std::out_of_range);
  CHECK_THROWS_AS(words.subspan(5, 0), std::out_of_range);
#endif
  CHECK(memory.words == std::vector<std::uint64_t>(10));
}

// --- one program everywhere ------------------------------------------------------------------------------------------

TEST_CASE("a local_span is the same memory on every transport") {
  on_threads(3, span_rows);  // and where it is shown: engines_test.cpp
  on_many_schedules(3, span_rows, 20);
}

TEST_CASE("a wrong element ends a program") {
  CHECK_THROWS_WITH(on_threads(1,
                               [](loco::Transport& node) {
                                 loco::manager mgr(node);
                                 loco::mem_ref block(mgr, 24);
                                 block.words().at(3) = 1;
                               }),
                    contains_text("element 3 of a local_span of 3"));
}

// --- x86-TSO ---------------------------------------------------------------------------------------------------------

namespace {

std::set<Seen> outcomes(bool fence) {
  std::set<Seen> all;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto schedule = seed % 2 == 0 ? loco::Schedule::random : loco::Schedule::adversarial;
    const auto program = [&](loco::Transport& node) {
      loco::manager mgr(node);
      all.insert(store_buffering(node, mgr, fence));
    };
    REQUIRE(on_simulator(1, program, schedule, seed).consistent());
  }
  return all;
}

}  // namespace

// Both stores may be in their store buffers while both loads are made; behind a fence the own store is in memory, and
// of two stores in memory one was the first, so that its thread's load may be early, but the other's is not.
TEST_CASE("a local_span is under x86-TSO: store buffering, and none behind a fence") {
  const std::set<Seen> sequential = {{0, 1}, {1, 0}, {1, 1}};
  std::set<Seen> weak = sequential;
  weak.insert({0, 0});
  CHECK(outcomes(false) == weak);
  CHECK(outcomes(true) == sequential);
}

namespace {

/// Message passing from node 0 to node 1 and back, with the transport's calls or through spans.
void pass_messages(loco::Transport& node, bool spans) {
  loco::manager mgr(node);
  loco::shared_bytes line(mgr, "line", 32);
  loco::shared_bytes answer(mgr, "answer", 16);
  loco::mem_ref block(mgr, 16);
  mgr.wait_for_ready();
  const auto load = [&](loco::Address base, const local_words& words, std::size_t i) {
    return spans ? words[i] : node.load(base + 8 * i);
  };
  const auto store = [&](loco::Address base, const local_words& words, std::size_t i, std::uint64_t value) {
    if (spans)
      words[i] = value;
    else
      node.store(base + 8 * i, value);
  };
  for (std::uint64_t round = 1; round <= 5; ++round) {
    if (node.my_node() == 0) {
      for (std::size_t i = 0; i < 4; ++i) store(line.address(), line.words(), i, round);
      store(block.address(), block.words(), 1, load(line.address(), line.words(), 3));
      loco::ack_key key(mgr);
      line.push(1, key);
      key.wait();
      while (load(answer.address(), answer.words(), 1) < round) node.pause();
    } else {
      while (load(line.address(), line.words(), 3) < round) node.pause();
      store(answer.address(), answer.words(), 1, round);
      loco::ack_key key(mgr);
      answer.push(0, key);
      key.wait();
    }
  }
}

std::string trace_of(bool spans, loco::Schedule schedule, std::uint64_t seed) {
  loco::ClusterConfig config;
  config.nodes = 2;
  config.schedule = schedule;
  config.seed = seed;
  config.record = true;
  loco::SimulatedCluster cluster(config);
  cluster.spawn_everywhere([spans](loco::Transport& node) { pass_messages(node, spans); });
  cluster.run();
  std::ostringstream text;
  loco::trace::write_trace_text(text, cluster.take_trace());
  return text.str();
}

}  // namespace

TEST_CASE("an access through a local_span is the transport's, in the trace and in time") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const auto schedule =
        std::array{loco::Schedule::timed, loco::Schedule::random, loco::Schedule::adversarial}.at(seed % 3);
    INFO("seed " << seed);
    const std::string with_spans = trace_of(true, schedule, seed);
    CHECK(with_spans.size() > 1000);
    CHECK(with_spans == trace_of(false, schedule, seed));
  }
}
