// Bare DMA between a device and its host's memory, as in pcie-bench (Neugebauer et al., SIGCOMM 2018).
#include <algorithm>

#include "loco_sim/perf/bench.hpp"

namespace loco::perf {

namespace {

/// Runs until `count` DMAs of node 0 are done.
void wait_for(Bench& bench, std::uint64_t count) {
  while (bench.system().dma_done(0) < count && bench.step()) {
  }
}

/// The address of the next DMA: goes through the region page by page, so that an IOMMU sees all of it.
struct Walk {
  nic::MemoryRegion region;
  std::uint64_t size = 0;
  std::uint64_t next = 0;

  nic::Address operator()() {
    const std::uint64_t stride = std::max((size + kPage - 1) / kPage * kPage, kPage);
    const std::uint64_t places = std::max<std::uint64_t>(region.size / stride, 1);
    return region.base + next++ % places * stride;
  }
};

}  // namespace

Result dma_latency(const Options& o) {
  Bench bench(o);
  nic::System& system = bench.system();
  Walk walk{.region = bench.memory(0, std::max(o.region, (o.size + kPage - 1) / kPage * kPage)), .size = o.size};
  const auto bytes = static_cast<std::uint32_t>(o.size);
  std::vector<std::int64_t> samples;
  std::uint64_t done = 0;
  for (std::uint32_t i = 0; i < o.iterations; ++i) {
    const sim::SimTime start = system.now();
    const nic::Address address = walk();
    if (o.test == Test::dma_write_read_lat) {
      system.dma_write(0, walk.region, address, bytes);
      ++done;
    }
    system.dma_read(0, walk.region, address, bytes);
    wait_for(bench, ++done);
    samples.push_back((system.now() - start).ps);
  }
  Result result{.size = o.size, .iterations = o.iterations};
  summarise(std::move(samples), result);
  return result;
}

Result dma_bandwidth(const Options& o) {
  Bench bench(o);
  nic::System& system = bench.system();
  Walk walk{.region = bench.memory(0, std::max(o.region, (o.size + kPage - 1) / kPage * kPage)), .size = o.size};
  const auto bytes = static_cast<std::uint32_t>(o.size);
  const sim::SimTime start = system.now();
  for (std::uint32_t i = 0; i < o.iterations; ++i) {
    if (i >= o.depth) wait_for(bench, i - o.depth + 1);
    const nic::Address address = walk();
    if (o.test == Test::dma_read_bw) {
      system.dma_read(0, walk.region, address, bytes);
    } else {
      system.dma_write(0, walk.region, address, bytes);
    }
  }
  wait_for(bench, o.iterations);
  Result result{.size = o.size, .iterations = o.iterations};
  result.rate = static_cast<double>(o.iterations) / (system.now() - start).seconds();
  result.average = result.peak = result.rate * static_cast<double>(o.size);
  result.busiest = system.usage(system.now() - start, kBusiestMax);
  return result;
}

}  // namespace loco::perf
