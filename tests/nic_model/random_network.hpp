// Random networks of a few hosts with faults, and random traffic over them: every shape, routing, flow control and kind
// of loss, NICs that recover in each way, PCIe links and receive buffers of any size. A function of the seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "nic_model/delivery/policy.hpp"
#include "nic_model/system.hpp"

namespace loco::test {

/// Draws a network without traffic, half of them `timed`. The fabric accepts it.
[[nodiscard]] nic::SystemConfig random_network(std::uint64_t seed);

/// Queue pairs of these take turns, by the number of their stream: QpConfig::transport, and what it may be asked for.
[[nodiscard]] std::uint8_t own_transport(const nic::SystemConfig& config, std::size_t stream);
[[nodiscard]] nic::DeliveryOperations operations_of(const nic::SystemConfig& config, std::size_t stream);

/// The fate of a network's traffic.
struct TrafficOutcome {
  std::string wrong;                        ///< the first promise that was broken; empty: none
  std::uint64_t succeeded = 0, failed = 0;  ///< work requests
  std::uint64_t lost = 0, timeouts = 0, pauses = 0;
  bool deadlock = false;  ///< links paused in a cycle: requests behind them may never be answered
  nic::Counters counters{};
  sim::SimTime ended{};
};

/// Runs random WRITEs, READs and fetch-adds between random pairs of hosts over the network, until nothing is pending.
[[nodiscard]] TrafficOutcome run_traffic(const nic::SystemConfig& config, std::uint64_t seed,
                                         nic::Observer* observer = nullptr);

}  // namespace loco::test
