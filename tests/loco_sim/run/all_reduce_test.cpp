// Sums of all-reduces, on every hardware and under every schedule: right where the hardware keeps what it promises, and
// found wrong where it does not. What they take is in tests/loco_sim/workloads/all_reduce_test.cpp.
#include <string>
#include <vector>

#include "loco_sim/run/run.hpp"
#include "loco_sim/scenario/hardware.hpp"
#include "loco_sim/scenario/scenario.hpp"
#include "tests/catch.hpp"
#include "text/input_error.hpp"

using namespace loco;

namespace {

RunResult run_all_reduce(const std::string& text, const std::string& keys) {
  return run(scenario::parse_scenario(text + "workload: {kind: all_reduce, " + keys + "}\n", "all_reduce.yaml"));
}

std::string all_reduce_refusal(const std::string& text, const std::string& keys) {
  try {
    static_cast<void>(run_all_reduce(text, keys));
  } catch (const text::InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("sums are right on every hardware under every schedule, and the models agree") {
  for (const std::string& hardware : scenario::hardware_names())
    for (const std::string schedule : {"timed", "random", "adversarial"})
      for (unsigned seed = 1; seed <= 20 / test::kShare; ++seed) {
        const std::string text = "hardware: " + hardware + "\nschedule: " + schedule +
                                 "\nseed: " + std::to_string(seed) +
                                 "\ntopology: {nodes: " + std::to_string(2 + seed % 4) + "}\ncheck: [rdmawait]\n";
        INFO(text);
        const RunResult result = run_all_reduce(text, "size: " + std::to_string(40 + 8 * seed) + ", iterations: 4");
        REQUIRE(result.broken.empty());
        // Where WRITEs may have their effect again, searches let each of them do so, and a trace has both.
        if (schedule == "timed" || hardware != "rudi-weak") REQUIRE(result.verdict->consistent());
        REQUIRE(result.operations_done == 4);
      }
}

namespace {
/// On an ideal network any packet of a queue pair may be the next one, unless it is placed in order.
void run_in_any_order(unsigned seeds) {
  for (const std::string placement : {"in_order", "out_of_order", "unordered", "reads_overtake", "serial"})
    for (const std::string schedule : {"random", "adversarial"})
      for (unsigned seed = 1; seed <= seeds; ++seed) {
        const std::string text = "hardware: {base: model-weak, nic: {placement: " + placement +
                                 "}}\nschedule: " + schedule + "\nseed: " + std::to_string(seed) +
                                 "\ntopology: {nodes: 3}\n";
        INFO(text);
        REQUIRE(run_all_reduce(text, "size: 4KiB, iterations: 5").broken.empty());
      }
}
}  // namespace

// The deliberate faults that these sums show at all, they show by the fourth seed of either schedule
// (docs/decisions/what-a-test-run-takes.md).
TEST_CASE("sums are right wherever packets may be taken in any order") { run_in_any_order(10); }

TEST_CASE("sums are right wherever packets may be taken in any order, under many schedules", "[.long]") {
  run_in_any_order(50);
}

TEST_CASE("sums are right where packets take several paths, overtake each other and get lost") {
  for (const std::string hardware : {"efa-srd-like", "aries-like", "cx5-roce-25g"})
    for (const std::string routing : {"spray", "adaptive"})
      for (unsigned seed = 1; seed <= 10; ++seed) {
        const std::string text =
            "hardware: {base: " + hardware + ", nic: {ack_timeout: 200us}}\nseed: " + std::to_string(seed) +
            "\ntopology: {kind: leaf_spine, leaves: 2, spines: 4, hosts_per_leaf: 2}\nfabric: {loss: 1000, routing: " +
            routing + "}\n";
        INFO(text);
        const RunResult result = run_all_reduce(text, "size: 64KiB, iterations: 3");
        REQUIRE(result.broken.empty());
        REQUIRE(result.workload_counters.value("payload_bytes") == 3 * 6 * 65536);
      }
}

TEST_CASE("an order that the hardware breaks shows in the sums") {
  const auto wrong = [](const std::string& fault, const std::string& placement, const std::string& schedule) {
    std::uint64_t sums = 0;
    for (unsigned seed = 1; seed <= 10; ++seed) {
      const std::string text = "hardware: {base: model-weak, nic: {word_order: ascending, placement: " + placement +
                               "}}\nfaults: [" + fault + "]\nschedule: " + schedule +
                               "\nseed: " + std::to_string(seed) + "\ntopology: {nodes: 3}\n";
      const RunResult result = run_all_reduce(text, "size: 4KiB, iterations: 10");
      const std::uint64_t found = result.workload_counters.value("wrong_sums");
      CHECK(result.broken == (found == 0 ? std::vector<std::string>{}
                                         : std::vector<std::string>{"wrong_sums: " + std::to_string(found)}));
      sums += found;
    }
    return sums;
  };
  // A word that passes its chunk.
  CHECK(wrong("posted_passes_posted", "in_order", "random") > 0);
  CHECK(wrong("responder_reorders", "in_order", "random") > 0);
  CHECK(wrong("early_write_completion", "unordered", "random") > 0);
  // Sums that are sent before they are stored, and vectors that are written again before they are sent.
  CHECK(wrong("doorbell_before_stores", "in_order", "random") > 0);
  CHECK(wrong("early_write_completion", "in_order", "adversarial") > 0);
  // What an all-reduce does not stand on.
  CHECK(wrong("read_does_not_flush", "in_order", "random") == 0);
}

TEST_CASE("an all-reduce that waits for ever says in which step") {
  // What a doorbell announces is not stored yet: an old number is sent, and stays there.
  try {
    static_cast<void>(
        run_all_reduce("hardware: model-weak\nfaults: [doorbell_before_stores]\nschedule: adversarial\n"
                       "topology: {nodes: 3}\n",
                       "size: 4KiB"));
    FAIL("no deadlock");
  } catch (const RunError& error) {
    CHECK_THAT(error.what(), test::contains_text("waits until step 1 of 4 of all-reduce "));
    CHECK_THAT(error.what(), test::contains_text(" is done, from node 2 and to node 1"));
  }
}

TEST_CASE("a message that fails is counted, and nobody waits for what will not come") {
  const std::string network = "hardware: {base: cx5-roce-25g, nic: {ack_timeout: 100us}}\ntopology: {nodes: 5}\n";
  for (const std::string failure :
       {"{link: [h3, s0], down: 0us}", "{link: [h3, s0], down: 150us}", "{host: h3, stops: 150us}"}) {
    INFO(failure);
    const RunResult result =
        run_all_reduce(network + "fabric: {failures: [" + failure + "]}\n", "size: 64KiB, iterations: 100");
    REQUIRE(result.broken.size() == 1);
    CHECK_THAT(result.broken.front(), test::contains_text("failed_messages: "));
    CHECK(result.operations_done < 100);
    CHECK_THAT(result.broken.front(), test::contains_text(" failed: transport retry counter exceeded)"));
    CHECK(result.workload_counters.value("wrong_sums") == 0);
    CHECK((result.operations_done > 0) == (failure.find("150us") != std::string::npos));
  }
}

TEST_CASE("an all-reduce that cannot be is refused with its place") {
  const std::string star = "topology: {nodes: 16}\n";
  CHECK_THAT(all_reduce_refusal(star, "size: 120B"),
             test::contains_text("all_reduce.yaml:2:36: workload.size: expected at least 128B, a word for each of 16 "
                                 "nodes, found 120"));
  CHECK(all_reduce_refusal(star, "size: 128B").empty());
  CHECK_THAT(all_reduce_refusal(star, "size: 1001B"), test::contains_text("expected a multiple of 8, found 1001"));
  CHECK_THAT(all_reduce_refusal(star, "reduce_rate: 5bps"),
             test::contains_text("workload.reduce_rate: expected 0bps, or 1Mbps and more, found 5"));
  CHECK(all_reduce_refusal(star, "reduce_rate: 1Mbps, size: 128B").empty());
  CHECK_THAT(all_reduce_refusal("topology: {kind: leaf_spine, leaves: 1, hosts_per_leaf: 1}\n", "iterations: 1"),
             test::contains_text("expected 2 to 1024 nodes for the workload all_reduce, found 1"));
}
