// The flow model of the network: every message is a flow, and flows share links max-min fairly, as SimGrid's fluid
// network model has it (Casanova, Giersch, Legrand, Quinson, Suter, "Versatile, scalable, and accurate simulation of
// distributed applications and platforms", JPDC 2014). docs/flow-model.md says what it leaves out.
//
// What has an order lies in FlowNetwork, a value: flows in lanes, one of a lane at a time. This class owns SimGrid and
// the clock: it takes flows that are to start, tells of those that have ended, and lets the client run its events at
// the right moments between them.
//
// SimGrid has one platform and one clock for the life of a process: one FlowClock a process, ever. Whoever wants
// several runs gives each a process of its own (child.hpp). Times in picoseconds; SimGrid's are doubles
// in seconds, rounded to the nearest picosecond on the way back.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "fabric/flow_network.hpp"
#include "sim/time.hpp"

namespace loco::fabric {

/// Is SimGrid's module there? Nothing is loaded yet: that takes longer than a small run.
[[nodiscard]] bool has_flow_model();
/// What to do when it is not: one line.
inline constexpr const char* kNoFlowModel =
    "this build has no SimGrid: install libsimgrid-dev and pkg-config, then configure and build again";
/// The module's file.
inline constexpr const char* kFlowModule = "libloco_sim_flow.so";

/// A platform that cannot be read, hosts without a route, a second network in one process, no SimGrid.
class FlowError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Names of the hosts of a SimGrid platform file, in its order. Starts a process for it. Throws FlowError.
[[nodiscard]] std::vector<std::string> platform_hosts(const std::string& path);

/// The user of the network: a simulated machine, or a test.
class FlowClient {
 public:
  virtual ~FlowClient() = default;
  /// When its earliest event is due; none when there is none.
  [[nodiscard]] virtual std::optional<sim::SimTime> next_time() = 0;
  /// Takes that event. What it throws comes out of FlowClock::run().
  virtual void step() = 0;
  /// A flow that is to start, at its `at` or at once, or that is withdrawn; each is told once, in this order.
  virtual std::optional<FlowStart> take_start() = 0;
  /// The running flow of the lane has left its source.
  virtual void ended(std::uint32_t lane, sim::SimTime now, const FlowEnd& end) = 0;
};

class FlowClock {
 public:
  /// What the module has to offer.
  class Engine {
   public:
    virtual ~Engine() = default;
    [[nodiscard]] virtual const std::vector<std::string>& hosts() const = 0;
    virtual void run(FlowClient& client) = 0;
  };

  /// Builds the platform: from the configuration's file, else from its shape. Throws FlowError.
  explicit FlowClock(const Config& config);
  ~FlowClock();
  FlowClock(const FlowClock&) = delete;
  FlowClock& operator=(const FlowClock&) = delete;

  /// Names of the platform's hosts, in the order of its file: host i is node i.
  [[nodiscard]] const std::vector<std::string>& hosts() const;

  /// Until the client has no event and no flow any more. Background traffic does not count. Call once.
  void run(FlowClient& client);

 private:
  std::unique_ptr<Engine> engine_;
};

}  // namespace loco::fabric
