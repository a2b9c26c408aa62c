#include "tests/loco_sim/worlds/random_world.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <random>
#include <stdexcept>
#include <vector>

#include "loco_sim/run/given_up.hpp"
#include "loco_sim/scenario/hardware.hpp"
#include "loco_sim/workloads/workload.hpp"
#include "nic_model/delivery/transports.hpp"
#include "options/option.hpp"
#include "text/input_error.hpp"

namespace loco::test {

namespace {

/// What may go wrong in a world, section by section, each switched on by itself: so any two come together in some
/// worlds, and each is alone in others.
struct Sections {
  explicit Sections(std::mt19937_64& random)
      : losses(one_in(random, 4)),
        buffers(one_in(random, 3)),
        congestion(one_in(random, 4)),
        links(one_in(random, 8)),
        stops(one_in(random, 6)),
        storms(one_in(random, 10)),
        scarcity(one_in(random, 4)),
        recovery(one_in(random, 5)),
        schedule(one_in(random, 3)),
        faults(one_in(random, 6)) {}

  bool losses;      ///< packets, on any link
  bool buffers;     ///< of switches fill
  bool congestion;  ///< marks, and what controls rates
  bool links;       ///< go down, and may come back
  bool stops;       ///< of a host
  bool storms;      ///< a NIC that pauses its link
  bool scarcity;    ///< NICs with small caches and buffers
  bool recovery;    ///< another one than the hardware's, or another transport
  bool schedule;    ///< another one than that of time
  bool faults;      ///< deliberate

 private:
  static bool one_in(std::mt19937_64& random, std::uint64_t n) { return random() % n == 0; }
};

class Draft {
 public:
  /// `any_words`: words of one message keep no order.
  Draft(std::mt19937_64& random, bool any_words) : random_(random), on_(random), any_words_(any_words) {}

  std::string text() {
    std::string out = fmt::format("seed: {}\n", below(1'000'000));
    out += topology();
    out += hardware();
    out += fabric();
    out += workload();
    if (on_.schedule) {
      const std::string schedule = fmt::format("schedule: {}\n", pick({"random", "adversarial"}));
      // Where WRITEs may have their effect again, these let each of them do so: no model has that (docs/transports.md).
      if (!repeats_) out += schedule;
    }
    if (on_.faults) out += fmt::format("faults: [{}]\n", pick(scenario::fault_names()));
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
    if (on_.scarcity) draw_scarcity(nic, pcie);
    std::string transport;
    if (on_.recovery) {
      const std::uint64_t which = below(5);
      if (which == 0) transport = ", transport: {kind: srd}";
      if (which == 1) transport = fmt::format(", transport: {{kind: uet, mode: {}}}", pick({"rod", "rud"}));
      if (which > 1) nic.push_back(fmt::format("recovery: {}", pick({"go_back_n", "selective_repeat", "timer"})));
    }
    return fmt::format("hardware: {{base: {}, nic: {{{}}}, pcie: {{{}}}{}}}\n", base, fmt::join(nic, ", "),
                       fmt::join(pcie, ", "), transport);
  }

  /// What a NIC has little of, each by itself.
  void draw_scarcity(std::vector<std::string>& nic, std::vector<std::string>& pcie) {
    if (one_in(2)) nic.push_back("context_entries: 4");
    if (one_in(2)) nic.push_back("translation_entries: 8");
    if (one_in(2)) nic.push_back(fmt::format("receive_buffer: {}kB", 20 + below(60)));
    if (one_in(2)) pcie.push_back(fmt::format("tags: {}", 1 + below(4)));
    if (one_in(2)) pcie.push_back("posted_credits: 1024B");
  }

  std::string fabric() {
    std::vector<std::string> keys;
    if (one_in(2)) keys.push_back(fmt::format("routing: {}", pick({"deterministic", "ecmp", "adaptive", "spray"})));
    if (one_in(4)) keys.push_back("switching: store_and_forward");
    if (on_.buffers) draw_buffers(keys);
    if (on_.congestion) draw_congestion(keys);
    if (on_.losses) keys.push_back(fmt::format("loss: {}", pick({"100", "10000", "100000"})));
    if (on_.links) keys.push_back(fmt::format("reroute: {}, reroute_delay: 20us", pick({"true", "false"})));
    if (const std::vector<std::string> failures = draw_failures(); !failures.empty())
      keys.push_back(fmt::format("failures: [{}]", fmt::join(failures, ", ")));
    return fmt::format("fabric: {{{}}}\n", fmt::join(keys, ", "));
  }

  void draw_buffers(std::vector<std::string>& keys) {
    if (one_in(2)) {
      keys.push_back(fmt::format("flow_control: drop_tail, buffer: {{size: {}kB}}", 10 + below(200)));
      if (one_in(2)) keys.push_back("trim: {enabled: true}");
      return;
    }
    std::string pfc;
    if (one_in(2)) pfc = fmt::format("xoff: {}B", 1'000 + below(12'000));
    if (on_.storms && one_in(2))
      pfc += fmt::format("{}watchdog: {{poll: 20us, detect: {}us, restore: 50us, action: {}}}", pfc.empty() ? "" : ", ",
                         20 + below(80), pick({"drop", "forward"}));
    keys.push_back(fmt::format("flow_control: pfc, buffer: {{size: 2000kB}}, pfc: {{{}}}", pfc));
  }

  void draw_congestion(std::vector<std::string>& keys) {
    keys.push_back(one_in(2) ? "ecn: {enabled: true, kmin: 2kB, kmax: 20kB}" : "ecn: {enabled: true}");
    const std::string algorithm = pick({"none", "dcqcn", "hpcc", "timely", "swift", "nscc"});
    if (algorithm != "none") keys.push_back(fmt::format("congestion: {{algorithm: {}}}", algorithm));
  }

  std::vector<std::string> draw_failures() {
    std::vector<std::string> failures;
    if (on_.links) {
      const std::uint64_t down = below(100);
      const std::string up = one_in(4) ? "" : fmt::format(", up: {}us", down + 1 + below(200));
      failures.push_back(
          fmt::format("{{link: {}, down: {}us{}}}", pick({"[h0, h1]", "[h0, s0]", "[s0, s1]"}), down, up));
    }
    if (on_.stops) failures.push_back(fmt::format("{{host: h{}, stops: {}us}}", below(3), 5 + below(100)));
    if (on_.storms) {
      const std::uint64_t from = below(50);
      failures.push_back(fmt::format("{{host: h1, pauses: {}us, until: {}us}}", from, from + 1 + below(300)));
    }
    return failures;
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
    const std::uint64_t more = p.key == "iterations" && one_in(4) ? below(20) : below(3);
    return fmt::format("{}", std::min(least + static_cast<std::int64_t>(more), p.most));
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
  Sections on_;
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
  if (!s.network.changes.empty()) add(e.failing, "a link goes down");
  if (!s.network.storms.empty()) add(e.failing, "a NIC pauses its link");
  const bool paths = fabric.routing == fabric::Routing::spray || fabric.routing == fabric::Routing::adaptive;
  if (paths && !nic::reliable_order(s.hardware).overtakes())
    add(e.failing, "packets of one flow on several paths, to a NIC that takes them in order");
  if (!s.stops.empty()) add(e.failing, "a host stops");
  return e;
}

}  // namespace loco::test
