// A machine in parts (docs/parallel-runs.md): Systems that each simulate some of the hosts and exchange nothing but
// packets, pauses and what stands for a time-out do what one System does: the same accesses, packets and completions at
// the same times, whether they take turns or run on threads of their own.
//
// Replay a network: LOCO_SIM_SEED=<seed> test_nic_networks
#include "nic_model/parts.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <random>
#include <thread>
#include <utility>

#include "fabric/packet_network.hpp"
#include "fabric/report.hpp"
#include "nic_model/usage.hpp"
#include "random_network.hpp"
#include "rig.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::test;
using namespace loco::sim::literals;

namespace {

using Random = std::mt19937_64;

/// What a machine told of itself, a line each, to be put in order once all of it is there.
class Log : public nic::Observer {
 public:
  void on_subevent(const nic::Subevent& s) override {
    named_[s.id] = fmt::format("{} {} {}:{:x}", s.at.ps, static_cast<int>(s.stamp), s.home, s.address);
    accesses.push_back(s);
  }
  void on_subevent_repeated(const nic::Subevent& s) override { repeated.push_back(s); }
  void on_subevent_finish(const nic::SubeventFinish& f) override {
    lines.push_back(fmt::format("{} finish {} = {} over {}", f.at.ps, name(f.id), f.value, name(f.overwrote)));
  }
  void on_packet(nic::PacketStep step, const fabric::Packet& p, sim::SimTime at) override {
    lines.push_back(fmt::format("{} packet {} {}->{} {} psn {} {} {} {}", at.ps, static_cast<int>(step), p.source_qp,
                                p.destination_qp, static_cast<int>(p.opcode), p.psn.value(), p.offset, p.length,
                                p.marked));
  }
  void on_cqe(nic::NodeId node, nic::CqId cq, const nic::Cqe& c, sim::SimTime at) override {
    lines.push_back(fmt::format("{} cqe {} {} qp {} wr {} {} {}", at.ps, node, cq, c.qp, c.wr_id,
                                static_cast<int>(c.status), c.length));
  }
  void on_message(const nic::MessageArrival& m) override {
    lines.push_back(fmt::format("{} message {} {} {}", m.at.ps, m.found, m.qp, m.op));
  }
  /// An access by what it is: ids are of one System.
  [[nodiscard]] std::string name(nic::SubeventId id) const {
    const auto found = named_.find(id);
    return found == named_.end() ? "nothing" : found->second;
  }

  std::vector<std::string> lines;
  std::vector<nic::Subevent> accesses, repeated;

 private:
  std::map<nic::SubeventId, std::string> named_;
};

/// What all hosts will do, a function of the seed.
struct Plan {
  struct Request {
    std::size_t stream = 0;
    nic::Opcode opcode = nic::Opcode::rdma_write;
    std::uint32_t length = 8;
    std::uint64_t local = 0, remote = 0;  // in the regions
    sim::Duration gap{};                  // until the next one is posted
  };
  struct Stream {
    nic::NodeId from = 0, to = 0;
  };
  std::vector<Stream> streams;
  std::vector<std::vector<Request>> of_host;
  std::uint64_t seed = 0;
};

constexpr std::uint64_t kRegion = 1 << 17;
constexpr std::uint32_t kSendMost = 1'024;

Plan draw_plan(const nic::SystemConfig& config, std::uint64_t seed, std::uint32_t requests) {
  Random random(seed);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  Plan plan;
  plan.seed = seed;
  plan.of_host.resize(config.nodes);
  const std::uint64_t count = config.nodes + below(config.nodes + 1);
  const bool hurried = below(2) == 0;
  for (std::size_t s = 0; s < count; ++s) {
    const nic::DeliveryOperations has = operations_of(config, s);
    const auto from = static_cast<nic::NodeId>(s % config.nodes);
    plan.streams.push_back({from, static_cast<nic::NodeId>((from + 1 + below(config.nodes - 1)) % config.nodes)});
    for (std::uint32_t i = 0; i < requests; ++i) {
      Plan::Request r{.stream = s, .length = static_cast<std::uint32_t>(1 + below(below(3) == 0 ? 20'000 : 600))};
      const std::uint64_t kind = below(5);
      if (kind == 2) r.opcode = nic::Opcode::rdma_read;
      if (kind == 3 && has.atomics) r.opcode = nic::Opcode::fetch_add;
      if (kind == 4 && has.sends) r.opcode = nic::Opcode::send;
      if (r.opcode == nic::Opcode::fetch_add) r.length = 8;
      if (r.opcode == nic::Opcode::send) r.length = std::min(r.length, kSendMost);
      r.local = 8 * below((kRegion - r.length) / 8);
      r.remote = 8 * below((kRegion - r.length) / 8);
      r.gap = sim::Duration{static_cast<std::int64_t>(below(hurried ? 50'000 : 3'000'000))};
      plan.of_host[from].push_back(r);
    }
  }
  return plan;
}

/// A System that follows the plan, the whole machine or a part of it.
class Machine {
 public:
  Machine(const nic::SystemConfig& config, const Plan& plan) : system(config), plan_(plan), next_(config.nodes) {
    for (nic::NodeId node = 0; node < config.nodes; ++node) {
      regions_.push_back(system.register_memory(node, system.allocate(node, kRegion), kRegion));
      cqs_.push_back(system.create_cq(node, 4'096));
      const std::vector<std::uint8_t> bytes = pattern(kRegion, static_cast<std::uint32_t>(plan.seed + node));
      system.write_memory(node, regions_[node].base, std::as_bytes(std::span(bytes)));
    }
    for (const Plan::Stream& s : plan.streams) connect(s);
    for (nic::NodeId node = 0; node < config.nodes; ++node) {
      system.create_thread(node);
      scripts_.steps.emplace_back([this, node](nic::Cpu& cpu) { step(cpu, node); });
    }
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine() = default;

  nic::System system;
  Log log;
  nic::Context context{scripts_, &log};

  [[nodiscard]] std::vector<std::uint8_t> memory(nic::NodeId node) const {
    std::vector<std::uint8_t> out(kRegion);
    system.read_memory(node, regions_[node].base, std::as_writable_bytes(std::span(out)));
    return out;
  }

 private:
  void connect(const Plan::Stream& s) {
    const auto index = static_cast<std::uint32_t>(qps_.size());
    const nic::SystemConfig& config = system.config();
    const std::vector<fabric::TrafficClass> classes = config.network.used_classes();
    const auto end = [&](nic::NodeId node) {
      nic::QpConfig of{.send_cq = cqs_[node], .send_entries = 256, .recv_entries = 256, .thread = node};
      of.traffic_class = static_cast<std::uint8_t>(classes[index % classes.size()].id);
      if (index % 3 == 0) of.ack_class = static_cast<std::uint8_t>(classes.back().id);
      of.congestion = static_cast<std::uint8_t>(index % (config.congestion.size() + 1));
      of.nic = index % config.hosts.nics(nic::HostId(node));
      of.transport = own_transport(config, index);
      return system.create_qp(node, of);
    };
    qps_.push_back(end(s.from));
    const nic::QpId target = end(s.to);
    system.connect(qps_.back(), target);
    for (int i = 0; i < 64; ++i)
      system.post_recv(target, {.address = regions_[s.to].base + 2'048 * static_cast<std::uint64_t>(i % 60),
                                .length = kSendMost,
                                .lkey = regions_[s.to].lkey});
  }

  void step(nic::Cpu& cpu, nic::NodeId node) {
    std::array<nic::Cqe, 16> cqes;
    cpu.poll_cq(cqs_[node], cqes);
    const std::vector<Plan::Request>& mine = plan_.of_host[node];
    if (next_[node] == mine.size()) return cpu.pause({});
    if (cpu.store_buffer_full()) return cpu.resume_when_room();
    const Plan::Request& r = mine[next_[node]++];
    const nic::MemoryRegion& remote = regions_[plan_.streams[r.stream].to];
    const nic::Wqe wqe{.wr_id = next_[node],
                       .opcode = r.opcode,
                       .length = r.length,
                       .lkey = regions_[node].lkey,
                       .rkey = remote.rkey,
                       .local = regions_[node].base + r.local,
                       .remote = remote.base + r.remote,
                       .compare_add = 1,
                       .op = static_cast<nic::OpId>(next_[node])};
    if (cpu.post_send(qps_[r.stream], {&wqe, 1}) == nic::PostResult::bad_request) next_[node] = mine.size();
    cpu.resume_after(r.gap);
  }

  const Plan& plan_;
  Scripts scripts_;
  std::vector<nic::MemoryRegion> regions_;
  std::vector<nic::CqId> cqs_;
  std::vector<nic::QpId> qps_;
  std::vector<std::size_t> next_;
};

/// All that a run did.
struct Story {
  std::vector<std::string> lines;  ///< in their order
  std::vector<std::vector<std::uint8_t>> memory;
  std::vector<std::string> figures;  ///< counters, links, what was busy
  std::size_t repeated = 0;          ///< words of READs whose first execution did not count
  std::uint64_t lost = 0, pauses = 0, trimmed = 0, given_up = 0;
};

void tell_accesses(const std::vector<std::unique_ptr<Machine>>& parts, const std::vector<std::uint8_t>& part_of,
                   Story& story) {
  const auto tell = [&](const Log& log, const nic::Subevent& s, const char* what, const std::string& id) {
    story.lines.push_back(fmt::format("{} {} {} {} thread {} op {} peer {} home {} {:x} = {} {} from {} over {}",
                                      s.at.ps, what, static_cast<int>(s.stamp), id, s.thread, s.op, s.peer, s.home,
                                      s.address, s.value, s.value_read, log.name(s.source), log.name(s.overwrote)));
  };
  for (const auto& part : parts) {
    for (const nic::Subevent& s : part->log.accesses) tell(part->log, s, "access", "");
    for (const nic::Subevent& s : part->log.repeated) {
      const Log& home = parts[part_of.empty() ? 0 : part_of[s.home]]->log;
      tell(home, s, "again", home.name(s.id));
    }
    story.repeated += part->log.repeated.size();
  }
}

void tell_figures(const nic::System& system, Story& story) {
  for (const nic::NamedCounter& c : nic::kCounters)
    story.figures.push_back(fmt::format("{} {}", c.name, system.counters().*c.member));
  const fabric::PacketNetwork& network = *system.network().packet_network();
  story.lost = system.counters().packets_lost;
  story.pauses = fabric::totals(network).pauses;
  story.trimmed = network.packets_trimmed();
  story.given_up = network.watchdog_actions();
  for (fabric::topology::LinkId link = 0; link < network.links(); ++link) {
    const fabric::LinkCounters& c = network.counters(link);
    story.figures.push_back(fmt::format("link {}: {} {} {} {} {} {} {} {}", link, c.packets, c.bytes, c.busy.ps,
                                        c.queue_max, c.drops, c.marks, c.pauses, c.paused.ps));
  }
  for (const nic::Usage& u : system.usage(system.now() - sim::SimTime{}, 100))
    story.figures.push_back(fmt::format("{} {}", u.resource, u.share));
  for (std::size_t reason = 0; reason < fabric::kLossReasonNames.size(); ++reason)
    story.figures.push_back(fmt::format("{} lost: {}", fabric::kLossReasonNames.at(reason),
                                        network.packets_lost(static_cast<fabric::LossReason>(reason))));
  story.figures.push_back(fmt::format("{} ps, {} sent, {} delivered, {} trimmed, {} given up", system.now().ps,
                                      network.packets_sent(), network.packets_delivered(), story.trimmed,
                                      story.given_up));
}

Story run(const nic::SystemConfig& config, const Plan& plan, const std::vector<std::uint8_t>& part_of,
          nic::PartThreads threads = nic::PartThreads::one) {
  const std::uint8_t parts = part_of.empty() ? 1 : static_cast<std::uint8_t>(*std::ranges::max_element(part_of) + 1);
  std::vector<std::unique_ptr<Machine>> machines;
  std::vector<nic::PartRun> runs;
  for (std::uint8_t part = 0; part < parts; ++part) {
    machines.push_back(std::make_unique<Machine>(nic::part_config(config, part_of, part), plan));
    runs.push_back({&machines.back()->system, &machines.back()->context});
  }
  nic::run_parts(runs, threads);
  Story story;
  tell_accesses(machines, part_of, story);
  for (const auto& machine : machines)
    story.lines.insert(story.lines.end(), machine->log.lines.begin(), machine->log.lines.end());
  std::ranges::sort(story.lines);
  for (std::size_t part = 1; part < machines.size(); ++part)
    machines.front()->system.absorb(std::move(machines[part]->system));
  for (nic::NodeId node = 0; node < config.nodes; ++node) story.memory.push_back(machines.front()->memory(node));
  tell_figures(machines.front()->system, story);
  return story;
}

/// Of two stories the first line that only one of them has.
std::string difference(const std::vector<std::string>& one, const std::vector<std::string>& other) {
  for (std::size_t i = 0; i < std::max(one.size(), other.size()); ++i) {
    const std::string a = i < one.size() ? one[i] : "the end";
    const std::string b = i < other.size() ? other[i] : "the end";
    if (a != b) return fmt::format("line {}: {} | {}", i, a, b);
  }
  return {};
}

void check_same(const Story& one, const Story& other) {
  CHECK(difference(one.lines, other.lines) == "");
  CHECK(difference(one.figures, other.figures) == "");
  CHECK(one.memory == other.memory);
}

/// A random network; on some each host has two NICs.
nic::SystemConfig network_of(std::uint64_t seed) {
  nic::SystemConfig config = random_network(seed);
  config.timers = true;
  config.witness = seed % 10 == 5;  // the trace of each access takes most of the test's time
  config.timed = seed % 2 == 0;     // TLPs of a packet are one step
  if (seed % 3 == 0 && config.nodes % 2 == 0 && config.nodes >= 4) {
    config.nodes /= 2;
    config.hosts.of.assign(config.nodes, {.nics = 2});
  }
  return config;
}

nic::SystemConfig two_hosts(std::uint32_t loss) {
  nic::SystemConfig config{
      .profile = real(), .topology = fabric::Topology::back_to_back, .nodes = 2, .timers = true, .witness = true};
  config.profile.nic_ack_timeout = nic::timeout_of_code(4);
  config.network.options.loss = loss;
  return config;
}

}  // namespace

TEST_CASE("two Systems of a host each that exchange packets do what one does") {
  const nic::SystemConfig config = two_hosts(0);
  const std::vector<std::uint8_t> apart = nic::parts_of(config, 2);
  REQUIRE(apart == std::vector<std::uint8_t>{0, 1});
  for (std::uint64_t seed = 1; seed <= (kShare > 1 ? 2 : 4); ++seed) {
    INFO("seed " << seed);
    const Plan plan = draw_plan(config, seed, 40);
    const Story one = run(config, plan, {});
    CHECK(one.lines.size() > 1'000);
    check_same(one, run(config, plan, apart, seed % 2 == 0 ? nic::PartThreads::each : nic::PartThreads::one));
  }
}

TEST_CASE("what two Systems tell of READs that are executed again is what one tells") {
  const nic::SystemConfig config = two_hosts(30'000);
  std::size_t repeated = 0;
  const std::uint64_t seeds = kShare > 1 ? 1 : 4;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    INFO("seed " << seed);
    const Plan plan = draw_plan(config, seed, 40);
    const Story one = run(config, plan, {});
    repeated += one.repeated;
    check_same(one, run(config, plan, nic::parts_of(config, 2)));
  }
  CHECK(repeated > 5 * seeds);  // else it has shown nothing
}

namespace {

/// A part of two hosts whose thread comes to where both meet, beside one that is busy for 10 us.
struct Meeting {
  sim::SimTime came{}, released{}, reached{}, went_on{};
  int busy_turns = 0;
  bool ended = false;

  void simulate(nic::PartMeeting& meeting, const nic::SystemConfig& config, std::uint8_t part, sim::Duration after) {
    nic::System system(config);
    Scripts scripts;
    std::vector<std::uint32_t> flags;
    bool sleeps = true;
    int turns = 0;
    for (nic::NodeId node = 0; node < 2; ++node) {
      flags.push_back(system.create_flag(node));
      system.create_thread(node);
      scripts.steps.emplace_back([&](nic::Cpu& cpu) { ++turns < 200 ? cpu.resume_after(50_ns) : cpu.stop(); });
      system.create_thread(node);
      scripts.steps.emplace_back([&, node](nic::Cpu& cpu) {
        if (std::exchange(sleeps, false)) return cpu.resume_after(after);
        if (came == sim::SimTime{}) meeting.gathered(part, 0, came = cpu.now());
        if (cpu.flag_load(flags[node]) == 0) return cpu.pause({});
        went_on = cpu.now();
        busy_turns = turns;
        cpu.stop();
      });
    }
    meeting.gathers(part, 0, [&](sim::SimTime at) {
      released = at;
      reached = system.now();
      system.set_flag_at(part, flags[part], 1, at);
    });
    nic::Context context{scripts};
    ended = meeting.run(part, system, [&](sim::SimTime end) {
      while (!meeting.must_return(part) && system.step_before(context, end)) {
      }
    });
  }
};

}  // namespace

TEST_CASE("threads of two parts that meet go on when the second has come, and neither part is beyond that") {
  nic::SystemConfig config = two_hosts(0);
  config.profile.link_delay = 2_us;  // else parts could be so far ahead of each other
  const std::vector<std::uint8_t> apart = nic::parts_of(config, 2);
  nic::PartMeeting meeting(config, apart);
  std::array<Meeting, 2> sides;
  {
    std::jthread other([&] { sides[1].simulate(meeting, nic::part_config(config, apart, 1), 1, 5_us); });
    sides[0].simulate(meeting, nic::part_config(config, apart, 0), 0, 1_us);
  }
  CHECK(sides[0].came == sim::SimTime{} + 1_us);
  CHECK(sides[1].came == sim::SimTime{} + 5_us);
  for (const Meeting& side : sides) {
    CHECK(side.ended);
    CHECK(side.released == sides[1].came);
    CHECK(side.reached <= side.released);
    CHECK(side.busy_turns >= 101);  // of 50 ns each, from 0 until 5 us, which is before they go on
    CHECK(side.went_on >= side.released);
    CHECK(side.went_on <= side.released + 1_us);
  }
}

namespace {

void run_in_parts(std::uint64_t first, std::uint64_t last) {
  const char* one_seed = std::getenv("LOCO_SIM_SEED");
  if (one_seed != nullptr) first = last = std::strtoull(one_seed, nullptr, 10);
  std::size_t parted = 0, lossy = 0, paused = 0, trimmed = 0, given_up = 0, failing = 0, classed = 0, railed = 0;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    INFO("LOCO_SIM_SEED=" << seed);
    const nic::SystemConfig config = network_of(seed);
    if (config.nodes < 2) continue;
    const Plan plan = draw_plan(config, seed, 12);
    const Story one = run(config, plan, {});
    for (const std::uint32_t threads : {2U, 4U}) {
      const std::vector<std::uint8_t> part_of = nic::parts_of(config, threads);
      if (part_of.empty()) continue;
      // On threads of their own now and then: on a busy machine their windows take long.
      check_same(one, run(config, plan, part_of, seed % 8 == 0 ? nic::PartThreads::each : nic::PartThreads::one));
      ++parted;
      failing += config.network.changes.empty() ? 0U : 1U;
      classed += config.network.classed() ? 1U : 0U;
      railed += config.hosts.of.empty() ? 0U : 1U;
    }
    lossy += one.lost != 0 ? 1U : 0U;
    paused += one.pauses != 0 ? 1U : 0U;
    trimmed += one.trimmed != 0 ? 1U : 0U;
    given_up += one.given_up != 0 ? 1U : 0U;
  }
  WARN(
      fmt::format("{} runs in parts, {} with failing links, {} with classes, {} with two NICs a host; losses on {} "
                  "networks, pauses on {}, trimmed packets on {}, queues given up on {}",
                  parted, failing, classed, railed, lossy, paused, trimmed, given_up));
  if (one_seed != nullptr) return;
  // Networks that are all quiet, or in one part, say nothing.
  CHECK(parted > last - first);
  CHECK(lossy > (last - first) / 8);
  CHECK(paused > (last - first) / 20);
  CHECK(failing > (last - first) / 4);
  CHECK(classed > (last - first) / 4);
  CHECK(railed > (last - first) / 20);
  CHECK(trimmed > (last - first) / 40);
  if (last - first > 500) CHECK(given_up > 0);
}

}  // namespace

TEST_CASE("random networks in parts, one, two and four threads") { run_in_parts(1, kShare > 1 ? 20 : 60); }

TEST_CASE("random networks in parts, 1,000", "[.long]") { run_in_parts(1'001, 2'000); }
