// What the tests of perf.hpp share: two hosts, memory, queue pairs, steps of simulated threads. Private to perf/.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "hosts/steps.hpp"
#include "loco_sim/perf/perf.hpp"
#include "nic_model/system.hpp"

namespace loco::perf {

inline constexpr std::uint64_t kPage = 4096;  ///< alignment of buffers
inline constexpr std::uint32_t kWord = 8;

/// Side 0 sends to side 1; with perftest's -b both send.
using Side = std::uint32_t;

/// One side of a queue pair.
struct Endpoint {
  nic::QpId qp = 0;
  nic::QpId peer = 0;  ///< the queue pair of the other side
  nic::CqId send_cq = 0;
  nic::CqId recv_cq = 0;
};

/// Two sides, each on its own host unless the way is a loopback. Simulated threads are functions that take one step at
/// a time.
class Bench {
 public:
  using Step = hosts::Steps::Step;

  explicit Bench(const Options& options);

  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] nic::System& system() { return system_; }
  /// The node of a side.
  [[nodiscard]] nic::NodeId host(Side side) const;
  nic::CqId create_cq(Side side, std::uint32_t entries);
  /// Registers memory on a side's host.
  nic::MemoryRegion memory(Side side, std::uint64_t size, nic::RegionKind kind = {});
  /// A connected pair: [0] on the sending side, [1] on the other one. Sends complete in `send_cq`, receives in
  /// `recv_cq`. `receives`: size of its receive queue; 0: `depth`.
  std::array<Endpoint, 2> connect(std::uint32_t depth, nic::CqId send_cq, nic::CqId recv_cq, Side from = 0,
                                  std::uint32_t receives = 0);
  /// Adds a thread. Threads are numbered from 0 in the order of these calls.
  void thread(Side side, Step step);
  /// Handles the next event. Returns false if none is left. Throws std::runtime_error if a work request failed, and
  /// Interrupted if Options::interrupted returns true.
  bool step();
  /// Runs until no event is left.
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

/// The work request for a test's message to a queue pair, without memory addresses.
[[nodiscard]] nic::Wqe message(const Options& options, nic::QpId peer);
/// Size that a receive must have.
[[nodiscard]] std::uint64_t received_bytes(const Options& options);
/// Spacing of messages in memory, so that no two share a cache line.
[[nodiscard]] std::uint64_t slot_size(const Options& options);
/// The offset in the region of a queue pair's message, drawn from the seed.
[[nodiscard]] std::uint64_t place_in_region(const Options& options, nic::QpId qp, std::uint64_t message);
/// Posts a list of work requests. Throws std::runtime_error if it is refused.
void post(nic::Cpu& cpu, nic::QpId qp, std::span<const nic::Wqe> wqes);
/// A work request has failed, and its completion, or that of a later one, has been polled.
struct WorkFailed {
  nic::Cqe cqe;
};
/// Throws WorkFailed unless the completion is successful.
void expect_success(const nic::Cqe& cqe);
/// CPU time for copying one message if `copy` is on.
[[nodiscard]] sim::Duration copy_time(const Options& options);

/// Fills the columns of a latency test from samples in picoseconds.
void summarise(std::vector<std::int64_t> samples_ps, Result& result);

[[nodiscard]] Result one_sided_ping_pong(const Options& options);
[[nodiscard]] Result send_ping_pong(const Options& options);
[[nodiscard]] Result round_trips(const Options& options);
[[nodiscard]] Result bandwidth(const Options& options);
[[nodiscard]] Result dma_latency(const Options& options);
[[nodiscard]] Result dma_bandwidth(const Options& options);

}  // namespace loco::perf
