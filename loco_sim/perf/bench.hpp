// What the tests of perf.hpp share: two hosts, memory, queue pairs; steps of simulated threads. Private to perf/.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "hosts/steps.hpp"
#include "loco_sim/perf/perf.hpp"
#include "nic_model/system.hpp"

namespace loco::perf {

inline constexpr std::uint64_t kPage = 4096;  ///< buffers begin at one
inline constexpr std::uint32_t kWord = 8;

/// 0 sends, 1 is sent to; with perftest's -b both send.
using Side = std::uint32_t;

/// One side of a queue pair.
struct Endpoint {
  nic::QpId qp = 0;
  nic::QpId peer = 0;  ///< the other side's queue pair
  nic::CqId send_cq = 0;
  nic::CqId recv_cq = 0;
};

/// Two sides, on a host each unless the way is a loopback; simulated threads are functions that take one step at a
/// time.
class Bench {
 public:
  using Step = hosts::Steps::Step;

  explicit Bench(const Options& options);

  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] nic::System& system() { return system_; }
  /// The node that a side is on.
  [[nodiscard]] nic::NodeId host(Side side) const;
  nic::CqId create_cq(Side side, std::uint32_t entries);
  /// Registers memory on a side's host.
  nic::MemoryRegion memory(Side side, std::uint64_t size, nic::RegionKind kind = {});
  /// A connected pair: [0] on the sending side, [1] on the other one. What is sent completes in `send_cq`, what is
  /// received in `recv_cq`. `receives`: as many fit into its receive queue; 0: `depth`.
  std::array<Endpoint, 2> connect(std::uint32_t depth, nic::CqId send_cq, nic::CqId recv_cq, Side from = 0,
                                  std::uint32_t receives = 0);
  /// Threads are numbered from 0 in the order of these calls.
  void thread(Side side, Step step);
  /// The next event; false when nothing is left to happen. Throws std::runtime_error when a work request failed,
  /// Interrupted when Options::interrupted says so.
  bool step();
  /// Until nothing is left to happen.
  void run();

 private:
  [[noreturn]] void tell(const nic::Cqe& taken) const;

  Options options_;
  nic::System system_;
  std::vector<nic::CqId> cqs_;
  hosts::Steps steps_;
  nic::Context context_{steps_};
  std::uint64_t events_ = 0;
};

/// The work request of a test's message to a queue pair, without addresses in memory.
[[nodiscard]] nic::Wqe message(const Options& options, nic::QpId peer);
/// What a receive must have room for.
[[nodiscard]] std::uint64_t received_bytes(const Options& options);
/// Messages lie in memory at multiples of this: no two share a cache line.
[[nodiscard]] std::uint64_t slot_size(const Options& options);
/// Where in the region a queue pair's message goes, drawn from the seed.
[[nodiscard]] std::uint64_t place_in_region(const Options& options, nic::QpId qp, std::uint64_t message);
/// Posts a list of work requests; throws std::runtime_error when it is not taken.
void post(nic::Cpu& cpu, nic::QpId qp, std::span<const nic::Wqe> wqes);
/// A work request has failed, and its completion, or that of one behind it, has been taken.
struct WorkFailed {
  nic::Cqe cqe;
};
/// Throws WorkFailed unless it is a success.
void expect_success(const nic::Cqe& cqe);
/// What copying one message costs where `copy` is on.
[[nodiscard]] sim::Duration copy_time(const Options& options);

/// Samples, in picoseconds, into the columns of a latency test.
void summarise(std::vector<std::int64_t> samples_ps, Result& result);

[[nodiscard]] Result one_sided_ping_pong(const Options& options);
[[nodiscard]] Result send_ping_pong(const Options& options);
[[nodiscard]] Result round_trips(const Options& options);
[[nodiscard]] Result bandwidth(const Options& options);
[[nodiscard]] Result dma_latency(const Options& options);
[[nodiscard]] Result dma_bandwidth(const Options& options);

}  // namespace loco::perf
