// Flows: who sends how much to whom, from when on, and what became of it.
//
// A flow is one message of its bytes between two hosts. It begins at an instant, or when a trigger says so, which other
// flows fire. Times are picoseconds since the run began. A list is a value: it does not change while it is played.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace loco::workloads::flows {

using NodeId = std::uint32_t;

/// Begins when a trigger says so.
inline constexpr std::int64_t kTriggered = -1;
/// Has not happened.
inline constexpr std::int64_t kNever = -1;

/// The class of the workload.
inline constexpr std::uint8_t kWorkloadClass = 0xff;

struct Flow {
  NodeId source = 0;
  NodeId destination = 0;
  std::uint8_t traffic_class = kWorkloadClass;
  std::uint64_t bytes = 0;
  std::int64_t start_ps = 0;  ///< or kTriggered
  std::int64_t delay_ps = 0;  ///< of a triggered one, behind the trigger
  std::uint64_t id = 0;       ///< as its author calls it

  bool operator==(const Flow&) const = default;
};

/// What htsim's connection matrices call so.
enum class TriggerKind : std::uint8_t {
  oneshot,    ///< starts all its flows, and is fired once
  multishot,  ///< starts the next one each time
  barrier,    ///< starts all when it has been fired `count` times
};

struct Trigger {
  TriggerKind kind = TriggerKind::oneshot;
  std::uint32_t count = 1;
  std::uint64_t id = 0;
  std::vector<std::uint32_t> starts{};  ///< indices of flows, in the order of the list

  bool operator==(const Trigger&) const = default;
};

/// Which end of a flow fires a trigger: the sender's completion, or its last byte in the receiver's memory.
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
  std::vector<Fire> fires;  ///< by flow, ascending

  bool operator==(const FlowList&) const = default;
};

/// What became of a flow.
struct FlowRecord {
  NodeId source = 0;
  NodeId destination = 0;
  std::uint64_t bytes = 0;
  std::uint64_t id = 0;
  std::int64_t start_ps = kNever;      ///< when it was due
  std::int64_t received_ps = kNever;   ///< its last byte is in the receiver's memory
  std::int64_t completed_ps = kNever;  ///< its sender has seen its completion
  std::int64_t ideal_ps = kNever;      ///< what it takes alone in the same network
  std::uint32_t packets_sent = 0;      ///< of its data, or its READ requests, repeated ones included
  std::uint32_t marked_packets = 0;    ///< of those that arrived, with ECN's mark
  std::uint32_t retransmitted_packets = 0;
  std::uint32_t traffic_class = 0;

  bool operator==(const FlowRecord&) const = default;
};
static_assert(sizeof(FlowRecord) == 72);  // no padding: equal lists have equal bytes

/// Of each flow: does it begin, when every one that begins ends?
[[nodiscard]] std::vector<bool> will_begin(const FlowList& list);

/// What keeps flows from ever beginning, in words: a trigger that is fired too seldom, or flows that wait for each
/// other in a circle. Empty: all begin. Every flow is taken to end.
[[nodiscard]] std::string never_begins(const FlowList& list);

}  // namespace loco::workloads::flows
