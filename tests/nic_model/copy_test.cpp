// State is a value (docs/machine.md, law 6): a copied system goes on as the original does, and compares equal.
#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "nic_model/state.hpp"
#include "rig.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::test;

namespace {

/// A thread of each node stores, posts writes, reads and atomics, and polls: a value, so that it can be copied too.
struct Traffic : nic::ThreadRunner {
  std::array<nic::MemoryRegion, 2> region{};
  std::array<nic::QpId, 2> qp{};
  std::array<nic::CqId, 2> cq{};
  std::array<int, 2> step{};
  int steps = 200;

  void run(nic::Cpu& cpu) override {
    const std::size_t me = cpu.thread();
    const nic::MemoryRegion& mine = region[me];
    const nic::MemoryRegion& theirs = region[1 - me];
    const int n = step[me]++;
    if (n == steps) return cpu.stop();
    const std::uint64_t at = 8 * (static_cast<std::uint64_t>(n) * 7 % 64);
    std::array<nic::Cqe, 4> cqes;
    switch (n % 5) {
      case 0:
        if (cpu.store_buffer_full()) return cpu.resume_when_room();
        cpu.store(mine.base + at, static_cast<std::uint64_t>(n));
        break;
      case 1:
      case 2:
      case 3: {
        const nic::Opcode op = n % 5 == 1   ? nic::Opcode::rdma_write
                               : n % 5 == 2 ? nic::Opcode::rdma_read
                                            : nic::Opcode::fetch_add;
        const std::uint32_t length = op == nic::Opcode::fetch_add ? 8 : 8 + static_cast<std::uint32_t>(n % 3) * 1000;
        const nic::Wqe wqe{.wr_id = static_cast<std::uint64_t>(n),
                           .opcode = op,
                           .length = length,
                           .lkey = mine.lkey,
                           .rkey = theirs.rkey,
                           .local = mine.base + at,
                           .remote = theirs.base + at,
                           .compare_add = 1};
        cpu.post_send(qp[me], {&wqe, 1});
        break;
      }
      default:
        cpu.poll_cq(cq[me], cqes);
    }
    cpu.resume_after(50_ns);
  }
};

struct Setup {
  nic::System system;
  Traffic traffic;
};

Setup traffic(const nic::HardwareProfile& profile) {
  Setup s{nic::System({.profile = profile, .topology = fabric::Topology::star, .nodes = 2, .witness = true}), {}};
  for (nic::NodeId node = 0; node < 2; ++node) {
    s.traffic.region[node] = s.system.register_memory(node, s.system.allocate(node, 8192), 8192);
    s.traffic.cq[node] = s.system.create_cq(node, 4096);
    s.traffic.qp[node] = s.system.create_qp(node, s.traffic.cq[node], 1024, s.system.create_thread(node));
  }
  s.system.connect(s.traffic.qp[0], s.system.create_qp(1, s.traffic.cq[1], 1));
  s.system.connect(s.traffic.qp[1], s.system.create_qp(0, s.traffic.cq[0], 1));
  return s;
}

void run_random(nic::System& system, nic::Context& context, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  while (!system.idle()) system.step(context, random() % system.pending_events());
}

}  // namespace

TEST_CASE("a running system is copied; both copies finish and are equal, to each other and to an undisturbed run") {
  const std::string name = GENERATE("cx5-roce-25g", "model-weak");
  Setup undisturbed = traffic(profile_file(name));
  nic::Context context{undisturbed.traffic};
  while (undisturbed.system.step(context)) {
  }
  REQUIRE(undisturbed.system.counters().events > 1000);

  Setup original = traffic(profile_file(name));
  nic::Context first{original.traffic};
  for (std::uint64_t i = 0; i < undisturbed.system.counters().events / 2; ++i) original.system.step(first);
  Setup copy = original;
  CHECK(copy.system == original.system);
  CHECK(copy.system.behaviour_hash() == original.system.behaviour_hash());
  nic::Context second{copy.traffic};
  original.system.step(first);
  CHECK_FALSE(copy.system == original.system);
  copy.system.step(second);
  CHECK(copy.system == original.system);
  while (original.system.step(first)) {
  }
  CHECK_FALSE(copy.system == original.system);  // the copy stood still
  while (copy.system.step(second)) {
  }
  CHECK(copy.system == original.system);
  CHECK(copy.system == undisturbed.system);
}

TEST_CASE("watching a run does not change it, and neither does the witness") {
  Setup unseen = traffic(real());
  Setup seen = unseen;
  nic::Context plain{unseen.traffic};
  Recorder recorder;
  nic::Context watched{seen.traffic, &recorder};
  while (unseen.system.step(plain)) {
  }
  while (seen.system.step(watched)) {
  }
  CHECK(seen.system == unseen.system);
  CHECK(recorder.subevents.size() == seen.system.subevents());
}

TEST_CASE("the recorded witness is what memory did: values, sources and overwritten writes fit together") {
  const std::uint64_t seed = GENERATE(1U, 2U, 3U, 4U, 5U);
  nic::HardwareProfile weak = profile_file("model-weak");
  weak.nic_atomic_cap =
      nic::AtomicCap::hca;  // the root complex's atomics write at once: nothing of them finishes later
  Setup s = traffic(weak);
  Recorder recorder;
  nic::Context context{s.traffic, &recorder};
  run_random(s.system, context, seed);
  std::map<nic::SubeventId, std::uint64_t> value{{0, 0}};
  std::map<std::pair<nic::NodeId, nic::Address>, nic::SubeventId> last;
  std::map<nic::SubeventId, const nic::Subevent*> by_id;
  for (const nic::Subevent& e : recorder.subevents) by_id[e.id] = &e;
  for (const nic::Subevent& e : recorder.subevents) value[e.id] = e.value;
  std::size_t reads = 0;
  for (const nic::Subevent& e : recorder.subevents) {
    const bool is_read = e.stamp == nic::Stamp::aCR || e.stamp == nic::Stamp::aNLR || e.stamp == nic::Stamp::aNRR;
    if (!is_read) continue;
    ++reads;
    CHECK(value.at(e.source) == e.value);
    if (e.source != 0) CHECK(by_id.at(e.source)->address == e.address);
  }
  CHECK(reads > 100);
  std::vector<nic::SubeventFinish> writes = recorder.finishes;
  std::set<nic::SubeventId> finished;
  for (const nic::SubeventFinish& f : writes) finished.insert(f.id);
  for (const nic::Subevent& e : recorder.subevents) {  // writes of atomics that are one step with their read
    const bool is_write = e.stamp == nic::Stamp::aCAS || e.stamp == nic::Stamp::aNRW || e.stamp == nic::Stamp::aNLW;
    if (!is_write || finished.contains(e.id)) continue;
    writes.push_back({.id = e.id, .overwrote = e.overwrote, .value = e.value, .seq = e.seq, .at = e.at});
  }
  std::ranges::sort(writes, {}, &nic::SubeventFinish::seq);  // the order in which memory changed
  for (const nic::SubeventFinish& f : writes) {
    const nic::Subevent& e = *by_id.at(f.id);
    auto& before = last[{e.home, e.address}];
    CHECK(f.overwrote == before);
    CHECK(f.value == e.value);  // whole words only, in this test
    before = f.id;
  }
  for (const auto& [where, id] : last) CHECK(s.system.word(where.first, where.second) == value.at(id));
}

TEST_CASE("what a READ that may be executed again has found so far is part of the state") {
  const nic::SystemConfig config{.profile = real()};
  const nic::State without(config);
  nic::State with(config);
  CHECK(with == without);
  with.tracks.place_once(with.tracks.begin(), 2, 1);
  CHECK_FALSE(with == without);
}
