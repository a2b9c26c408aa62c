// Collectives: schedules do what they are for, whatever network carries them, and take what their steps take.
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "loco_sim/workloads/collectives/schedule.hpp"
#include "loco_sim/workloads/workload.hpp"
#include "tests/catch.hpp"
#include "tests/loco_sim/transport/stages.hpp"

using loco::ClusterConfig;
using loco::SimulatedCluster;
namespace nic = loco::nic;
namespace workloads = loco::workloads;
using workloads::collectives::Algorithm;
using workloads::collectives::Collective;
using workloads::collectives::Expected;
using workloads::collectives::expected;
using workloads::collectives::fits;
using workloads::collectives::make_schedule;
using workloads::collectives::Move;
using workloads::collectives::Schedule;

namespace {

constexpr std::array kCollectives = {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
                                     Collective::all_to_all, Collective::broadcast,  Collective::reduce};
constexpr std::array kAlgorithms = {Algorithm::ring,
                                    Algorithm::halving_doubling,
                                    Algorithm::recursive_doubling,
                                    Algorithm::recursive_halving,
                                    Algorithm::double_tree,
                                    Algorithm::pairwise,
                                    Algorithm::staged,
                                    Algorithm::bruck,
                                    Algorithm::direct,
                                    Algorithm::binomial,
                                    Algorithm::chain,
                                    Algorithm::scatter_all_gather};

/// What a slot holds: how often each rank's contribution to each part is in it.
using Content = std::map<std::pair<std::uint32_t, std::uint32_t>, int>;

/// Plays it step by step: all of a step leave before any of it arrive.
std::vector<std::vector<Content>> played(Collective what, const Schedule& s) {
  std::vector<std::vector<Content>> slots(s.ranks, std::vector<Content>(s.slots));
  for (std::uint32_t r = 0; r < s.ranks; ++r)
    for (std::uint32_t k = 0; k < s.slots; ++k)
      if (const Expected e = expected(what, s, r, k); e.begins) slots[r][k][{r, e.part_then}] = 1;
  for (std::size_t i = 0; i < s.moves.size();) {
    std::size_t end = i;
    std::vector<std::vector<Content>> sent;
    for (; end < s.moves.size() && s.moves[end].step == s.moves[i].step; ++end) {
      std::vector<Content>& pieces = sent.emplace_back();
      for (const auto& piece : s.moves[end].pieces) pieces.push_back(slots[s.moves[end].from][piece.from]);
    }
    for (std::size_t m = i; m < end; ++m)
      for (std::size_t p = 0; p < s.moves[m].pieces.size(); ++p) {
        Content& slot = slots[s.moves[m].to][s.moves[m].pieces[p].to];
        if (!s.moves[m].add) slot.clear();
        for (const auto& [whose, times] : sent[m - i][p]) slot[whose] += times;
      }
    i = end;
  }
  return slots;
}

void check_law(Collective what, const Schedule& s) {
  const auto slots = played(what, s);
  for (std::uint32_t r = 0; r < s.ranks; ++r)
    for (std::uint32_t k = 0; k < s.slots; ++k) {
      const Expected e = expected(what, s, r, k);
      if (!e.ends) continue;
      Content right;
      if (e.sum) {
        for (std::uint32_t other = 0; other < s.ranks; ++other) right[{other, e.part}] = 1;
      } else {
        right[{e.of, e.part}] = 1;
      }
      if (slots[r][k] == right) continue;
      FAIL("rank " << r << ", slot " << k << " of " << s.ranks << " ranks");
    }
}

std::uint32_t steps(const Schedule& s) { return s.moves.back().step + 1; }

/// Slots that a rank sends.
std::uint64_t sent_by(const Schedule& s, std::uint32_t rank) {
  std::uint64_t sum = 0;
  for (const Move& move : s.moves)
    if (move.from == rank) sum += move.pieces.size();
  return sum;
}

workloads::Results run(const std::string& kind, const std::map<std::string, std::int64_t>& settings,
                       ClusterConfig config) {
  const workloads::Workload& workload = *workloads::find(kind);
  workloads::Params params(workload.params);
  for (const auto& [key, value] : settings) params.set(key, value);
  if (workload.misfit != nullptr) REQUIRE_FALSE(workload.misfit(params, config.nodes).has_value());
  config.send_queue_entries = std::max(config.send_queue_entries, workloads::send_queue_entries(workload, params));
  SimulatedCluster cluster(config);
  return workloads::run(workload, params, cluster);
}

ClusterConfig nodes(std::uint32_t n) {
  ClusterConfig config;
  config.profile = loco::test::round_profile();
  config.nodes = n;
  return config;
}

}  // namespace

TEST_CASE("schedules: each contribution is where it belongs, once") {
  for (const std::uint32_t ranks : {2U, 3U, 4U, 5U, 7U, 8U, 12U, 16U, 17U})
    for (const Collective what : kCollectives)
      for (const Algorithm how : kAlgorithms)
        if (fits(what, how, ranks)) check_law(what, make_schedule(what, how, ranks, 6));
}

TEST_CASE("hierarchical: each contribution once, in the steps of two rings, a member of each group at once") {
  for (const auto& [ranks, group] : {std::pair{4U, 2U}, {6U, 2U}, {6U, 3U}, {12U, 4U}, {16U, 4U}, {21U, 7U}}) {
    REQUIRE(fits(Collective::all_reduce, Algorithm::hierarchical, ranks, group));
    const Schedule s = make_schedule(Collective::all_reduce, Algorithm::hierarchical, ranks, 0, group);
    check_law(Collective::all_reduce, s);
    const std::uint32_t groups = ranks / group;
    CHECK(steps(s) == 2 * (group - 1) + 2 * (groups - 1));
    // 2 S (g - 1) / g within the group, 2 S (m - 1) / (g m) between groups, in slots of S / (g m)
    for (std::uint32_t r = 0; r < ranks; ++r) CHECK(sent_by(s, r) == 2 * (group - 1) * groups + 2 * (groups - 1));
  }
  for (const auto& [ranks, group] : {std::pair{8U, 0U}, {8U, 1U}, {8U, 3U}, {8U, 8U}})
    CHECK_FALSE(fits(Collective::all_reduce, Algorithm::hierarchical, ranks, group));
}

TEST_CASE("schedules have the steps of their papers") {
  using enum Algorithm;
  const auto count = [](Collective what, Algorithm how, std::uint32_t n) {
    return steps(make_schedule(what, how, n, 8));
  };
  CHECK(count(Collective::all_reduce, ring, 16) == 2 * 15);
  // fold in, 2 log2 n, fold out: the first and the last of these are empty for a power of two
  const Schedule halving = make_schedule(Collective::all_reduce, halving_doubling, 16, 0);
  std::set<std::uint32_t> used;
  for (const Move& move : halving.moves) used.insert(move.step);
  CHECK(used.size() == 2 * 4);
  CHECK(sent_by(halving, 3) == 2 * 15);  // of 16 parts: 2 S (n - 1) / n
  CHECK(count(Collective::all_reduce, recursive_doubling, 16) == 4);
  CHECK(count(Collective::all_gather, ring, 7) == 6);
  CHECK(count(Collective::all_gather, recursive_doubling, 8) == 3);
  CHECK(count(Collective::reduce_scatter, recursive_halving, 8) == 3);
  CHECK(count(Collective::all_to_all, bruck, 9) == 4);
  CHECK(count(Collective::all_to_all, pairwise, 9) == 8);
  CHECK(count(Collective::all_to_all, direct, 9) == 1);
  CHECK(count(Collective::broadcast, binomial, 9) == 4);
  CHECK(count(Collective::broadcast, chain, 9) == 9 - 2 + 8);
}

TEST_CASE("two trees: nobody sends more than twice the vector, all but one are inside of one tree only") {
  for (const std::uint32_t n : {4U, 7U, 16U, 31U}) {
    const Schedule s = make_schedule(Collective::all_reduce, Algorithm::double_tree, n, 8);
    for (std::uint32_t r = 0; r < n; ++r) CHECK(sent_by(s, r) <= 2 * s.slots);
  }
}

TEST_CASE("collectives on a simulated network: every sum and every part is right") {
  struct Case {
    std::string kind;
    int algorithms;
    int first;
  };
  const auto settings = [](int algorithm, std::int64_t channels) {
    return std::map<std::string, std::int64_t>{
        {"size", 8192}, {"algorithm", algorithm}, {"channels", channels}, {"iterations", 3}, {"warmup", 1}};
  };
  for (const Case& c : {Case{"all_reduce", 5, 1}, Case{"all_gather", 2, 0}, Case{"reduce_scatter", 2, 0},
                        Case{"all_to_all", 4, 0}, Case{"broadcast", 4, 1}, Case{"reduce", 2, 0}})
    for (int algorithm = c.first; algorithm < c.algorithms; ++algorithm)
      for (const std::int64_t channels : {1, 2}) {
        std::map<std::string, std::int64_t> params = settings(algorithm, channels);
        if (c.kind == "all_reduce") params["group"] = 2;  // of hierarchical
        const auto results = run(c.kind, params, nodes(4));
        INFO(c.kind << " " << algorithm);
        CHECK(results.broken().empty());
        REQUIRE(results.find(c.kind) != nullptr);
        CHECK(results.find(c.kind)->samples_ps.size() == 3);
      }
}

TEST_CASE("collectives where packets are placed as they come, and in random order") {
  for (const auto schedule : {loco::Schedule::random, loco::Schedule::adversarial})
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      ClusterConfig config = nodes(4);
      config.profile.nic_placement = nic::Placement::out_of_order;
      config.schedule = schedule;
      config.seed = seed;
      for (const auto* kind : {"all_reduce", "all_to_all", "reduce"})
        CHECK(run(kind, {{"size", 512}, {"algorithm", 1}, {"iterations", 2}}, config).broken().empty());
    }
}

TEST_CASE("halving and doubling takes the time of its steps") {
  // t(m): half of an all-reduce of two over 2 m, which is one exchange of m each way, twice
  const auto t = [](std::int64_t bytes) {
    return run("all_reduce", {{"size", 2 * bytes}, {"algorithm", 1}, {"iterations", 1}, {"warmup", 1}}, nodes(2))
               .find("all_reduce")
               ->samples_ps.front() /
           2;
  };
  constexpr std::int64_t kSize = 1 << 20;
  const auto results =
      run("all_reduce", {{"size", kSize}, {"algorithm", 1}, {"iterations", 1}, {"warmup", 1}}, nodes(8));
  const std::int64_t sum = 2 * (t(kSize / 2) + t(kSize / 4) + t(kSize / 8));
  CHECK(static_cast<double>(results.find("all_reduce")->samples_ps.front()) ==
        Approx(static_cast<double>(sum)).epsilon(0.03));
}

TEST_CASE("a ring over r rails takes 2 (n-1) (alpha + wire(S / (n r)) / B)") {
  namespace topology = loco::fabric::topology;
  constexpr std::int64_t kSize = 1 << 20;
  constexpr std::uint32_t kHosts = 4;
  const auto time = [](std::uint32_t rails, std::int64_t size) {
    ClusterConfig config = nodes(kHosts);
    config.profile.pcie_rate = {};  // the links carry less
    config.profile.link_mtu = loco::sim::Bytes{4096};
    config.topology = loco::fabric::Topology::shaped;
    config.network.shape = topology::Rails{.hosts = kHosts, .rails = rails, .spines = 1};
    config.hosts.of.assign(kHosts, {.nics = rails});
    return static_cast<double>(
        run("all_reduce", {{"size", size}, {"algorithm", 1}, {"channels", rails}, {"iterations", 1}, {"warmup", 1}},
            config)
            .find("all_reduce")
            ->samples_ps.front());
  };
  const auto wire_ps = [](double bytes) { return (bytes + std::ceil(bytes / 4096) * 98) * 8e12 / 25e9; };
  for (const std::uint32_t rails : {1U, 2U, 4U}) {
    // alpha: what a step of 128 bytes takes besides those on the wire
    const double steps = 2 * (kHosts - 1);
    const double alpha = time(rails, std::int64_t{128} * kHosts * rails) / steps - wire_ps(128);
    const double expected = steps * (alpha + wire_ps(static_cast<double>(kSize) / kHosts / rails));
    CHECK(time(rails, kSize) == Approx(expected).epsilon(0.02));
  }
}
