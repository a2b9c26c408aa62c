#include "loco_sim/workloads/in_parts.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

namespace loco::workloads {

namespace {

bool any_failed(const std::vector<Results>& parts) {
  return std::ranges::any_of(parts, [](const Results& part) { return !part.failures.empty(); });
}

/// Counters and promises, in the order of their names: that of their first use is a part's own.
Results sums(const std::vector<Results>& parts) {
  Results merged;
  merged.bus = parts.front().bus;
  std::map<std::string, std::uint64_t> counters;
  std::set<std::string> promises;
  for (const Results& part : parts) {
    for (const std::string& name : part.counters.names()) counters[name] += part.counters.value(name);
    promises.insert(part.promises.begin(), part.promises.end());
  }
  for (const auto& [name, value] : counters) merged.counters.add(merged.counters.id(name), value);
  merged.promises.assign(promises.begin(), promises.end());
  return merged;
}

struct Sample {
  std::int64_t end_ps = 0;
  std::int64_t start_ps = 0;
  std::string operation{};
  std::uint32_t samples_each = 1;

  bool operator<(const Sample& o) const {
    return std::tie(end_ps, start_ps, operation) < std::tie(o.end_ps, o.start_ps, o.operation);
  }
};

}  // namespace

std::optional<Results> merge_hosts(const std::vector<Results>& parts) {
  if (any_failed(parts)) return std::nullopt;
  std::vector<Sample> samples;
  for (const Results& part : parts)
    for (const OperationTimes& o : part.operations)
      for (std::size_t i = 0; i < o.samples_ps.size(); ++i)
        samples.push_back({o.ends_ps[i], o.ends_ps[i] - o.samples_ps[i], o.name, o.samples_each});
  std::ranges::stable_sort(samples, [](const Sample& a, const Sample& b) { return a < b; });
  Results merged = sums(parts);
  for (const Sample& s : samples) merged.add(s.operation, s.start_ps, s.end_ps, s.samples_each);
  return merged;
}

std::optional<Results> merge_together(const std::vector<Results>& parts) {
  if (any_failed(parts)) return std::nullopt;
  Results merged = sums(parts);
  // Parts without hosts of the workload have measured nothing.
  const auto longest = std::ranges::max_element(parts, {}, [](const Results& part) { return part.operations_done(); });
  for (const OperationTimes& o : longest->operations)
    for (std::size_t i = 0; i < o.samples_ps.size(); ++i) {
      std::int64_t end_ps = o.ends_ps[i];
      for (const Results& part : parts)
        if (const OperationTimes* const same = part.find(o.name)) end_ps = std::max(end_ps, same->ends_ps.at(i));
      merged.add(o.name, o.ends_ps[i] - o.samples_ps[i], end_ps, o.samples_each);
    }
  return merged;
}

}  // namespace loco::workloads
