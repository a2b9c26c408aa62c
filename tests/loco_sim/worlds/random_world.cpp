#include "tests/loco_sim/worlds/random_world.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <random>
#include <stdexcept>
#include <vector>

#include "loco_sim/run/given_up.hpp"
#include "loco_sim/scenario/hardware.hpp"
#include "loco_sim/workloads/workload.hpp"
#include "options/option.hpp"
#include "text/input_error.hpp"

namespace loco::test {

namespace {

class Draft {
 public:
  /// `any_words`: words of one message keep no order.
  Draft(std::mt19937_64& random, bool any_words) : random_(random), any_words_(any_words) {}

  std::string text() {
    std::string out = fmt::format("seed: {}\n", below(1'000'000));
    out += topology();
    out += hardware();
    out += fabric();
    out += workload();
    if (one_in(3)) {
      const std::string schedule = fmt::format("schedule: {}\n", pick({"random", "adversarial"}));
      // Where WRITEs may have their effect again, these let each of them do so: no model has that (docs/transports.md).
      if (!repeats_) out += schedule;
    }
    if (one_in(6)) out += fmt::format("faults: [{}]\n", pick(scenario::fault_names()));
    out += fmt::format("check: [rdmawait, sv, bal, rbl, msw, lock, kvstore{}]\n", one_in(4) ? ", tower" : "");
    return out + "limits: {events: 400000}\n";
  }

 private:
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  std::string pick(const std::vector<std::string>& from) { return from[below(from.size())]; }

  std::string topology() {
    switch (below(8)) {
      case 0:
        return "topology: {kind: back_to_back}\n";
      case 1:
        return fmt::format("topology: {{kind: leaf_spine, leaves: {}, spines: {}, hosts_per_leaf: {}}}\n", 1 + below(2),
                           1 + below(2), 1 + below(2));
      case 2:
        return "topology: {kind: fat_tree, k: 2}\n";
      case 3:
        return "topology: {kind: dragonfly, groups: 2, routers_per_group: 1, hosts_per_router: 1, "
               "global_links_per_router: 1}\n";
      case 4:
        return fmt::format("topology: {{kind: torus, dims: [2, {}]}}\n", 1 + below(2));
      case 5:
        return fmt::format("topology: {{kind: ring, nodes: {}}}\n", 3 + below(2));
      case 6:
        return "topology: {kind: custom, hosts: 3, switches: 2, edges: [[h0, s0], [h1, s0], [h2, s1], [s0, s1, {rate: "
               "10Gbps}]]}\n";
      default:
        return fmt::format("topology: {{kind: star, nodes: {}}}\n", 2 + below(3));
    }
  }

  std::string hardware() {
    const std::string base = pick(scenario::hardware_names());
    repeats_ = base == "rudi-weak";
    std::vector<std::string> nic, pcie;
    if (any_words_) nic.push_back("word_order: any, word_unit: 8B");
    if (one_in(3)) nic.push_back(fmt::format("placement: {}", pick({"in_order", "out_of_order", "unordered"})));
    if (one_in(4)) nic.push_back(fmt::format("retry_count: {}", below(8)));
    if (one_in(4)) nic.push_back(fmt::format("ack_timeout: {}us", 20 + below(200)));
    if (one_in(6)) nic.push_back(fmt::format("max_rd_atomic: {}", 1 + below(16)));
    if (one_in(6)) nic.push_back(fmt::format("atomic_cap: {}", pick({"none", "hca", "global"})));
    if (one_in(5)) pcie.push_back(fmt::format("ordering_domain: {}", pick({"qp", "nic"})));
    if (one_in(5))
      pcie.push_back(
          fmt::format("read_ordering: {}", pick({"unordered", "nic_serialised", "root_complex", "speculative"})));
    if (one_in(6)) pcie.push_back(fmt::format("functions: {}", 1 + below(3)));
    if (one_in(6)) pcie.push_back(fmt::format("id_ordering: {}", pick({"true", "false"})));
    return fmt::format("hardware: {{base: {}, nic: {{{}}}, pcie: {{{}}}}}\n", base, fmt::join(nic, ", "),
                       fmt::join(pcie, ", "));
  }

  std::string fabric() {
    std::vector<std::string> keys;
    if (one_in(2)) keys.push_back(fmt::format("routing: {}", pick({"deterministic", "ecmp", "adaptive", "spray"})));
    if (one_in(4)) keys.push_back("switching: store_and_forward");
    if (one_in(3)) {
      const std::string control = pick({"pfc", "drop_tail"});
      keys.push_back("flow_control: " + control);
      keys.push_back(fmt::format("buffer: {{size: {}kB}}", control == "pfc" ? 2000 : 10 + below(200)));
    }
    if (one_in(5)) keys.push_back("ecn: {enabled: true}");
    if (one_in(4)) keys.push_back(fmt::format("loss: {}", pick({"100", "10000", "100000"})));
    if (one_in(12)) keys.push_back("failures: [{host: h1, stops: 30us}]");
    return fmt::format("fabric: {{{}}}\n", fmt::join(keys, ", "));
  }

  std::string value(const options::Option& p) {
    if (p.type == options::Type::boolean) return pick({"true", "false"});
    if (p.type == options::Type::choice) return std::string(p.choices[below(p.choices.size())]);
    if (p.key == "update_pause_ns") return "50000";  // shorter ones leave no lookup the time to succeed
    if (p.type == options::Type::rate) return "10Gbps";
    // Small values: worlds are many.
    const std::int64_t least = p.least;
    if (p.type == options::Type::size) {
      const auto step = std::max<std::int64_t>(p.multiple_of, 1);
      const auto size = least + step * static_cast<std::int64_t>(one_in(8) ? below(600) : below(8));
      return fmt::format("{}B", std::min(size, p.most));
    }
    return fmt::format("{}", std::min(least + static_cast<std::int64_t>(below(3)), p.most));
  }

  /// Defaults that would make a world large.
  static bool must_be_small(const options::Option& p) {
    return p.type != options::Type::boolean && p.type != options::Type::choice && options::default_number(p) > 64;
  }

  std::string workload() {
    const auto all = workloads::all();
    const workloads::Workload& w = all[below(all.size())];
    std::vector<std::string> keys = {fmt::format("kind: {}", w.kind)};
    for (const options::Option& p : w.params)
      if (must_be_small(p) || one_in(3) || p.key == "iterations")
        keys.push_back(fmt::format("{}: {}", p.key, value(p)));
    return fmt::format("workload: {{{}}}\n", fmt::join(keys, ", "));
  }

  std::mt19937_64& random_;
  bool repeats_ = false;  ///< the hardware may carry out a WRITE twice
  bool any_words_;
};

void add(std::string& to, const std::string& why) { to += (to.empty() ? "" : "; ") + why; }

}  // namespace

World random_world(std::uint64_t seed) {
  constexpr std::uint32_t kDraftsMax = 200;
  std::mt19937_64 random(seed);
  World world;
  std::string last;
  for (; world.refused < kDraftsMax; ++world.refused) {
    world.text = Draft(random, seed % 10 == 0).text();
    try {
      world.scenario = scenario::parse_scenario(world.text, fmt::format("world-{}.yaml", seed));
      return world;
    } catch (const text::InputError& error) {
      last = error.what();
    }
  }
  throw std::runtime_error(
      fmt::format("seed {}: {} drafts in a row were refused, the last: {}", seed, kDraftsMax, last));
}

Excuses excuses_of(const scenario::Scenario& s) {
  Excuses e;
  for (const std::string& fault : s.faults) {
    add(e.inconsistent, "fault " + fault);
    add(e.failing, "fault " + fault);
  }
  for (const GivenUp& g : given_up(s.hardware)) add(e.inconsistent, s.hardware_name + " gives up " + g.cell);
  const workloads::Workload& w = *workloads::find(s.workload);
  for (const options::Option& p : w.params) {
    if (p.key != "fence") continue;
    const std::int64_t fence = s.parameters.get("fence");
    const bool none = p.type == options::Type::choice && p.choices[static_cast<std::size_t>(fence)] == "none";
    if (none || (p.type == options::Type::boolean && fence == 0)) add(e.inconsistent, "workload.fence");
  }
  const fabric::Options& fabric = s.network.options;
  if (fabric.loss != 0) add(e.failing, "fabric.loss");
  if (fabric.flow_control == fabric::FlowControl::drop_tail) add(e.failing, "fabric.flow_control: drop_tail");
  const bool paths = fabric.routing == fabric::Routing::spray || fabric.routing == fabric::Routing::adaptive;
  if (paths && !nic::overtakes(s.hardware.nic_placement))
    add(e.failing, "packets of one flow on several paths, to a NIC that takes them in order");
  if (!s.stops.empty()) add(e.failing, "a host stops");
  return e;
}

}  // namespace loco::test
