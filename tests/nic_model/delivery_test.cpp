// Transports that execute requests when they are whole (docs/transports.md): which orders they give up, what restores
// them, and that everything has its effect, once unless it may have it again.
#include "fabric/packet_network.hpp"
#include "nic_model/delivery/entropies.hpp"
#include "nic_model/delivery/transports.hpp"
#include "pair.hpp"
#include "program.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::test;
using nic::EntropyChoice;
using nic::Stamp;
using nic::Status;
using nic::TransportKind;
using nic::TransportOptions;
using nic::UetMode;

namespace {

const std::vector<TransportOptions> kUnordered = {
    {.kind = TransportKind::srd}, {.kind = TransportKind::uet}, {.kind = TransportKind::uet, .mode = UetMode::rudi}};
const TransportOptions kRod{.kind = TransportKind::uet, .mode = UetMode::rod};

nic::HardwareProfile with(nic::HardwareProfile profile, const TransportOptions& transport) {
  profile.transport = transport;
  return profile;
}
nic::HardwareProfile weak(const TransportOptions& transport) { return with(profile_file("model-weak"), transport); }
std::string_view name(const TransportOptions& transport) { return nic::reliable_name(weak(transport)); }

bool occurs(const Outcomes& outcomes, const Outcome& partial) {
  return std::any_of(outcomes.begin(), outcomes.end(), [&](const Outcome& o) {
    return std::all_of(partial.begin(), partial.end(), [&](const auto& v) { return o.at(v.first) == v.second; });
  });
}

std::uint64_t began(const Recorder& recorder, Stamp stamp, nic::OpId op) {
  for (const nic::Subevent& s : recorder.subevents)
    if (s.stamp == stamp && s.op == op) return s.seq;
  FAIL("no such subevent");
  return 0;
}

struct Cells {
  bool g7 = true, g8 = true, g9 = true, completions = true;
};

/// Which cells hold in random runs of: put(z, x); put(y, x); get(c, w). `fence`: of the second and the third.
Cells observed(const TransportOptions& transport, bool fence = false) {
  Cells cells;
  for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
    Pair pair(weak(transport));
    std::vector<nic::Wqe> wqes = {pair.write(0, 0), pair.write(0, 64), pair.read(64, 128)};
    for (nic::OpId i = 0; i < 3; ++i) {
      wqes[i].op = i + 1;
      wqes[i].wr_id = i;
      wqes[i].fence = fence && i > 0;
    }
    pair.post(wqes);
    pair.run_random(seed);
    REQUIRE(pair.statuses(0) == std::vector<Status>(3, Status::success));
    const std::uint64_t second = began(pair.recorder, Stamp::aNRW, 2);
    cells.g7 = cells.g7 && began(pair.recorder, Stamp::aNRW, 1) < second;
    cells.g8 = cells.g8 && second < began(pair.recorder, Stamp::aNRR, 3);
    cells.g9 = cells.g9 && second < began(pair.recorder, Stamp::aNLW, 3);
    const auto sent = pair.completions(0);
    for (std::uint64_t i = 0; i < 3; ++i) cells.completions = cells.completions && sent[i].wr_id == i;
  }
  return cells;
}

}  // namespace

TEST_CASE("srd, rud and rudi give up G7, G8, G9 and the order of completions; rod keeps them all") {
  for (const TransportOptions& transport : kUnordered) {
    INFO(name(transport));
    const Cells cells = observed(transport);
    CHECK_FALSE(cells.g7);
    CHECK_FALSE(cells.g8);
    CHECK_FALSE(cells.g9);
    CHECK_FALSE(cells.completions);
  }
  const Cells ordered = observed(kRod);
  CHECK(ordered.g7);
  CHECK(ordered.g8);
  CHECK(ordered.g9);
  CHECK(ordered.completions);
}

TEST_CASE("a fence waits for all completions, and so restores the order of what is behind it") {
  for (const TransportOptions& transport : kUnordered) {
    INFO(name(transport));
    const Cells cells = observed(transport, true);
    CHECK(cells.g7);
    CHECK(cells.g8);
    CHECK(cells.g9);
    CHECK(cells.completions);
  }
}

TEST_CASE("message passing by two puts needs a wait between them") {
  const auto two_puts = [](const char* between) {
    return Program()
        .location("x", 2)
        .location("y", 2)
        .thread(1, "put(x, 1) as d;" + std::string(between) + "put(y, 1)")
        .thread(2, "a = y; b = x");
  };
  for (const TransportOptions& transport : kUnordered) {
    INFO(name(transport));
    CHECK(occurs(sample_hardware(two_puts(" "), weak(transport), 1, 5'000), {{"a", 1}, {"b", 0}}));
    CHECK_FALSE(occurs(sample_hardware(two_puts(" wait(d); "), weak(transport), 1, 5'000), {{"a", 1}, {"b", 0}}));
  }
  CHECK_FALSE(occurs(sample_hardware(two_puts(" "), weak(kRod), 1, 5'000), {{"a", 1}, {"b", 0}}));
}

TEST_CASE("SENDs are matched as they come, each takes one receive, and each receive is completed once") {
  for (const TransportOptions& transport : {kUnordered[0], kUnordered[1]}) {
    bool another_order = false;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
      Pair pair(weak(transport));
      std::vector<nic::Wqe> wqes;
      for (std::uint64_t i = 0; i < 4; ++i) {
        REQUIRE(pair.receive(i, 4'096 + 64 * i, 64));
        pair.system.set_word(0, pair.region[0].base + 8 * i, 100 + i);
        wqes.push_back(pair.send(8 * i, 8));
        wqes.back().with_imm = true;
        wqes.back().imm = static_cast<std::uint32_t>(i);
      }
      pair.post(wqes);
      pair.run_random(seed);
      REQUIRE(pair.statuses(0) == std::vector<Status>(4, Status::success));
      const auto received = pair.completions(1);
      REQUIRE(received.size() == 4);
      std::set<std::uint32_t> messages;
      std::set<std::uint64_t> receives;
      for (const nic::Cqe& cqe : received) {
        CHECK(pair.system.word(1, pair.region[1].base + 4'096 + 64 * cqe.wr_id) == 100 + cqe.imm);
        messages.insert(cqe.imm);
        receives.insert(cqe.wr_id);
        another_order = another_order || cqe.imm != cqe.wr_id;
      }
      CHECK(messages.size() == 4);
      CHECK(receives.size() == 4);
    }
    CHECK(another_order);
  }
}

TEST_CASE("over paths of different length, with losses and trimming, all bytes are right in the end") {
  for (const TransportOptions& transport : {kUnordered[0], kUnordered[1], kUnordered[2], kRod}) {
    for (const std::uint32_t loss : {0U, 10'000U, 100'000U}) {
      if (transport == kRod && loss > 10'000) continue;  // by going back most messages are given up
      INFO(name(transport) << " loss " << loss);
      const nic::HardwareProfile profile = with(real(), transport);
      const nic::DeliveryOperations has = nic::reliable_policy(profile).operations;
      PairOptions options = unequal_paths(fabric::Routing::ecmp, 7);
      options.network.options.loss = loss;
      Pair pair(profile, options);
      const auto content = pair.fill(0, 0, 40'000, 1);
      const auto there = pair.fill(1, 60'000, 20'000, 2);
      std::vector<nic::Wqe> wqes;
      for (std::uint64_t i = 0; i < 4; ++i) {
        wqes.push_back(pair.write(10'000 * i, 10'000 * i, 10'000));
        wqes.push_back(pair.read(60'000 + 5'000 * i, 60'000 + 5'000 * i, 5'000));
        if (!has.sends) continue;
        REQUIRE(pair.receive(i, 100'000 + 4'000 * i, 4'000));
        wqes.push_back(pair.send(0, 4'000));
      }
      pair.post(wqes);
      pair.run();
      CHECK(pair.statuses(0) == std::vector<Status>(wqes.size(), Status::success));
      CHECK((pair.bytes(1, 0, 40'000) == content));
      CHECK((pair.bytes(0, 60'000, 20'000) == there));
      for (std::uint64_t i = 0; has.sends && i < 4; ++i)
        CHECK((pair.bytes(1, 100'000 + 4'000 * i, 4'000) == std::vector(content.begin(), content.begin() + 4'000)));
    }
  }
}

TEST_CASE("a SEND that finds no receive is sent again when there is one") {
  Pair pair(with(real(), {.kind = TransportKind::uet}));
  pair.post({numbered(pair.send(0, 3'000), 1), numbered(pair.write(0, 0, 3'000), 2)});
  bool posted = false;
  pair.script(1,
              [&](nic::Cpu& cpu) {
                if (!posted) {
                  posted = true;
                  return cpu.resume_after(50_us);
                }
                REQUIRE(pair.receive(7, 8'192, 4'096));
                cpu.stop();
              },
              {});
  pair.run();
  const auto sent = pair.completions(0);
  REQUIRE(sent.size() == 2);
  CHECK(pair.statuses(0) == std::vector<Status>(2, Status::success));
  CHECK(pair.completions(1).at(0).length == 3'000);
  CHECK(pair.system.counters().rnr_naks > 0);
}

TEST_CASE("what a transport has no operation for is refused when it is posted") {
  const auto posted = [](const TransportOptions& transport, auto make) {
    Pair pair(with(real(), transport));
    REQUIRE(pair.receive(0, 0, 64));
    nic::PostResult result{};
    pair.script(0, [&](nic::Cpu& cpu) {
      const nic::Wqe wqe = make(pair);
      result = cpu.post_send(pair.qp[0], {&wqe, 1});
      cpu.stop();
    });
    pair.run();
    return result;
  };
  const auto add = [](const Pair& pair) { return pair.fetch_add(0, 0, 1); };
  const auto send = [](const Pair& pair) { return pair.send(0, 8); };
  for (const TransportOptions& transport : kUnordered) CHECK(posted(transport, add) == nic::PostResult::bad_request);
  CHECK(posted(kRod, add) == nic::PostResult::ok);
  CHECK(posted(kUnordered[2], send) == nic::PostResult::bad_request);
  CHECK(posted(kUnordered[1], send) == nic::PostResult::ok);
}

TEST_CASE("places of the send queue come free one by one, whichever completes") {
  Pair pair(weak(kUnordered[0]));
  constexpr std::uint64_t kWrites = 3'000;  // several times what the send queue holds
  std::uint64_t next = 0, done = 0;
  pair.script(0, [&](nic::Cpu& cpu) {
    std::array<nic::Cqe, 4> cqes;
    done += cpu.poll_cq(pair.cq[0], cqes);
    if (next < kWrites && cpu.store_buffer_full()) return cpu.resume_after(sim::Duration{});
    if (next < kWrites) {
      nic::Wqe wqe = pair.write(0, 8 * (next % 64));
      wqe.signaled = next % 3 != 0 || next + 1 == kWrites;
      if (cpu.post_send(pair.qp[0], {&wqe, 1}) == nic::PostResult::ok) ++next;
      return cpu.resume_after(sim::Duration{});
    }
    if (done == kWrites - (kWrites + 2) / 3) return cpu.stop();
    cpu.pause({});
  });
  pair.run_random(3);
  CHECK(next == kWrites);
  CHECK(done == kWrites - (kWrites + 2) / 3);
}

TEST_CASE("learned entropies: those with a bad last answer are left out until all are") {
  const nic::DeliveryPaths paths{.entropies = 4, .choice = EntropyChoice::learned};
  nic::Entropies entropies;
  std::set<std::uint32_t> all;
  for (int i = 0; i < 4; ++i) all.insert(entropies.next(paths, 1));
  CHECK(all.size() == 4);
  entropies.answered(paths, 1, false);
  entropies.answered(paths, 2, false);
  for (int i = 0; i < 8; ++i) {
    const std::uint32_t entropy = entropies.next(paths, 1);
    CHECK((entropy == 0 || entropy == 3));
  }
  entropies.answered(paths, 2, true);
  all.clear();
  for (int i = 0; i < 3; ++i) all.insert(entropies.next(paths, 1));
  CHECK(all == std::set<std::uint32_t>{0, 2, 3});
  for (const std::uint32_t bad : {0U, 2U, 3U}) entropies.answered(paths, bad, false);
  all.clear();
  for (int i = 0; i < 4; ++i) all.insert(entropies.next(paths, 1));
  CHECK(all.size() == 4);
}

// --- a transport of their own (SystemConfig::transports) -------------------------------------------------------------

namespace {

nic::SystemConfig with_own(const TransportOptions& own) {
  nic::SystemConfig config{.profile = profile_file("cx5-roce-100g"), .nodes = 2, .timed = true, .timers = true};
  config.transports = {own};
  return config;
}

/// Two queue pairs of these transports, connected.
nic::QpId connected(nic::System& system, std::uint8_t first, std::uint8_t second) {
  const auto end = [&](nic::NodeId node, std::uint8_t transport) {
    return system.create_qp(node, {.send_cq = system.create_cq(node, 8), .send_entries = 8, .transport = transport});
  };
  const nic::QpId one = end(0, first), other = end(1, second);
  system.connect(one, other);
  return one;
}

}  // namespace

TEST_CASE("queue pairs of one machine have transports of their own, both ends the same") {
  nic::System system(with_own({.kind = TransportKind::uet, .mode = UetMode::rudi}));
  const nic::QpId rc = connected(system, 0, 0), rudi = connected(system, 1, 1);
  nic::Wqe send{.opcode = nic::Opcode::send};
  std::vector<nic::PostResult> posted;
  system.create_thread(0);
  Scripts scripts;
  scripts.steps.emplace_back([&](nic::Cpu& cpu) {
    for (const nic::QpId qp : {rc, rudi}) posted.push_back(cpu.post_send(qp, {&send, 1}));
    cpu.stop();
  });
  nic::Context context{scripts};
  while (posted.empty()) REQUIRE(system.step(context));
  CHECK(posted == std::vector{nic::PostResult::ok, nic::PostResult::bad_request});  // rudi has no SENDs
  CHECK_THROWS_AS(connected(system, 0, 1), std::invalid_argument);
  CHECK_THROWS_AS(connected(system, 2, 2), std::invalid_argument);  // there is one
}

TEST_CASE("a transport of its own that does not fit is refused") {
  CHECK_THROWS_AS(nic::System(with_own({.kind = TransportKind::rc, .mode = UetMode::rod})), std::invalid_argument);
  nic::SystemConfig flow = with_own({.kind = TransportKind::uet, .mode = UetMode::rod});
  flow.network.model = fabric::Model::flow;
  CHECK_THROWS_AS(nic::System(flow), std::invalid_argument);
  nic::SystemConfig ports = with_own({.kind = TransportKind::uet});
  ports.topology = fabric::Topology::shaped;
  ports.network.shape = fabric::topology::Custom{.hosts = 2, .switches = 2, .edges = {{0, 2}, {0, 3}, {1, 2}, {1, 3}}};
  ports.network.options.routing = fabric::Routing::spray;
  nic::System two_ports(ports);
  CHECK_THROWS_AS(connected(two_ports, 0, 0), std::invalid_argument);
}
