// Flows: who sends how much to whom, when each starts, and what became of it.
//
// A flow is one message between two hosts. It begins at a given time, or when a trigger that other flows fire starts
// it. Times are picoseconds since the start of the run. A list is a value and does not change while it is played.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace loco::workloads::flows {

using NodeId = std::uint32_t;

/// The start of a flow that a trigger starts.
inline constexpr std::int64_t kTriggered = -1;
/// The time of something that has not happened.
inline constexpr std::int64_t kNever = -1;

/// The traffic class of the workload.
inline constexpr std::uint8_t kWorkloadClass = 0xff;

struct Flow {
  NodeId source = 0;
  NodeId destination = 0;
  std::uint8_t traffic_class = kWorkloadClass;
  std::uint64_t bytes = 0;
  std::int64_t start_ps = 0;  ///< or kTriggered
  std::int64_t delay_ps = 0;  ///< of a triggered flow: between the trigger and its start
  std::uint64_t id = 0;       ///< as the list's author numbered it

  bool operator==(const Flow&) const = default;
};

/// As in htsim's connection matrices.
enum class TriggerKind : std::uint8_t {
  oneshot,    ///< starts all its flows when it is fired, which happens once
  multishot,  ///< starts the next flow each time it is fired
  barrier,    ///< starts all its flows when it has been fired `count` times
};

struct Trigger {
  TriggerKind kind = TriggerKind::oneshot;
  std::uint32_t count = 1;
  std::uint64_t id = 0;
  std::vector<std::uint32_t> starts{};  ///< indices of flows, in the order of the list

  /// The flows that its `times`-th firing starts.
  [[nodiscard]] std::span<const std::uint32_t> starts_when_fired(std::uint32_t times) const {
    const std::span all(starts);
    if (kind == TriggerKind::multishot)
      return all.subspan(std::min<std::size_t>(times - 1, all.size()), times <= all.size() ? 1 : 0);
    return times == (kind == TriggerKind::barrier ? count : 1) ? all : all.first(0);
  }
  bool operator==(const Trigger&) const = default;
};

/// The end of a flow that fires a trigger: its completion at the sender, or its last byte in the receiver's memory.
enum class End : std::uint8_t { completed, received };

struct Fire {
  std::uint32_t flow = 0;
  std::uint32_t trigger = 0;
  End end = End::received;

  bool operator==(const Fire&) const = default;
};

struct FlowList {
  std::vector<Flow> flows;
  std::vector<Trigger> triggers;
  std::vector<Fire> fires;  ///< ascending by flow

  bool operator==(const FlowList&) const = default;
};

/// The result of a flow.
struct FlowRecord {
  NodeId source = 0;
  NodeId destination = 0;
  std::uint64_t bytes = 0;
  std::uint64_t id = 0;
  std::int64_t start_ps = kNever;      ///< when it was due
  std::int64_t received_ps = kNever;   ///< when its last byte was in the receiver's memory
  std::int64_t completed_ps = kNever;  ///< when its sender saw its completion
  std::int64_t ideal_ps = kNever;      ///< how long it takes alone in the same network
  std::uint32_t packets_sent = 0;      ///< with its data, or with its READ requests; includes packets sent again
  std::uint32_t marked_packets = 0;    ///< packets that arrived with an ECN mark
  std::uint32_t retransmitted_packets = 0;
  std::uint32_t traffic_class = 0;

  bool operator==(const FlowRecord&) const = default;
};
static_assert(sizeof(FlowRecord) == 72);  // no padding, so equal lists have equal bytes

/// By flow, whether it begins, if all flows that begin also end.
[[nodiscard]] std::vector<bool> will_begin(const FlowList& list);

/// Why some flows never begin: a trigger that is fired too seldom, or flows that wait for each other in a cycle. Empty
/// if all begin. Assumes that every flow that begins also ends.
[[nodiscard]] std::string never_begins(const FlowList& list);

}  // namespace loco::workloads::flows
