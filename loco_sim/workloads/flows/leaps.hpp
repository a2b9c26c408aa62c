// Leaves out the middle of long flows once it only repeats itself (sim.fast_forward, docs/fast-forward.md).
//
// A leap shortens every message that is under way by what it would carry in some time, and adds that time to all later
// times. Nothing else in the machine changes: queues, credits and what is in flight are those of a flow in the middle
// of its message, before the leap as behind it.
//
// Why this is exact: suppose that every flow under way has sent and placed its last segments of bytes at the same
// distances in time (steady_flow.hpp), that all their segments fit into one period, and that meanwhile nothing was
// lost, marked or paused and no flow began or ended. Then further periods are like these, until a flow comes to its
// end, to pages whose translations are not there as before, or another one starts. A leap ends two segments before
// that.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "fabric/packet.hpp"
#include "loco_sim/transport/cluster.hpp"
#include "loco_sim/workloads/flows/flow.hpp"
#include "loco_sim/workloads/flows/leap_fault.hpp"
#include "loco_sim/workloads/flows/steady_flow.hpp"

namespace loco::workloads::flows {

class Leaps {
 public:
  struct Options {
    bool possible = true;
    /// Threads that wait for messages. So many queue pairs must have one under way, else a thread may do something at a
    /// time of its own.
    std::size_t least_under_way = 0;
    /// Messages to a host go to the same place of its memory, each from the region's base on.
    bool one_place = true;
    LeapFault fault = LeapFault::none;
  };
  /// What the player does for a leap: a flow's message is shorter by so many bytes, in so many packets.
  using Shorten = std::function<void(std::uint32_t flow, std::uint32_t bytes, std::uint32_t packets)>;
  /// A queue pair, by whatever tells it from others.
  using QueuePair = std::tuple<NodeId, NodeId, std::uint32_t>;

  /// How long a thread computes at once while it waits for a time, which a leap may bring closer.
  static constexpr std::int64_t kTurnPs = 50'000'000;

  /// Does nothing unless that is possible and the configuration's fast_forward says so. The cluster must outlive it.
  Leaps(SimulatedCluster& cluster, Options options, Shorten shorten);

  [[nodiscard]] bool on() const { return mode_ != FastForward::off; }
  /// To be added to the machine's time.
  [[nodiscard]] std::int64_t left_out_ps() const { return left_out_ps_; }
  [[nodiscard]] std::uint64_t packets_left_out() const { return packets_; }

  // What happens to flows, in the order of time. All are for on() only.
  /// Some begin when others end.
  void are_chained() { chained_ = true; }
  /// It will start at this time, by itself.
  void expect(std::int64_t start_ps) { starts_.insert(start_ps); }
  /// It has begun, by itself if it was expected, and will be posted at once.
  void begins(std::optional<std::int64_t> expected);
  /// Something takes a time of its own from now on, and is over.
  void hold() { ++begun_; }
  void let_go();
  void posted(std::uint32_t flow, std::uint64_t bytes, const Region& to, QueuePair through);
  void sent(std::uint32_t flow, const fabric::Packet& packet);
  void arrived(std::uint32_t flow, const fabric::Packet& packet);
  void placed(std::uint32_t flow, std::uint32_t bytes);
  void ended(std::uint32_t flow);

 private:
  /// A flow that is under way.
  struct Under {
    bool by_pages = false;  // its segments are whole pages
    std::uint64_t bytes = 0;
    Region to{};
    QueuePair through{};
    nic::QpId qp = 0;
    std::uint32_t work_request = 0;
    std::uint32_t mtu = 0;  // 0: it has sent nothing yet
    std::uint64_t segment = 0;
    std::uint64_t skipped = 0;  // bytes
    SteadyEnd sent{}, arrived{}, placed{};
    SteadyWay way{};
  };
  /// By how much a flow is shortened.
  struct Leap {
    std::uint32_t flow = 0;
    std::uint64_t bytes = 0;
  };
  struct Plan {
    std::int64_t time_ps = 0;
    std::int64_t period_ps = 0;
    std::vector<Leap> leaps{};
  };

  [[nodiscard]] static FastForward allowed(const ClusterConfig& config);
  [[nodiscard]] bool has_misses() const;
  [[nodiscard]] std::uint64_t segment_of(const Under& flow) const;
  void look();
  /// The flows at the head of their queue pairs, if all of them are steady.
  [[nodiscard]] std::optional<std::vector<std::uint32_t>> steady() const;
  [[nodiscard]] bool steady(const Under& flow) const;
  [[nodiscard]] std::uint64_t room(const Under& flow) const;
  [[nodiscard]] std::uint64_t room_in_page(const Under& flow) const;
  [[nodiscard]] std::uint64_t room_by_pages(const Under& flow) const;
  [[nodiscard]] std::int64_t time_left_ps() const;
  [[nodiscard]] static std::int64_t time_of(const Under& flow, std::uint64_t bytes);
  [[nodiscard]] std::map<NodeId, std::int64_t> next_ends_ps() const;
  [[nodiscard]] bool reading_ends_in_time() const;
  [[nodiscard]] std::optional<Plan> exactly(const std::vector<std::uint32_t>& flows) const;
  [[nodiscard]] std::optional<Plan> nearly(const std::vector<std::uint32_t>& flows) const;
  void leap(const Plan& plan);

  SimulatedCluster& cluster_;
  Options options_;
  FastForward mode_ = FastForward::off;
  Shorten shorten_;
  std::map<std::uint32_t, Under> under_way_;
  std::map<QueuePair, std::deque<std::uint32_t>> queues_;  // flows under way by queue pair, in order; none is empty
  std::multiset<std::int64_t> starts_;                     // of flows that start by themselves
  std::uint32_t begun_ = 0;                                // flows that are not posted yet, and what else takes time
  bool chained_ = false;                                   // what ends may let any host begin something
  std::map<NodeId, std::uint64_t> touched_;                // by host: bytes of its memory that flows have used before
  std::int64_t changed_ps_ = 0;                            // when a flow has last begun or ended
  std::uint64_t disturbances_ = 0;
  std::int64_t disturbed_ps_ = 0;  // when there have last been more of them
  std::int64_t left_out_ps_ = 0;
  std::uint64_t packets_ = 0;
};

}  // namespace loco::workloads::flows
