// A key-value store over remote procedure calls, for comparison with LOCO's: what a store without one-sided access
// does.
//
// As in HERD (Kalia, Kaminsky and Andersen, "Using RDMA efficiently for key-value services", SIGCOMM 2014) and MICA's
// exclusive mode, keys are divided among server threads by their hash, and each key is served by one thread, which
// needs no lock. A request is a SEND to the server's node and the answer a SEND back, both inline if the NIC accepts
// that. They use reliable connections, where HERD writes its requests over UC and answers over UD. A client may have
// many requests in flight. Requests to the client's own node take the same way. A server reads two words of its table
// for a request (bucket and entry, cpu.load each) and answers the requests of one poll one by one. Linearisable:
// requests to a key take effect in the order in which its server processes them.
//
// Two more stores of the LOCO paper's Fig. 17 are this one with other numbers.
//
// Scythe (Lu et al., TACO 2024) as the LOCO paper ran it, with inserts for writes: in its sources (PDS-Lab/Scythe,
// src/dtxn/impl/occ.cc, src/proto/rpc.cc) a transaction that inserts has nothing to lock and nothing to validate, its
// timestamp is the CPU's counter, and its commit is one request to a polling thread of the key's node, which puts the
// object into its table; a read is such a request, too. Left out: batching of requests, multi-versioned objects.
//
// Redis over TCP: one thread serves an instance, and the kernel takes CPU time on both sides (RpcCosts). TCP's overhead
// on the wire, interrupts and scheduling delays are left out.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "loco_sim/baselines/message_port.hpp"
#include "loco_sim/loco/store/kvstore.hpp"

namespace loco::baselines {

/// Words of a request: lane and kind, key, value; of an answer: lane, result.
inline constexpr std::uint32_t kRpcWords = 3;

/// CPU time of each side in addition to the simulated hardware's. 0: verbs programs, which poll.
struct RpcCosts {
  std::int64_t ask_ps = 0;     ///< of a client, to send a request
  std::int64_t serve_ps = 0;   ///< of a server, for a request and its answer
  std::int64_t answer_ps = 0;  ///< of a client, for an answer
};

/// A node's ports: its clients, then its servers.
struct RpcLayout {
  std::uint32_t nodes = 1;
  std::uint32_t clients = 1;  ///< on each node
  std::uint32_t servers = 1;

  [[nodiscard]] PortId client(NodeId node, std::uint32_t i) const { return node * (clients + servers) + i; }
  [[nodiscard]] PortId server(NodeId node, std::uint32_t i) const { return client(node, clients + i); }
  /// The port that serves a key.
  [[nodiscard]] PortId server_of(std::uint64_t key) const;
};

class rpc_server {
 public:
  /// The calling thread is server number `number` of its node.
  rpc_server(Transport& node, MessageNetwork& network, const RpcLayout& layout, std::uint32_t number,
             RpcCosts costs = {});

  /// To call first: loads those of `count` entries that it serves.
  void load(std::uint64_t count, const std::function<kvstore::Entry(std::uint64_t)>& entry);
  /// Serves forever.
  [[noreturn]] void serve();

 private:
  [[nodiscard]] std::uint64_t result_of(kv_operation::Kind kind, std::uint64_t key, std::uint64_t value);

  Transport& node_;
  RpcLayout layout_;
  MessagePort& port_;
  RpcCosts costs_;
  std::unordered_map<std::uint64_t, std::uint64_t> table_;  // never iterated
};

/// A client's requests in flight, at most `size`; request i is in lane i + 1 of the trace. An answer names its request,
/// but hardware that lets it be read before its data arrives may make it name anything. A server answers in the order
/// of the requests to it, so each answer ends one of those: the one that it names, or otherwise the oldest, which then
/// counts as a wrong answer.
class rpc_window {
 public:
  /// The calling thread is client number `number` of its node.
  rpc_window(Transport& node, MessageNetwork& network, const RpcLayout& layout, std::uint32_t number,
             std::uint32_t size, RpcCosts costs = {});

  [[nodiscard]] std::size_t size() const { return lanes_.size(); }
  [[nodiscard]] bool finished(std::size_t i) const { return !lanes_[i].under_way; }
  void start(std::size_t i, kv_operation::Kind kind, std::uint64_t key, std::uint64_t value);
  /// Calls ended(i, kind, result) for each request that was answered.
  template <typename Ended>
  void poll(const Ended& ended) {
    port_.poll([this, &ended](PortId from, std::span<const std::uint64_t> answer) {
      const std::optional<std::size_t> i = answered(from, answer[0]);
      if (!i) return;
      port_.charge(costs_.answer_ps);
      finish(*i, answer[1]);
      ended(*i, lanes_[*i].kind, answer[1]);
    });
  }
  /// Number of answers that named no request in flight to their server.
  [[nodiscard]] std::uint64_t wrong_answers() const { return wrong_answers_; }

 private:
  struct Lane {
    bool under_way = false;
    kv_operation::Kind kind = kv_operation::Kind::lookup;
    PortId server = 0;
    std::uint64_t number = 0;  ///< of the request; consecutive
  };
  [[nodiscard]] bool waits_for(std::size_t i, PortId server) const {
    return lanes_[i].under_way && lanes_[i].server == server;
  }
  /// The request that an answer ends; nothing if none is in flight to that server.
  [[nodiscard]] std::optional<std::size_t> answered(PortId from, std::uint64_t named);
  void finish(std::size_t i, std::uint64_t result);

  Transport& node_;
  RpcLayout layout_;
  MessagePort& port_;
  RpcCosts costs_;
  std::vector<Lane> lanes_;
  std::uint64_t requests_ = 0;
  std::uint64_t wrong_answers_ = 0;
};

}  // namespace loco::baselines
