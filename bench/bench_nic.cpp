// Operations through the whole NIC and PCIe path, a wall second: one queue pair, 16 outstanding, profile defaults with
// a real network, witness off.
#include <array>
#include <benchmark/benchmark.h>

#include "nic_model/system.hpp"

using namespace loco;

namespace {

nic::HardwareProfile profile() {
  nic::HardwareProfile p;
  p.link_ideal = false;
  p.link_rate = sim::BitsPerSecond{100'000'000'000};
  p.link_delay = sim::Duration{50'000};
  p.pcie_rate = sim::BitsPerSecond{113'700'000'000};
  p.pcie_mps = sim::Bytes{256};
  p.pcie_read_completion = sim::Bytes{256};
  p.pcie_upstream = p.pcie_downstream = sim::Duration{100'000};
  p.pcie_read_access = sim::Duration{150'000};
  return p;
}

/// Keeps 16 operations outstanding until `left` are posted.
struct Poster : nic::ThreadRunner {
  nic::QpId qp = 0;
  nic::CqId cq = 0;
  nic::Wqe wqe;
  std::uint64_t left = 0;
  std::uint32_t outstanding = 0;

  void run(nic::Cpu& cpu) override {
    std::array<nic::Cqe, 16> cqes;
    outstanding -= static_cast<std::uint32_t>(cpu.poll_cq(cq, cqes));
    for (; left > 0 && outstanding < 16; ++outstanding, --left) cpu.post_send(qp, {&wqe, 1});
    if (left == 0 && outstanding == 0) return cpu.stop();
    cpu.pause({});
  }
};

void operations(benchmark::State& state, nic::Opcode opcode, std::uint32_t length, std::uint32_t loss) {
  fabric::Config network;
  network.options.loss = loss;
  nic::HardwareProfile p = profile();
  nic::System system(
      {.profile = p, .topology = fabric::Topology::star, .network = network, .nodes = 2, .timers = true});
  constexpr std::uint64_t kBytes = 1U << 20U;
  const auto local = system.register_memory(0, system.allocate(0, kBytes), kBytes);
  const auto remote = system.register_memory(1, system.allocate(1, kBytes), kBytes);
  Poster poster;
  poster.cq = system.create_cq(0, 1024);
  poster.qp = system.create_qp(0, poster.cq, 64, 0);
  system.connect(poster.qp, system.create_qp(1, system.create_cq(1, 1), 1));
  poster.wqe = {.opcode = opcode,
                .length = length,
                .lkey = local.lkey,
                .rkey = remote.rkey,
                .local = local.base,
                .remote = remote.base,
                .compare_add = 1};
  const nic::ThreadId thread = system.create_thread(0);
  nic::Context context{poster};
  std::uint64_t done = 0;
  constexpr std::uint64_t kBatch = 10'000;
  for (auto _ : state) {
    poster.left = length > 65'536 ? kBatch / 100 : kBatch;
    done += poster.left;
    system.wake(thread, system.now());
    while (system.step(context)) {
    }
  }
  state.counters["operations/s"] = benchmark::Counter(static_cast<double>(done), benchmark::Counter::kIsRate);
  state.counters["packets/s"] =
      benchmark::Counter(static_cast<double>(system.counters().packets_sent), benchmark::Counter::kIsRate);
}

BENCHMARK_CAPTURE(operations, write_8, nic::Opcode::rdma_write, 8, 0);
BENCHMARK_CAPTURE(operations, read_8, nic::Opcode::rdma_read, 8, 0);
BENCHMARK_CAPTURE(operations, fetch_add, nic::Opcode::fetch_add, 8, 0);
BENCHMARK_CAPTURE(operations, write_1MiB, nic::Opcode::rdma_write, 1U << 20U, 0);
BENCHMARK_CAPTURE(operations, write_8_with_timers, nic::Opcode::rdma_write, 8, 1);

}  // namespace

BENCHMARK_MAIN();
