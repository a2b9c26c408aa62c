// Messages between threads over SEND and RECV, the basis of message-passing libraries and remote procedure calls. LOCO
// does not use them; they are for what it is compared with (docs/loco.md, Baselines).
//
// A port belongs to one thread. It has its own completion queues, a shared receive queue whose buffers are posted at
// the start and again as soon as they have been read, and a reliable connection to each port that it communicates with,
// made at first use. Messages are eager: the words are copied into the work request if the NIC accepts them inline,
// otherwise into a buffer of the port, and arrive in the receiver's next buffer. Messages between two ports arrive in
// order. Inline sends request a completion only now and then, as in verbs programs.
//
// Costs: cpu.store for each word written, cpu.load for each word read, cpu.post_wqe and cpu.doorbell for a send,
// cpu.poll_cqe for each completion. Posting a receive takes two stores for its 16 bytes, and one more for all that are
// posted together (the doorbell record in host memory). For the memory models a SEND is a put to where it arrives,
// because it is ordered like a WRITE (IBTA volume 1, 9.5). Units: messages are words of 8 bytes. Errors:
// std::invalid_argument for a message that is too long, operation_error if the hardware gives up. Between nodes, or
// within one through the NIC.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "loco_sim/loco/transport.hpp"
#include "loco_sim/transport/cluster_context.hpp"

namespace loco::baselines {

class MessageNetwork;

/// A port's number in its network: node times ports_per_node, plus its number on the node.
using PortId = std::uint32_t;

struct MessageOptions {
  std::uint32_t ports_per_node = 1;
  std::uint32_t words_max = 8;   ///< of a message
  bool inlined = true;           ///< words that fit are part of the work request
  std::uint32_t receives = 128;  ///< buffers of a port; if none is left, senders must retry later (RNR)
};

class MessagePort {
 public:
  MessagePort(MessageNetwork& network, PortId id);

  [[nodiscard]] PortId id() const { return id_; }
  /// The port now belongs to the calling thread. Messages may already have arrived.
  void open();
  /// The calling thread computes for this long, or reads words of its process's own memory (cpu.load each).
  void charge(std::int64_t ps);
  void charge_looks(std::size_t count);
  /// The same for changing words with compare-and-swap (cpu.atomic each).
  void charge_swaps(std::size_t count);
  /// Waits only for room; the words may be reused at once.
  void send(PortId to, std::span<const std::uint64_t> words);
  /// Takes the messages that have arrived and calls handler(PortId from, std::span<const std::uint64_t> words) for
  /// each, which may send. Returns false if there were none; then the thread may pause.
  template <typename Handler>
  bool poll(const Handler& handler) {
    std::array<Arrival, kPollMax> arrivals;
    const std::size_t count = take(arrivals);
    for (const Arrival& a : std::span(arrivals).first(count)) {
      read(a);
      handler(a.from, std::span<const std::uint64_t>(words_).first(a.words));
    }
    if (count > 0) give_back(std::span(arrivals).first(count));
    return count > 0;
  }

 private:
  friend class MessageNetwork;

  static constexpr std::size_t kPollMax = 16;
  static constexpr std::uint32_t kSends = 128;       ///< of each send queue; number of buffers
  static constexpr std::uint32_t kSignalEvery = 32;  ///< inline sends of a queue pair between completions

  struct Arrival {
    PortId from = 0;
    std::uint32_t buffer = 0;
    std::uint32_t words = 0;
  };
  struct Connection {
    nic::QpId qp = 0;
    std::uint32_t unsignaled = 0;  ///< since the last send that requested a completion
  };

  std::size_t take(std::span<Arrival> out);
  void read(const Arrival& arrival);
  void give_back(std::span<const Arrival> arrivals);
  nic::Cpu& cpu();
  [[nodiscard]] const nic::HardwareProfile& profile() const;
  /// Takes completions of sends; pauses if there are none.
  void reap();
  [[nodiscard]] Address receive_buffer(std::uint32_t i) const { return receives_.base + i * buffer_bytes_; }
  [[nodiscard]] Address send_buffer(std::uint32_t i) const { return sends_.base + i * buffer_bytes_; }

  MessageNetwork& network_;
  Transport& transport_;
  PortId id_;
  std::uint64_t buffer_bytes_;
  nic::CqId send_cq_;
  nic::CqId recv_cq_;
  nic::SrqId receive_queue_;
  Region receives_;
  Region sends_;                     ///< kSends buffers, plus one for inline sends
  std::vector<std::uint32_t> free_;  ///< free send buffers
  bool open_ = false;
  nic::ThreadId thread_ = 0;
  std::map<PortId, Connection> connections_;
  std::map<nic::QpId, PortId> peers_;
  std::vector<std::uint64_t> words_;  ///< of the current message
};

/// The ports of all nodes. Must be made before the run and outlive the programs.
class MessageNetwork {
 public:
  MessageNetwork(ClusterContext& cluster, MessageOptions options);

  [[nodiscard]] const MessageOptions& options() const { return options_; }
  [[nodiscard]] MessagePort& port(PortId id) { return *ports_.at(id); }
  [[nodiscard]] MessagePort& port(NodeId node, std::uint32_t number) {
    return port(node * options_.ports_per_node + number);
  }
  [[nodiscard]] NodeId node_of(PortId id) const { return id / options_.ports_per_node; }

 private:
  friend class MessagePort;

  MessagePort::Connection& connection(MessagePort& from, PortId to);

  ClusterContext& cluster_;
  MessageOptions options_;
  std::vector<std::unique_ptr<MessagePort>> ports_;
};

}  // namespace loco::baselines
