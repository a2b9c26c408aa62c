// Figures about a packet fabric for people: each link's use, and queue lengths over time. Not for the event path.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/packet_network.hpp"
#include "sim/time.hpp"

namespace loco::fabric {

struct LinkUse {
  std::string from;  ///< `h0`, `s3`
  std::string to;
  LinkCounters counters;
  double utilisation = 0;  ///< busy time over `elapsed`
};

/// Every link, in the order of the graph.
[[nodiscard]] std::vector<LinkUse> link_use(const PacketNetwork& network, sim::Duration elapsed);

/// Adds up the counters of all links; queue_max is the greatest.
[[nodiscard]] LinkCounters totals(const PacketNetwork& network);

/// A cycle of paused links each of which waits for the next one and the last for the first (PacketNetwork::waits_for),
/// as they were found from the lowest number on; empty when there is none. While it lasts none of its links moves a
/// packet of those that hold up the others, and where every such packet is on the cycle it lasts for ever: the deadlock
/// of PFC networks whose routes have cyclic buffer dependencies (Guo et al., "RDMA over commodity Ethernet at scale",
/// SIGCOMM 2016, section 4.2; Hu et al., "Deadlocks in datacenter networks", HotNets 2016).
[[nodiscard]] std::vector<topology::LinkId> pause_cycle(const PacketNetwork& network);

/// `s0-s1 waits for s1-s2, that for s2-s0, that for s0-s1`; at most 16 links are named. Empty for no links.
[[nodiscard]] std::string cycle_text(const PacketNetwork& network, const std::vector<topology::LinkId>& cycle);

/// Samples queues at fixed times. It only looks: call until() before each event, with the event's time; a run is the
/// same with and without it.
class QueueSeries {
 public:
  /// Of these links, every `period` from 0 on. Precondition: period > 0.
  QueueSeries(std::vector<topology::LinkId> links, sim::Duration period);

  /// Takes the samples that are due before `now`.
  void until(const PacketNetwork& network, sim::SimTime now);

  struct Sample {
    sim::SimTime at{};
    std::vector<std::uint64_t> bytes;  ///< by link
  };
  [[nodiscard]] const std::vector<Sample>& samples() const { return samples_; }
  [[nodiscard]] const std::vector<topology::LinkId>& links() const { return links_; }

 private:
  std::vector<topology::LinkId> links_;
  sim::Duration period_;
  sim::SimTime next_{};
  std::vector<Sample> samples_;
};

/// How busy every link was and what waited for it, at regular times; only looks, like QueueSeries. Bounded: when there
/// are more than `kSamplesMax` samples, every second one is dropped and the interval doubled.
class LinkSeries {
 public:
  static constexpr std::size_t kSamplesMax = 16'384;

  /// Precondition: interval > 0.
  explicit LinkSeries(sim::Duration interval);

  /// Takes the samples that are due before `now`, the time of the next event.
  void until(const PacketNetwork& network, sim::SimTime now);

  /// Between samples; sample i is at i intervals.
  [[nodiscard]] sim::Duration interval() const { return interval_; }
  [[nodiscard]] std::size_t links() const { return links_; }
  /// Sample by sample, a value for each link in the order of the graph: picoseconds for which it has been sending since
  /// the run began, and bytes that wait for its port.
  [[nodiscard]] const std::vector<std::int64_t>& busy_ps() const { return busy_ps_; }
  [[nodiscard]] const std::vector<std::uint64_t>& queued_bytes() const { return queued_bytes_; }

 private:
  void thin();

  sim::Duration interval_;
  sim::SimTime next_{};
  std::size_t links_ = 0;
  std::size_t samples_ = 0;
  std::vector<std::int64_t> busy_ps_;
  std::vector<std::uint64_t> queued_bytes_;
};

}  // namespace loco::fabric
