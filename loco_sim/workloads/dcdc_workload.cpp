// A control loop over the network: converters in series, and the controller that regulates their voltage (LOCO paper,
// App. B.2 and Fig. 21).
//
// The paper gives the loop periods and the number of converters, but not the circuit. Each converter here is a buck
// converter in its averaged model (Corradini et al., "Digital control of high-frequency switched-mode power
// converters", 2015; Erickson and Maksimovic, "Fundamentals of power electronics"): L di/dt = d Vin - v - r i, C dv/dt
// = i - v / R, with a diode, so that no current flows back. 48 V in, 12 V out, 470 uH, 1000 uF, 50 mOhm, a load of 5 A.
// The controller is a digital PID in its velocity form, d += Kp (e - e1) + Ki T e + Kd (e - 2 e1 + e2) / T. Its gains
// were chosen, as the paper's parameters were, so that the loop is stable up to a period of 40 us and not much beyond.
#include <algorithm>
#include <cmath>
#include <vector>

#include "loco_sim/loco/objects/barrier.hpp"
#include "loco_sim/workloads/kinds.hpp"
#include "loco_sim/workloads/power_controller.hpp"

namespace loco::workloads {

namespace {

constexpr std::int64_t kMicrosecond = 1'000'000;  // picoseconds
constexpr double kTargetVolts = 12;               // of each converter

/// The averaged model of a buck converter.
class Buck {
 public:
  double advance(double duty, std::int64_t microseconds) {
    constexpr double kStep = 1e-6;  // seconds
    constexpr double kIn = 48, kL = 470e-6, kC = 1000e-6, kLoad = 2.4, kLoss = 0.05;
    for (std::int64_t i = 0; i < microseconds; ++i) {
      amperes_ = std::max(0.0, amperes_ + kStep * (duty * kIn - volts_ - kLoss * amperes_) / kL);
      volts_ += kStep * (amperes_ - volts_ / kLoad) / kC;
    }
    return volts_;
  }

 private:
  double amperes_ = 0;
  double volts_ = 0;
};

/// One converter's controller.
class Pid {
 public:
  double next(double volts, double period_s) {
    constexpr double kP = 0.2, kI = 50, kD = 3e-4, kDutyMax = 0.95;
    const double e = kTargetVolts - volts;
    duty_ += kP * (e - e1_) + kI * period_s * e + kD / period_s * (e - 2 * e1_ + e2_);
    duty_ = std::clamp(duty_, 0.0, kDutyMax);
    e2_ = e1_;
    e1_ = e;
    return duty_;
  }

 private:
  double duty_ = 0;
  double e1_ = kTargetVolts;
  double e2_ = kTargetVolts;
};

/// Runs turn() at fixed times, as long as a turn takes no longer than a period.
template <typename Turn>
void at_fixed_times(Transport& node, std::int64_t period_us, std::int64_t duration_us, Turn turn) {
  const std::int64_t start = node.now_ps();
  for (std::int64_t t = 0; t < duration_us; t += period_us) {
    const std::int64_t due = start + t * kMicrosecond;
    if (node.now_ps() < due) node.compute(due - node.now_ps());
    turn(t);
  }
}

void run_controller(Transport& node, const Setup& setup, power_controller& power) {
  const std::int64_t period = setup.params.get("period_us");
  const std::int64_t duration = setup.params.get("duration_us");
  std::vector<Pid> loops(power.converters());
  double least = 1e9, most = 0, peak = 0;
  at_fixed_times(node, period, duration, [&](std::int64_t t) {
    const std::int64_t t0 = node.now_ps();
    for (std::uint32_t i = 0; i < loops.size(); ++i)
      power.regulate(i, loops[i].next(power.voltage(i), static_cast<double>(period) * 1e-6));
    const double output = power.output();
    peak = std::max(peak, output);
    if (t >= duration * 4 / 5) {
      least = std::min(least, output);
      most = std::max(most, output);
    }
    setup.results.add("control_turn", t0, node.now_ps());
  });
  sim::Counters& counters = setup.results.counters;
  const auto count = [&counters](const char* name, double volts) {
    counters.add(counters.id(name), static_cast<std::uint64_t>(std::llround(volts * 1000)));
  };
  count("target_mv", kTargetVolts * power.converters());
  if (least <= most) {  // otherwise no turn was in the last fifth
    count("output_min_mv", least);
    count("output_max_mv", most);
  }
  count("output_peak_mv", peak);
}

void run_converter(Transport& node, const Setup& setup, power_controller& power) {
  const std::int64_t period = setup.params.get("converter_period_us");
  const std::uint32_t mine = node.my_node() - 1;
  Buck buck;
  at_fixed_times(node, period, setup.params.get("duration_us"),
                 [&](std::int64_t) { power.report(mine, buck.advance(power.duty(mine), period)); });
}

}  // namespace

void start_dcdc(const Setup& setup) {
  setup.cluster.spawn_everywhere([&setup](Transport& node) {
    manager mgr(node);
    power_controller power(mgr, "power");
    barrier bar(mgr, "bar");
    mgr.wait_for_ready();
    bar.waiting();
    if (node.my_node() == power_controller::kController)
      run_controller(node, setup, power);
    else
      run_converter(node, setup, power);
    bar.waiting();
  });
}

}  // namespace loco::workloads
