// The hosts of a platform file, asked for in a process of its own, so that this one can still run anything.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fabric/flow/child.hpp"
#include "fabric/flow/flow_clock.hpp"

namespace loco::fabric {

namespace {

/// A message from each host to two others: what SimGrid cannot route, or ends the process for, shows before a run does.
class Trial final : public FlowClient {
 public:
  explicit Trial(std::uint32_t hosts) : hosts_(hosts) {}
  [[nodiscard]] std::optional<sim::SimTime> next_time() override { return std::nullopt; }
  void step() override {}
  std::optional<FlowStart> take_start() override {
    constexpr std::uint32_t kSourcesMax = 64;
    const std::uint32_t sources = std::min(hosts_, kSourcesMax);
    if (lane_ >= 2 * sources) return std::nullopt;
    const std::uint32_t from = lane_ % sources * hosts_ / sources;
    const std::uint32_t next = (from + 1) % hosts_;
    const std::uint32_t across = hosts_ - 1 - from;
    const std::uint32_t to = lane_ < sources || across == from ? next : across;
    return FlowStart{.lane = lane_++, .source = NodeId{from}, .destination = NodeId{to}, .bytes = 1};
  }
  void ended(std::uint32_t, sim::SimTime, const FlowEnd&) override {}

 private:
  std::uint32_t hosts_;
  std::uint32_t lane_ = 0;
};

}  // namespace

std::vector<std::string> platform_hosts(const std::string& path) {
  const auto work = [&path]() -> std::string {
    try {
      Config config;
      config.model = Model::flow;
      config.flow.platform = path;
      std::string names = "+";
      FlowClock network(config);
      for (const std::string& name : network.hosts()) names += name + "\n";
      if (network.hosts().size() > 1) {
        Trial trial(static_cast<std::uint32_t>(network.hosts().size()));
        network.run(trial);
      }
      return names;
    } catch (const std::exception& error) {
      return std::string("-") + error.what();
    }
  };
  std::string answer;
  try {
    run_in_child(work, {}, answer);
  } catch (const ChildError& error) {
    throw FlowError(error.what());
  }
  if (answer.at(0) == '-') throw FlowError(answer.substr(1));
  std::vector<std::string> names;
  for (std::size_t from = 1; from < answer.size();) {
    const std::size_t end = answer.find('\n', from);
    names.push_back(answer.substr(from, end - from));
    from = end + 1;
  }
  return names;
}

}  // namespace loco::fabric
