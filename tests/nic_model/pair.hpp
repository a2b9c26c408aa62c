// Two hosts, two queue pairs that can both send and receive, threads written as functions: for tests of transports.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <random>
#include <set>
#include <vector>

#include "rig.hpp"
#include "tests/catch.hpp"

namespace loco::test {

struct PairOptions {
  nic::QpType type = nic::QpType::rc;
  std::uint32_t recv_entries = 64;
  fabric::Topology topology = fabric::Topology::back_to_back;
  fabric::Config network = {};
  std::uint64_t size = 1 << 17;
  bool connected = true;
  bool timers = false;  // as SystemConfig::timers
};

constexpr sim::Duration kTimeout = nic::timeout_of_code(8);  // 1.05 ms

/// With that timeout and so many retries.
[[nodiscard]] nic::HardwareProfile impatient(std::uint32_t retries);

/// A real NIC with a short timeout: 65.5 us.
[[nodiscard]] nic::HardwareProfile fast_timeout();

/// A network that loses so many packets in a million.
[[nodiscard]] PairOptions lossy(std::uint32_t per_million);

[[nodiscard]] PairOptions unconnected(std::uint32_t loss = 0, nic::QpType type = nic::QpType::rc);

/// To RTS by the steps of a program.
void bring_up(nic::System& system, nic::QpId qp, const nic::QpAttributes& attributes);

[[nodiscard]] nic::Wqe numbered(nic::Wqe wqe, std::uint64_t id);

/// After 1 + `retries` timeouts of kTimeout, each a trip of a few microseconds later than the one before it.
void check_gave_up(sim::SimTime at, std::uint32_t retries);

/// Four paths between the two hosts, whose delays differ by microseconds: packets overtake each other.
[[nodiscard]] PairOptions unequal_paths(fabric::Routing routing, std::uint64_t seed);

struct Pair {
  explicit Pair(const nic::HardwareProfile& profile, const PairOptions& options = {});

  nic::System system;
  std::array<nic::MemoryRegion, 2> region{};
  std::array<nic::CqId, 2> cq{};
  std::array<nic::QpId, 2> qp{};
  Scripts scripts;
  Recorder recorder;

  [[nodiscard]] nic::Wqe write(std::uint64_t from, std::uint64_t to, std::uint32_t length = 8) const;
  [[nodiscard]] nic::Wqe read(std::uint64_t into, std::uint64_t from, std::uint32_t length = 8) const;
  [[nodiscard]] nic::Wqe fetch_add(std::uint64_t into, std::uint64_t at, std::uint64_t add) const;
  [[nodiscard]] nic::Wqe send(std::uint64_t from, std::uint32_t length) const;
  /// A receive at node 1, there from the start.
  bool receive(std::uint64_t wr_id, std::uint64_t into, std::uint32_t length);

  /// Both to RTS with these attributes, each the other's peer.
  void bring_up(nic::QpAttributes attributes);
  /// Both to RESET.
  void reset();

  /// Adds a thread.
  void script(nic::NodeId node, std::function<void(nic::Cpu&)> step, sim::SimTime start = {});
  /// A new thread of node 0 posts these, linked, on the pair's queue pair or on another one.
  void post(const std::vector<nic::Wqe>& wqes, nic::QpId on = nic::kNone);
  void run();
  bool step();
  /// Any pending event may be next.
  void run_random(std::uint64_t seed);

  /// CQEs that a node's completion queue got, in order; their statuses.
  [[nodiscard]] std::vector<nic::Cqe> completions(nic::NodeId node) const;
  [[nodiscard]] std::vector<nic::Status> statuses(nic::NodeId node) const;

  /// Fills a node's memory with random bytes, and returns them.
  std::vector<std::uint8_t> fill(nic::NodeId node, std::uint64_t offset, std::size_t size, std::uint32_t seed);
  [[nodiscard]] std::vector<std::uint8_t> bytes(nic::NodeId node, std::uint64_t offset, std::size_t size) const;
};

}  // namespace loco::test
