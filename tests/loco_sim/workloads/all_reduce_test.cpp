// All-reduces on a ring: what they take, and what they move. Their sums: tests/loco_sim/run/all_reduce_test.cpp.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "loco_sim/workloads/workload.hpp"
#include "tests/catch.hpp"
#include "tests/loco_sim/transport/stages.hpp"

using loco::ClusterConfig;
using loco::SimulatedCluster;
using loco::sim::Bytes;
using loco::sim::Duration;
using loco::test::Stages;
namespace nic = loco::nic;
namespace workloads = loco::workloads;

namespace {

using Settings = std::vector<std::pair<std::string, std::int64_t>>;

workloads::Results run(const Settings& settings, ClusterConfig config, nic::Counters* counters = nullptr) {
  const workloads::Workload& workload = *workloads::find("all_reduce");
  workloads::Params params(workload.params);
  for (const auto& [key, value] : settings) params.set(key, value);
  SimulatedCluster cluster(std::move(config));
  workloads::Results results = workloads::run(workload, params, cluster);
  if (counters != nullptr) *counters = cluster.system().counters();
  return results;
}

ClusterConfig on(const nic::HardwareProfile& profile, std::uint32_t nodes) {
  ClusterConfig config;
  config.profile = profile;
  config.nodes = nodes;
  return config;
}

Duration median(const workloads::Results& results) {
  std::vector<std::int64_t> samples = results.find("all_reduce")->samples_ps;
  std::ranges::sort(samples);
  return {samples[samples.size() / 2]};
}

/// A step of an all-reduce on a star, when all nodes are in step: from when a node has seen its predecessor's word to
/// when its successor has seen its own. What follows what is in docs/hardware.md.
struct Step {
  Stages stages{loco::test::round_profile()};

  [[nodiscard]] const nic::HardwareProfile& p() const { return stages.p; }
  [[nodiscard]] Bytes first(Bytes chunk) const { return {std::min(chunk.count, p().link_mtu.count)}; }
  [[nodiscard]] std::int64_t packets(Bytes chunk) const {
    return static_cast<std::int64_t>((chunk.count + p().link_mtu.count - 1) / p().link_mtu.count);
  }
  /// Bytes in TLPs of so many, each with a header.
  [[nodiscard]] Duration tlps(Bytes bytes, Bytes each, Bytes header) const {
    const auto count = (bytes.count + each.count - 1) / each.count;
    return stages.pcie({bytes.count + count * header.count});
  }
  /// Store the step's number, build the two work requests.
  [[nodiscard]] Duration post() const { return p().cpu_store + p().cpu_post_wqe * 2; }
  /// The NIC reads both work requests; then it has the first packet's payload before it sends.
  [[nodiscard]] Duration launch() const {
    return stages.doorbell() + stages.read_request() + stages.read_data({2 * p().nic_wqe_bytes.count}) +
           p().nic_wqe_start;
  }
  [[nodiscard]] Duration payload(Bytes chunk) const {
    return stages.read_request() + tlps(first(chunk), p().pcie_read_completion, p().pcie_completion_header) +
           p().pcie_downstream;
  }
  /// The first packet's way; behind it one packet after the other.
  [[nodiscard]] Duration wire(Bytes chunk) const {
    const Bytes rest{chunk.count - first(chunk).count +
                     static_cast<std::uint64_t>(packets(chunk) - 1) * p().link_overhead.count};
    return stages.packet(Stages::kReth, first(chunk)) + stages.link(rest);
  }
  /// The last packet goes to memory while the word's packet comes; the word is behind it on PCIe.
  [[nodiscard]] Duration place(Bytes chunk) const {
    const Duration data = tlps(first(chunk), p().pcie_mps, p().pcie_write_header);
    return std::max(data, word()) + stages.write(Stages::kWord);
  }
  [[nodiscard]] Duration word() const { return stages.link(p().link_overhead + Stages::kReth + Stages::kWord); }
  /// In the middle of a turn of the loop: a look at the word, and a poll.
  [[nodiscard]] Duration see() const { return Duration{(p().cpu_poll_empty + p().cpu_load).ps / 2} + p().cpu_load; }

  [[nodiscard]] Duration take(Bytes chunk) const {
    return post() + launch() + payload(chunk) + wire(chunk) + place(chunk) + see();
  }
  /// Two loads and a store in half of the steps.
  [[nodiscard]] Duration add() const { return p().cpu_load * 2 + p().cpu_store; }
  /// After the last step, until a node knows that its own word is there: the ACK goes back when the word's packet has
  /// come, while the word goes to memory.
  [[nodiscard]] Duration complete(Bytes chunk) const {
    return word() + stages.packet(Stages::kAeth, {}) + p().nic_cqe + stages.write(p().nic_cqe_bytes) - place(chunk) +
           p().cpu_poll_cqe;
  }
  [[nodiscard]] Duration all_reduce(Bytes chunk, std::int64_t nodes) const {
    return (take(chunk) * 2 + add()) * (nodes - 1) + complete(chunk);
  }
};

}  // namespace

namespace {

/// The largest vector that is no long test's; half of it where not all cases run.
std::uint64_t vector_of_a_day() { return (loco::test::all_cases() ? 4U : 2U) << 20U; }

void check_steps(std::uint32_t nodes, std::uint64_t chunk) {
  const Step step;
  INFO(nodes << " nodes, chunks of " << chunk << " B");
  const auto size = static_cast<std::int64_t>(chunk * nodes);
  const auto took = static_cast<double>(median(run({{"size", size}, {"iterations", 3}}, on(step.p(), nodes))).ps);
  CHECK(took == Approx(static_cast<double>(step.all_reduce({chunk}, nodes).ps)).epsilon(0.005));
  // No link can carry 2 (n - 1) / n of the vector faster.
  CHECK(took > static_cast<double>(step.stages.link({chunk}).ps) * 2 * (nodes - 1));
}

void check_steps(bool of_a_day) {
  for (const std::uint32_t nodes : {2U, 3U, 8U, 16U})
    for (const std::uint64_t chunk : {8U, 1024U, 64U << 10U, 1U << 20U})
      if ((chunk * nodes <= vector_of_a_day()) == of_a_day) check_steps(nodes, chunk);
}

}  // namespace

TEST_CASE("an all-reduce takes 2 (n - 1) steps, each the time of a put of a chunk with a word behind it", "[figures]") {
  check_steps(true);
}

TEST_CASE("an all-reduce of large vectors takes 2 (n - 1) steps as well", "[figures][.long]") { check_steps(false); }

TEST_CASE("adding takes the time that the rate says, in half of the steps") {
  constexpr std::int64_t kNodes = 4;
  constexpr std::int64_t kChunk = 64 << 10;
  constexpr std::int64_t kRate = 80'000'000'000;  // 100 ps a byte
  const nic::HardwareProfile profile = loco::test::round_profile();
  const Duration without = median(run({{"size", kNodes * kChunk}}, on(profile, kNodes)));
  const Duration with = median(run({{"size", kNodes * kChunk}, {"reduce_rate", kRate}}, on(profile, kNodes)));
  CHECK(static_cast<double>((with - without).ps) == Approx((kNodes - 1) * kChunk * 100.0).epsilon(0.001));
}

TEST_CASE("each all-reduce moves the vector 2 (n - 1) times, in two puts of each node a step, also in unequal chunks") {
  constexpr std::uint64_t kIterations = 3;
  for (const std::uint64_t nodes : {2U, 3U, 5U, 7U, 16U})
    for (const std::uint64_t size : {nodes * 8, nodes * 8 + 8, nodes * 16 - 8, std::uint64_t{100'000}}) {
      INFO(nodes << " nodes, " << size << " B");
      nic::Counters counters;
      const workloads::Results results =
          run({{"size", static_cast<std::int64_t>(size)}, {"iterations", kIterations}},
              on(loco::test::round_profile(), static_cast<std::uint32_t>(nodes)), &counters);
      const std::uint64_t steps = 2 * (nodes - 1) * kIterations;
      CHECK(results.counters.value("payload_bytes") == steps * size);
      CHECK(counters.work_requests == steps * nodes * 2);
      CHECK(counters.completions == steps * nodes);  // one for both
      CHECK(results.operations_done() == kIterations);
      CHECK(results.find("all_reduce")->samples_ps.size() == kIterations * nodes);
      CHECK(results.promises == std::vector<std::string>{"failed_messages", "wrong_sums"});
      CHECK(results.broken().empty());
    }
}
