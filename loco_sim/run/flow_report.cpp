#include "loco_sim/run/flow_report.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <numeric>

namespace loco {

using workloads::flows::FlowRecord;
using workloads::flows::kNever;

double slowdown(const FlowRecord& flow, FlowsEnd end, bool at_least_one) {
  const std::int64_t last = end == FlowsEnd::received ? flow.received_ps : flow.completed_ps;
  if (last == kNever || flow.ideal_ps <= 0) return -1;
  const double times = static_cast<double>(last - flow.start_ps) / static_cast<double>(flow.ideal_ps);
  return at_least_one ? std::max(1.0, times) : times;
}

std::vector<SlowdownBin> slowdowns_by_size(const std::vector<FlowRecord>& flows, FlowsEnd end, bool at_least_one,
                                           std::size_t bins) {
  std::vector<std::pair<std::uint64_t, double>> all;
  for (const FlowRecord& flow : flows)
    if (const double s = slowdown(flow, end, at_least_one); s >= 0) all.emplace_back(flow.bytes, s);
  std::ranges::sort(all);
  bins = std::min(bins, all.size());
  std::vector<SlowdownBin> out;
  std::size_t first = 0;
  for (std::size_t b = 0; b < bins; ++b) {
    std::size_t last = all.size() * (b + 1) / bins;
    while (last < all.size() && all[last].first == all[last - 1].first) ++last;  // one size lies in one bin
    if (last <= first) continue;
    std::vector<double> times;
    for (std::size_t i = first; i < last; ++i) times.push_back(all[i].second);
    std::ranges::sort(times);
    const auto at = [&](std::size_t percent) { return times[times.size() * percent / 100]; };
    const double sum = std::accumulate(times.begin(), times.end(), 0.0);
    out.push_back({.flows = times.size(),
                   .largest = all[last - 1].first,
                   .mean = sum / static_cast<double>(times.size()),
                   .p50 = at(50),
                   .p95 = at(95),
                   .p99 = at(99)});
    first = last;
  }
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
