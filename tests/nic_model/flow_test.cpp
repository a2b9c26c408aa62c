// The flow model's messages at NICs that drop them: what was announced and is not sent leaves nothing in the network.
//
// 4 MiB take 1.3 ms at 25 Gb/s and 0.5 ms on PCIe: for that long a message has been announced and not been sent.
#include <sstream>

#include "fabric/flow/child.hpp"
#include "fabric/flow/flow_clock.hpp"
#include "pair.hpp"
#include "tests/catch.hpp"

using namespace loco;
using namespace loco::test;
using nic::ModifyResult;
using nic::QpState;

namespace {

constexpr std::uint32_t kLarge = 4U << 20U;

class Client final : public fabric::FlowClient {
 public:
  explicit Client(Pair& pair) : pair_(pair) {}
  std::optional<sim::SimTime> next_time() override {
    if (pair_.system.idle()) return std::nullopt;
    return pair_.system.next_time();
  }
  void step() override { pair_.step(); }
  std::optional<fabric::FlowStart> take_start() override { return pair_.system.take_start(); }
  void ended(std::uint32_t lane, sim::SimTime now, const fabric::FlowEnd& end) override {
    pair_.system.flow_ended(lane, now, end);
  }

 private:
  Pair& pair_;
};

enum class Model : bool { packet, flow };

PairOptions on(Model model) {
  PairOptions options;
  options.network.model = model == Model::flow ? fabric::Model::flow : fabric::Model::packet;
  options.size = 2 * std::uint64_t{kLarge};
  return options;
}

void run(Pair& pair, Model model) {
  if (model == Model::packet) return pair.run();
  fabric::FlowClock network(pair.system.network().config());
  Client client(pair);
  network.run(client);
}

/// When the CQEs of a pair were written, in picoseconds, after `prepare`; and that nothing is left in the network.
std::vector<std::int64_t> cqes_after(const std::function<void(Pair&)>& prepare, Model model = Model::flow) {
  const auto work = [&] {
    Pair pair(real(), on(model));
    prepare(pair);
    run(pair, model);
    std::ostringstream out;
    out << pair.system.network().packets_inside();
    for (const Recorder::Completed& c : pair.recorder.cqes) out << ' ' << c.at.ps;
    return out.str();
  };
  std::string answer;
  REQUIRE(fabric::run_in_child(work, {}, answer));  // SimGrid runs once in a process
  std::istringstream in(answer);
  std::size_t inside = 1;
  in >> inside;
  CHECK(inside == 0);
  std::vector<std::int64_t> times;
  for (std::int64_t ps = 0; in >> ps;) times.push_back(ps);
  REQUIRE(!times.empty());
  return times;
}

std::int64_t last_cqe(const std::function<void(Pair&)>& prepare, Model model = Model::flow) {
  return cqes_after(prepare, model).back();
}

/// At 100 us the connection is made anew; at 300 us a word is written.
void begin_anew(Pair& pair) {
  pair.script(
      0,
      [&pair](nic::Cpu& cpu) {
        pair.reset();
        pair.bring_up({});
        cpu.stop();
      },
      sim::SimTime{} + 100_us);
  pair.script(
      0,
      [&pair](nic::Cpu& cpu) {
        CHECK(cpu.post_send(pair.qp[0], std::array{pair.write(0, 0)}) == nic::PostResult::ok);
        cpu.stop();
      },
      sim::SimTime{} + 300_us);
}

}  // namespace

TEST_CASE("flows: a message that a RESET drops does not hold up the next one of its queue pair") {
  if (!fabric::has_flow_model()) return;
  const std::int64_t alone = last_cqe(begin_anew);
  REQUIRE(alone < (310_us).ps);
  SECTION("a WRITE, at its requester") {
    CHECK(last_cqe([](Pair& pair) {
            pair.post({pair.write(0, 0, kLarge)});
            begin_anew(pair);
          }) <= alone);  // sooner: the NIC has the context already
  }
  SECTION("a second one, whose flow has not begun") {
    CHECK(last_cqe([](Pair& pair) {
            pair.post({pair.write(0, 0, 1U << 18U), pair.write(0, 0, kLarge)});
            begin_anew(pair);
          }) < alone + (100_us).ps);  // 256 KiB, 84 us, are on their way
  }
  SECTION("the answer of a READ, at its responder: the answer of the next READ") {
    const auto read_anew = [](Pair& pair) {
      begin_anew(pair);
      pair.scripts.steps.back() = [&pair](nic::Cpu& cpu) {
        CHECK(cpu.post_send(pair.qp[0], std::array{pair.read(0, 0)}) == nic::PostResult::ok);
        cpu.stop();
      };
    };
    CHECK(last_cqe([&](Pair& pair) {
            pair.post({pair.read(0, 0, kLarge)});
            read_anew(pair);
          }) <= last_cqe(read_anew));
  }
}

TEST_CASE("flows: a message that an ERROR drops takes nothing of the links from then on") {
  if (!fabric::has_flow_model()) return;
  // Two queue pairs of one NIC, one WRITE each: were both to go on, they would share the link to their end.
  const auto run = [](Model model) {
    return static_cast<double>(last_cqe(
        [](Pair& pair) {
          const nic::QpId other = pair.system.create_qp(0, pair.cq[0], 16);
          pair.system.connect(other, pair.system.create_qp(1, pair.cq[1], 16));
          pair.post({pair.write(0, 0, kLarge)}, other);
          pair.post({pair.write(0, 0, kLarge)});
          pair.script(
              0,
              [&pair, other](nic::Cpu& cpu) {
                CHECK(pair.system.modify_qp(other, QpState::error) == ModifyResult::ok);
                cpu.stop();
              },
              sim::SimTime{} + 100_us);
        },
        model));
  };
  CHECK(run(Model::flow) > 0.98 * run(Model::packet));
  CHECK(run(Model::flow) < 1.02 * run(Model::packet));
}

TEST_CASE("flows: a SEND that is repeated does not wait for the message behind it that was announced") {
  if (!fabric::has_flow_model()) return;
  const std::int64_t received = cqes_after([](Pair& pair) {
                                  pair.reset();
                                  pair.bring_up({.rnr_retry = 7, .min_rnr_timer = 20_us});
                                  pair.post({pair.send(0, 8), pair.write(0, 0, kLarge)});
                                  pair.script(
                                      1,
                                      [&pair](nic::Cpu& cpu) {
                                        CHECK(pair.receive(1, 0, 8));
                                        cpu.stop();
                                      },
                                      sim::SimTime{} + 10_us);
                                }).front();
  CHECK(received < (50_us).ps);  // refused in the first 10 us, repeated 20 us later
}

TEST_CASE("flows: what a NIC sends to itself passes no network, and takes as long as with packets") {
  if (!fabric::has_flow_model()) return;
  const nic::Opcode opcode = GENERATE(nic::Opcode::rdma_write, nic::Opcode::rdma_read);
  const auto to_itself = [&](Pair& pair) {
    const auto new_qp = [&] { return pair.system.create_qp(0, {.send_cq = pair.cq[0], .send_entries = 8}); };
    const nic::QpId near = new_qp(), far = new_qp();
    pair.system.connect(near, far);
    nic::Wqe wqe = pair.write(0, 0, kLarge);
    wqe.opcode = opcode;
    wqe.rkey = wqe.lkey;
    wqe.remote = wqe.local + kLarge;
    pair.post({wqe}, near);
  };
  CHECK(cqes_after(to_itself) == cqes_after(to_itself, Model::packet));
}
