// Requests whose packets are trimmed (docs/fabric.md, "Trimming"; docs/transports.md): they back off, and one that
// never gets through is given up.
#include <map>

#include "pair.hpp"
#include "random_network.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::test;
using nic::Status;

namespace {

/// When long packets of the first host leave, and how its work requests have ended.
class Departures : public nic::Observer {
 public:
  std::vector<sim::SimTime> times;
  std::map<std::uint64_t, Status> statuses;
  [[nodiscard]] bool follows_accesses() const override { return false; }
  void on_packet(nic::PacketStep step, const fabric::Packet& packet, sim::SimTime at) override {
    if (step == nic::PacketStep::sent && packet.source == nic::PortId(0) && packet.length > kFits) times.push_back(at);
  }
  void on_cqe(nic::NodeId, nic::CqId, const nic::Cqe& cqe, sim::SimTime) override { statuses[cqe.wr_id] = cqe.status; }
  static constexpr std::uint32_t kFits = 2'000;  ///< bytes of payload
};

/// Two hosts at a switch that trims whatever is longer than half of its buffer, also when that is empty.
PairOptions narrow() {
  PairOptions options;
  options.topology = fabric::Topology::shaped;
  options.network.shape = fabric::topology::Star{.nodes = 2};
  fabric::Options& o = options.network.options;
  o.flow_control = fabric::FlowControl::drop_tail;
  o.buffer_size = sim::Bytes{6'000};
  o.buffer_alpha = 500;
  o.variation = fabric::Variation::none;
  o.trim = true;
  return options;
}

nic::HardwareProfile unordered(nic::HardwareProfile profile, std::uint32_t retries) {
  profile.transport = {.kind = nic::TransportKind::uet};
  profile.link_mtu = sim::Bytes{4'096};
  profile.nic_ack_timeout = kTimeout;
  profile.nic_jitter = {};
  profile.nic_retry_count = retries;
  return profile;
}

Departures departures(Pair& pair, const std::vector<nic::Wqe>& wqes) {
  Departures seen;
  pair.post(wqes);
  nic::Context context{pair.scripts, &seen};
  for (std::uint64_t events = 0; pair.system.step(context); ++events) REQUIRE(events < 100'000);
  return seen;
}

}  // namespace

TEST_CASE("what is trimmed again waits for one round trip, then two, then four") {
  Pair pair(unordered(real(), 1), narrow());
  const auto sent = departures(pair, {pair.write(0, 0, 4'000)}).times;
  REQUIRE(sent.size() > 6);
  // The first repetition leaves with the news that it is needed: a round trip behind the packet. The n-th one waits for
  // 2^(n-2) round trips more, as long as that is less than a time-out, 100 us.
  const sim::Duration trip = sent[1] - sent[0];
  CHECK(trip > 1_us);
  CHECK(trip < 6_us);
  for (std::size_t n = 2; n < 6; ++n) {
    INFO("repetition " << n);
    CHECK((sent[n] - sent[n - 1]).ps == trip.ps * (1 + (std::int64_t{1} << (n - 2))));
  }
}

TEST_CASE("a packet that no buffer on its way has room for is given up, whatever others get through") {
  for (const char* hardware : {"cx6-ib-hdr", "cx5-roce-100g"}) {  // the second with time-outs that adapt
    INFO(hardware);
    Pair pair(unordered(profile_file(hardware), 2), narrow());
    std::vector<nic::Wqe> wqes;
    for (std::uint64_t i = 0; i < 4; ++i) wqes.push_back(numbered(pair.write(0, 8'000 * i, 1'000), i));
    wqes.push_back(numbered(pair.write(0, 40'000, 4'000), 4));
    Departures seen = departures(pair, wqes);
    // Without back-off it leaves once in a round trip of 2 us, 525 times in a time-out.
    CHECK(seen.times.size() < 120);
    REQUIRE(seen.statuses.size() == 5);
    for (std::uint64_t i = 0; i < 4; ++i) CHECK(seen.statuses[i] == Status::success);
    CHECK(seen.statuses[4] == Status::retry_exc_err);
  }
}

TEST_CASE("random networks with packets that are too long for a switch which trims come to an end") {
  for (const std::uint64_t seed : {15'754U, 19'631U}) {
    INFO("LOCO_SIM_SEED=" << seed);
    const TrafficOutcome outcome = run_traffic(random_network(seed), seed);
    CHECK(outcome.wrong == "");
    CHECK(outcome.failed > 0);
  }
}
