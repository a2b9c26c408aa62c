#include "hosts/flow_driver.hpp"

namespace loco::hosts {

namespace {

class Client final : public fabric::FlowClient {
 public:
  Client(nic::System& system, const std::function<void()>& step) : system_(system), step_(step) {}

  std::optional<sim::SimTime> next_time() override {
    if (system_.idle()) return std::nullopt;
    return system_.next_time();
  }
  void step() override { step_(); }
  std::optional<fabric::FlowStart> take_start() override { return system_.take_start(); }
  void ended(std::uint32_t lane, sim::SimTime now, const fabric::FlowEnd& end) override {
    system_.flow_ended(lane, now, end);
  }

 private:
  nic::System& system_;
  const std::function<void()>& step_;
};

}  // namespace

void run_on_flows(nic::System& system, const std::function<void()>& step) {
  fabric::FlowClock network(system.network().config());
  Client client(system, step);
  network.run(client);
}

}  // namespace loco::hosts
