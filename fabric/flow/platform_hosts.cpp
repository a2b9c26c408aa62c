// The hosts of a platform file, asked for in a process of its own, so that this one can still run anything.
#include <string>
#include <vector>

#include "fabric/flow/child.hpp"
#include "fabric/flow/flow_clock.hpp"

namespace loco::fabric {

std::vector<std::string> platform_hosts(const std::string& path) {
  const auto work = [&path]() -> std::string {
    try {
      Config config;
      config.model = Model::flow;
      config.flow.platform = path;
      std::string names = "+";
      const FlowClock network(config);
      for (const std::string& name : network.hosts()) names += name + "\n";
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
