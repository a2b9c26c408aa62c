#include "fabric/variation.hpp"

namespace loco::fabric {

std::vector<std::int64_t> clock_errors(const Config& config, const topology::Topology& graph) {
  std::vector<std::int64_t> errors;
  if (!config.varies() || config.options.clock_skew == 0) return errors;
  sim::Stream stream(config.seed, "fabric.clocks");
  const std::int64_t most = std::int64_t{config.options.clock_skew} * 1'000;
  for (topology::VertexId v = 0; v < graph.vertices(); ++v) {
    errors.push_back(static_cast<std::int64_t>(stream.below(2 * static_cast<std::uint64_t>(most) + 1)) - most);
  }
  return errors;
}

sim::BitsPerSecond skewed(sim::BitsPerSecond rate, std::int64_t error) {
  __extension__ using Wide = unsigned __int128;
  constexpr std::int64_t kOne = 1'000'000'000;
  return {static_cast<std::uint64_t>(Wide{rate.value} * static_cast<std::uint64_t>(kOne + error) / kOne)};
}

}  // namespace loco::fabric
