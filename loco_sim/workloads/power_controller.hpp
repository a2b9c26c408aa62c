// The shared state of a distributed DC/DC converter system (LOCO paper, App. B.2): a controller and several converters.
//
// Two arrays of owned variables: each converter's duty cycle, written by the controller, and its output voltage,
// written by the converter. Each write is pushed to the one node that reads it. Nobody waits for a value and the newest
// one counts, so a control loop runs at the period that its node chooses. Node 0 is the controller, node i + 1 is
// converter i. Units: duty cycles in [0, 1], volts. Errors: ownership_error for writing what another node owns.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/objects/var_array.hpp"

namespace loco {

class power_controller : public channel {
 public:
  static constexpr NodeId kController = 0;

  power_controller(within where, std::string_view name)
      : channel(where, name, expect_num{where.num_nodes() - 1}),
        duties_(*this, "duty", owners(mgr(), true)),
        voltages_(*this, "voltage", owners(mgr(), false)) {
    join();
  }

  [[nodiscard]] std::uint32_t converters() const { return num_nodes() - 1; }

  // --- converter ------------------------------------------------------------------------------------------------
  /// The newest duty cycle that has arrived.
  [[nodiscard]] double duty(std::uint32_t converter) { return duties_[converter].load(); }
  void report(std::uint32_t converter, double volts) {
    voltages_[converter].store(volts);
    voltages_[converter].push(kController);
  }

  // --- controller -----------------------------------------------------------------------------------------------
  /// The newest voltage that has arrived.
  [[nodiscard]] double voltage(std::uint32_t converter) { return voltages_[converter].load(); }
  void regulate(std::uint32_t converter, double duty) {
    duties_[converter].store(duty);
    duties_[converter].push(converter + 1);
  }
  /// The output of the whole system as the controller sees it, the sum of all converters'.
  [[nodiscard]] double output() {
    double sum = 0;
    for (auto& v : voltages_) sum += v.load();
    return sum;
  }

 private:
  static std::vector<NodeId> owners(const manager& mgr, bool controller) {
    std::vector<NodeId> nodes;
    for (NodeId n = 1; n < mgr.num_nodes(); ++n) nodes.push_back(controller ? kController : n);
    return nodes;
  }

  var_array<double> duties_;
  var_array<double> voltages_;
};

}  // namespace loco
