// A litmus program on a device: its words are in registered memory, each thread has a queue pair for each node that it
// operates on, and each is a thread of the system. Programs are over words (rdmawait, rdmatso).
//
// Loads and stores are the processor's own, so its reordering is visible as well. In each run each thread begins after
// a delay drawn from the seed, so that runs differ.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <pthread.h>
#include <string>
#include <thread>
#include <vector>

#include "loco_sim/libibverbs/device.hpp"
#include "model/litmus/language/program.hpp"

namespace loco::conformance {

class Bench {
 public:
  /// Throws std::runtime_error if the device refuses something.
  Bench(const libibverbs::Device& device, const model::litmus::Program& program);
  ~Bench();
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  /// Runs the program once. Returns nothing if a thread waited in vain for a second, or its operation failed.
  [[nodiscard]] std::optional<model::litmus::Outcome> run(std::uint64_t seed);

 private:
  class Worker;
  struct Link {
    libibverbs::CompletionQueue cq, passive_cq;
    libibverbs::QueuePair qp, passive;
  };

  [[nodiscard]] std::uint64_t& word(int location) const { return memory_[static_cast<std::size_t>(location) * kApart]; }
  [[nodiscard]] std::uint64_t& scratch(int thread) const;
  [[nodiscard]] std::size_t index(int thread, int place) const;
  /// `place`: position of a node among the program's nodes.
  [[nodiscard]] Link& link(int thread, int place) const;
  [[nodiscard]] ibv_sge sge(int location) const;
  void connect(int thread, int node);
  void serve(Worker& worker);

  static constexpr std::size_t kApart = 8;  ///< in words: each is in its own cache line

  const libibverbs::Device& device_;
  const model::litmus::Program& program_;
  std::uint64_t* memory_ = nullptr;
  std::size_t bytes_ = 0;
  libibverbs::MemoryRegion region_;
  std::vector<std::unique_ptr<Link>> links_;  ///< by thread and node; null: it does not operate on that node
  std::vector<std::unique_ptr<Worker>> workers_;
  pthread_barrier_t turn_{};           ///< of the threads and the caller of run(), at the beginning and end of a run
  std::optional<std::uint64_t> seed_;  ///< of the run that begins; nothing: there are no more runs
  std::vector<std::thread> threads_;
};

/// Why the device cannot run it; empty if it can.
[[nodiscard]] std::string refusal(const libibverbs::Device& device, const model::litmus::Program& program);

}  // namespace loco::conformance
