// One node's Transport over libibverbs: LOCO on RDMA hardware, or on anything that has a libibverbs.
//
// Reliable connections: a queue pair for each thread and peer, made at first use (ends.hpp), one completion queue, and
// large registered regions. loco_sim/process has everything else of the process. An operation that nobody waits for
// requests no completion, except one in every half send queue, so that the freed room is known. What is posted to a
// peer that has died completes as "transport retry counter exceeded" as soon as its TCP connection has closed, without
// waiting for the timers.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "loco_sim/libibverbs/device.hpp"
#include "loco_sim/libibverbs/ends.hpp"
#include "loco_sim/process/process_transport.hpp"

namespace loco::libibverbs {

class VerbsTransport final : public process::ProcessTransport {
 public:
  /// Joins the other nodes and tests the network to each of them. Throws setup_error, std::runtime_error.
  VerbsTransport(process::Options options, const DeviceOptions& device);
  ~VerbsTransport() override;

  [[nodiscard]] std::string lacks(Capability what) const override;
  [[nodiscard]] bool settled(std::uint32_t thread, NodeId node) override;

  void disconnect(NodeId node) override { ends_.disconnect(node); }
  [[nodiscard]] bool disconnected(NodeId node) override { return ends_.disconnected(node); }
  void connect(NodeId node, std::uint32_t number) override { ends_.connect(node, number); }

  [[nodiscard]] std::int64_t retries_ps() const override { return Device::retries_ps(); }

 private:
  Registered register_memory(void* memory, std::uint64_t size) override;
  void post(const Request& request) override;
  std::size_t look(std::span<Completion> out) override;
  void idle() override;
  void on_wire(NodeId from, const std::string& body) override;
  void on_lost(NodeId node) override;

  /// What a thread posts with its next doorbell, with the target.
  struct Listed {
    ibv_send_wr request{};
    ibv_sge piece{};
    Posted posted{};
  };
  struct PerThread {
    std::deque<Listed> list;
    Region to{};
    CompletionQueue bell;  ///< of no queue pair; polled in turns of waiting
    End* latest = nullptr;
  };

  /// Exchanges a word with each node, to check that memory, keys and paths are what both sides assume.
  void try_network();
  PerThread& mine();
  void post_list(PerThread& thread, Tell tell);
  /// Makes poll() report that a node has ended.
  void say_ended(NodeId node);
  /// Completes the request as failed.
  void fail(const EndKey& end, const Posted& posted, Status status);
  [[nodiscard]] Completion completion_of(const ibv_wc& wc);

  Device device_;
  CompletionQueue cq_;
  Ends ends_;
  std::mutex regions_mutex_;
  std::deque<MemoryRegion> regions_;
  std::array<std::unique_ptr<PerThread>, kThreadsMax> per_thread_;
  std::mutex poll_mutex_;
  std::mutex first_words_mutex_;
  std::vector<Region> first_words_;  ///< of the peers, during the network test
};

}  // namespace loco::libibverbs
