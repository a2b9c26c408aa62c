// What the LOCO examples are started with: `--transport simulated` (all nodes in this process, and the run is checked),
// or `verbs` or `libfabric`: this process is one node of a real network, and others are the rest.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "loco_sim/loco/transport.hpp"
#include "trace/trace.hpp"

namespace examples {

/// An option of the program's own.
struct Setting {
  std::string name;  ///< "--rounds"
  std::string doc;
  std::function<bool(const std::string&)> take;  ///< false: that cannot be meant
};

struct Run {
  std::uint32_t nodes = 4;  ///< where it is simulated
  std::span<const loco::trace::Library> libraries;
  std::function<void(loco::Transport&)> program;
  std::vector<Setting> settings = {};
};

/// A program's main. Returns its exit status: 2 for a bad command line, 1 when the run has failed.
[[nodiscard]] int main(int argc, char** argv, const Run& run);

}  // namespace examples
