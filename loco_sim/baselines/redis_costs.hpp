// CPU time of Redis over the kernel's TCP, for the store over TCP (LOCO paper, Section 6.2 and Fig. 17).
//
// A single-threaded Redis takes 8.67 us for a read that hits (Peter et al., "Arrakis: The Operating System is the
// Control Plane", OSDI 2014, Table 2): epoll 2.42, recv 0.98, parsing 0.85, the table 0.10, the response 0.60, send
// 3.17, other 0.55; that is 115 thousand requests per second. The paper's instances have four threads, which read and
// write sockets while one executes: "easily speedup two times" (redis.conf of Redis 6, io-threads). So an instance
// takes half of that time for each request. A single request on an idle instance would take all of it, but windows of
// many requests do not show that. A client (in the paper memtier with 128 connections per thread) takes the time of
// send for a request, and that of epoll and recv for an answer.
#pragma once

#include <cstdint>

#include "loco_sim/baselines/rpc_store.hpp"

namespace loco::baselines {

/// Threads of an instance, and the number of clients that it serves: the paper has ceil(threads / 4) instances per
/// node.
inline constexpr std::uint32_t kRedisThreads = 4;

[[nodiscard]] constexpr RpcCosts redis_costs() {
  constexpr std::int64_t kNs = 1000;  // picoseconds
  constexpr std::int64_t kEpoll = 2420 * kNs, kReceive = 980 * kNs, kSend = 3170 * kNs, kRequest = 8670 * kNs;
  constexpr std::int64_t kSpeedUp = 2;  // by I/O threads
  return {.ask_ps = kSend, .serve_ps = kRequest / kSpeedUp, .answer_ps = kEpoll + kReceive};
}

}  // namespace loco::baselines
