// Verbs as blocking code: a hop of a token in closed form, threads that wait for ever are named, refusals are told.
#include <array>
#include <vector>

#include "loco_sim/verbs/machine.hpp"
#include "tests/catch.hpp"
#include "tests/loco_sim/transport/stages.hpp"

using namespace loco;
using namespace loco::test;
using namespace loco::sim::literals;
using verbs::Machine;
using verbs::Thread;

namespace {

/// Hosts of a star, each connected to each other one by one queue pair, with a page of memory and one completion queue
/// for sends and one for receives.
struct Hosts {
  explicit Hosts(std::uint32_t count, const nic::HardwareProfile& profile = round_profile())
      : machine({.profile = profile, .nodes = count}) {
    nic::System& system = machine.system();
    for (nic::NodeId n = 0; n < count; ++n) {
      memory.push_back(system.register_memory(n, system.allocate(n, 4096), 4096));
      sends.push_back(system.create_cq(n, 64));
      receives.push_back(system.create_cq(n, 64));
      qp.emplace_back(count);
    }
    for (nic::NodeId a = 0; a < count; ++a) {
      for (nic::NodeId b = 0; b < a; ++b) {
        qp[a][b] = create(a);
        qp[b][a] = create(b);
        system.connect(qp[a][b], qp[b][a]);
      }
    }
  }
  nic::QpId create(nic::NodeId n) {
    return machine.system().create_qp(
        n, {.send_cq = sends[n], .recv_cq = receives[n], .send_entries = 2, .recv_entries = 2});
  }
  /// Writes the first word of `from` behind that of `to`.
  [[nodiscard]] nic::Wqe write(nic::NodeId from, nic::NodeId to) const {
    return {
        .lkey = memory[from].lkey, .rkey = memory[to].rkey, .local = memory[from].base, .remote = memory[to].base + 8};
  }

  Machine machine;
  std::vector<nic::MemoryRegion> memory;
  std::vector<nic::CqId> sends, receives;
  std::vector<std::vector<nic::QpId>> qp;
};

}  // namespace

TEST_CASE("a hop of a token by writes with immediate data is the sum of its stages") {
  constexpr std::uint32_t kHosts = 5, kLaps = 40;
  Hosts hosts(kHosts);
  sim::SimTime first, last;
  for (nic::NodeId n = 0; n < kHosts; ++n) {
    const nic::NodeId before = (n + kHosts - 1) % kHosts, next = (n + 1) % kHosts;
    hosts.machine.system().post_recv(hosts.qp[n][before], {});
    hosts.machine.spawn(n, [&, n, before, next](Thread& thread) {
      const auto send = [&](std::uint32_t token) {
        thread.store(hosts.memory[n].base, token);
        nic::Wqe wqe = hosts.write(n, next);
        wqe.with_imm = true;
        wqe.imm = token;
        thread.post_send(hosts.qp[n][next], wqe);
      };
      if (n == 0) send(1);
      for (std::uint32_t lap = 0; lap < kLaps; ++lap) {
        const nic::Cqe token = thread.wait_cq(hosts.receives[n]);
        CHECK(token.opcode == nic::Opcode::recv_rdma_with_imm);
        CHECK(token.imm == lap * kHosts + (n == 0 ? kHosts : n));
        CHECK(thread.load(hosts.memory[n].base + 8) == token.imm);
        if (n == 0) (lap == 0 ? first : last) = thread.now();
        thread.post_recv(hosts.qp[n][before], {});
        if (n != 0 || lap + 1 < kLaps) send(token.imm + 1);
        CHECK(thread.wait_cq(hosts.sends[n]).status == nic::Status::success);
      }
    });
  }
  hosts.machine.run();

  const Stages s{round_profile()};
  const nic::HardwareProfile& p = s.p;
  constexpr sim::Bytes kImmediate{4};
  const sim::Duration program = p.cpu_poll_cqe + p.cpu_load + p.cpu_store + p.cpu_store + p.cpu_post_wqe;
  const sim::Duration machine = s.launch() + s.read_request() + s.read_data(Stages::kWord) +
                                s.packet(Stages::kReth + kImmediate, Stages::kWord) +
                                s.pcie(p.pcie_write_header + Stages::kWord) + p.nic_cqe + s.write(p.nic_cqe_bytes);
  const std::int64_t hop_ps = (last - first).ps / (kHosts * (kLaps - 1));
  CHECK(hop_ps >= (program + machine).ps);
  CHECK(hop_ps <= (program + machine + p.cpu_poll_empty).ps);  // the poll that finds it may have to begin first
}

TEST_CASE("a word that another host writes ends the wait for it") {
  Hosts hosts(2);
  hosts.machine.spawn(0, [&](Thread& thread) {
    thread.compute(5_us);
    thread.store(hosts.memory[0].base, 42);
    thread.post_send(hosts.qp[0][1], hosts.write(0, 1));
    CHECK_FALSE(thread.poll_cq(hosts.sends[0]).has_value());
    CHECK(thread.wait_cq(hosts.sends[0]).opcode == nic::Opcode::rdma_write);
  });
  std::uint64_t seen = 0;
  sim::SimTime at;
  hosts.machine.spawn(1, [&](Thread& thread) {
    seen = thread.wait_for_change(hosts.memory[1].base + 8, 0);
    at = thread.now();
  });
  hosts.machine.run();
  CHECK(seen == 42);
  CHECK(at.ps > 5'000'000);
}

TEST_CASE("threads that wait for ever are named, with what they wait for") {
  Hosts hosts(2);
  hosts.machine.spawn(0, [&](Thread& thread) { thread.store(hosts.memory[0].base, 1); });
  hosts.machine.spawn(1, [&](Thread& thread) { (void)thread.wait_cq(hosts.receives[1]); });
  CHECK_THROWS_WITH(hosts.machine.run(),
                    "nothing is left to happen: thread 1 of host 1 waits for a completion in "
                    "completion queue 3");
}

TEST_CASE("requests that are not taken throw, and what a program throws comes out of run") {
  const auto run = [](const std::function<void(Hosts&, Thread&)>& program) {
    Hosts hosts(2);
    hosts.machine.spawn(0, [&](Thread& thread) { program(hosts, thread); });
    hosts.machine.spawn(1, [&](Thread& thread) { (void)thread.wait_for_change(hosts.memory[1].base, 0); });
    hosts.machine.run();
  };
  CHECK_THROWS_WITH(run([](Hosts& hosts, Thread& thread) {
                      for (int i = 0; i < 3; ++i) thread.post_send(hosts.qp[0][1], hosts.write(0, 1));
                    }),
                    contains_text("is full: poll its completions"));
  CHECK_THROWS_WITH(run([](Hosts& hosts, Thread& thread) { thread.post_send(hosts.create(0), hosts.write(0, 1)); }),
                    contains_text("does not take this request"));
  CHECK_THROWS_WITH(run([](Hosts& hosts, Thread& thread) {
                      for (int i = 0; i < 3; ++i) thread.post_recv(hosts.qp[0][1], {});
                    }),
                    contains_text("takes no more receives"));
  CHECK_THROWS_WITH(run([](Hosts&, Thread&) { throw std::runtime_error("mine"); }), "mine");
}
