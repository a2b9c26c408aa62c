// Simulated costs of a program's calls, beyond those that hosts/costs.hpp has for all host code.
#pragma once

#include "exec/protocol.hpp"
#include "hosts/costs.hpp"
#include "nic_model/profile.hpp"

namespace loco::exec {

/// Each clock read after the first in a row: a vDSO call on the hosts that the profiles describe.
inline constexpr sim::Duration kClockRead{20'000};
/// sched_yield: a system call, during which the other threads of the host get their turn.
inline constexpr sim::Duration kYield{300'000};
/// From writing a completion to the event on its channel: interrupt and handler.
inline constexpr sim::Duration kInterrupt{2'000'000};
/// Waking the thread that waits for the event.
inline constexpr sim::Duration kWakeup{500'000};
/// ibv_resize_cq, joining and leaving a multicast group: a system call and a command to the NIC, after which earlier
/// messages have arrived. An estimate.
inline constexpr sim::Duration kCommand{20'000'000};
/// A connection manager's message, one way: two system calls and a datagram (IBTA volume 1, 12.6).
inline constexpr sim::Duration kCmMessage{3'000'000};
/// Gap between the starts of successive programs.
inline constexpr sim::Duration kStartGap{1'000'000'000};
/// Longest pause in a polling loop, because the program may count its turns.
inline constexpr sim::Duration kPauseMax{10'000'000'000};

/// Entries of a send, receive or shared receive queue.
inline constexpr std::uint32_t kQueueEntriesMax = 8192;

/// Bytes on the NIC that programs can allocate, as on ConnectX-5 (mlx5dv, ibv_query_device_ex: 128 KiB).
inline constexpr std::uint64_t kDeviceMemory = 128U << 10U;

inline void set_costs(const nic::HardwareProfile& p, HostFacts& facts) {
  facts.post_ps = hosts::build_cost(p).ps;
  facts.doorbell_ps = hosts::ring_cost(p).ps;
  facts.store_ps = hosts::receive_cost(p).ps;
  facts.poll_empty_ps = hosts::poll_cost(p, 0).ps;
  facts.clock_ps = kClockRead.ps;
}

}  // namespace loco::exec
