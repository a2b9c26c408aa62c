#include "loco_sim/run/flow_report.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <numeric>
#include <span>

namespace loco {

using workloads::flows::FlowRecord;
using workloads::flows::kNever;

double slowdown(const FlowRecord& flow, FlowsEnd end, bool at_least_one) {
  const std::int64_t last = end == FlowsEnd::received ? flow.received_ps : flow.completed_ps;
  if (last == kNever || flow.ideal_ps <= 0) return -1;
  const double times = static_cast<double>(last - flow.start_ps) / static_cast<double>(flow.ideal_ps);
  return at_least_one ? std::max(1.0, times) : times;
}

std::vector<SlowedFlow> ended(const std::vector<FlowRecord>& flows, FlowsEnd end, bool at_least_one) {
  std::vector<SlowedFlow> all;
  for (const FlowRecord& flow : flows)
    if (const double s = slowdown(flow, end, at_least_one); s >= 0) all.push_back({flow.bytes, s});
  return all;
}

namespace {
/// The bin of flows that are sorted by size. Precondition: there is at least one.
SlowdownBin bin_of(std::span<const SlowedFlow> flows) {
  std::vector<double> times;
  for (const SlowedFlow& flow : flows) times.push_back(flow.slowdown);
  std::ranges::sort(times);
  const auto at = [&](std::size_t thousandths) { return times[times.size() * thousandths / 1000]; };
  const double sum = std::accumulate(times.begin(), times.end(), 0.0);
  return {.flows = times.size(),
          .largest = flows.back().bytes,
          .mean = sum / static_cast<double>(times.size()),
          .p50 = at(500),
          .p95 = at(950),
          .p99 = at(990),
          .p999 = at(999)};
}
}  // namespace

std::vector<SlowdownBin> slowdowns_by_size(std::vector<SlowedFlow> flows, std::size_t bins) {
  std::ranges::stable_sort(flows, {}, &SlowedFlow::bytes);
  bins = std::min(bins, flows.size());
  std::vector<SlowdownBin> out;
  std::size_t first = 0;
  for (std::size_t b = 0; b < bins; ++b) {
    std::size_t last = flows.size() * (b + 1) / bins;
    while (last < flows.size() && flows[last].bytes == flows[last - 1].bytes) ++last;  // equal sizes share a bin
    if (last <= first) continue;
    out.push_back(bin_of(std::span(flows).subspan(first, last - first)));
    first = last;
  }
  return out;
}

std::vector<SlowdownBin> slowdowns_around(std::vector<SlowedFlow> flows, std::uint64_t bytes) {
  std::ranges::stable_sort(flows, {}, &SlowedFlow::bytes);
  const auto middle = std::ranges::lower_bound(flows, bytes, {}, &SlowedFlow::bytes);
  std::vector<SlowdownBin> out;
  if (middle != flows.begin()) out.push_back(bin_of({flows.begin(), middle}));
  if (middle != flows.end()) out.push_back(bin_of({middle, flows.end()}));
  return out;
}

std::string flows_csv(const std::vector<FlowRecord>& flows, std::string_view workload, FlowsEnd end,
                      bool at_least_one) {
  std::string out =
      "workload,id,source,destination,class,bytes,start_ps,received_ps,completed_ps,ideal_ps,slowdown,"
      "retransmitted_packets,marked_packets\n";
  const auto time = [](std::int64_t ps) { return ps == kNever ? std::string() : fmt::format("{}", ps); };
  for (const FlowRecord& f : flows) {
    const double s = slowdown(f, end, at_least_one);
    fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{},{},{},{},{},{},{}\n", workload, f.id, f.source,
                   f.destination, f.traffic_class, f.bytes, time(f.start_ps), time(f.received_ps), time(f.completed_ps),
                   time(f.ideal_ps), s < 0 ? std::string() : fmt::format("{:.6f}", s), f.retransmitted_packets,
                   f.marked_packets);
  }
  return out;
}

}  // namespace loco
