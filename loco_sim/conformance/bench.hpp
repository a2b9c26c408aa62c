// A litmus program on a device: its words in registered memory, a queue pair for each thread and node that it operates
// on, a thread of the system for each of its threads. Programs are over words (rdmawait, rdmatso).
//
// Loads and stores are the processor's own, so what it reorders is seen, too. Each thread begins a run after a delay of
// its own, drawn from the seed, so that runs differ.
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
#include "model/litmus/program.hpp"

namespace loco::conformance {

class Bench {
 public:
  /// Throws std::runtime_error where the device refuses something.
  Bench(const libibverbs::Device& device, const model::litmus::Program& program);
  ~Bench();
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  /// One run. Nothing when a thread waited in vain, for a second, or its operation failed.
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
  /// `place`: the position of a node among the program's.
  [[nodiscard]] Link& link(int thread, int place) const;
  [[nodiscard]] ibv_sge sge(int location) const;
  void connect(int thread, int node);
  void serve(Worker& worker);

  static constexpr std::size_t kApart = 8;  ///< words: each in a cache line of its own

  const libibverbs::Device& device_;
  const model::litmus::Program& program_;
  std::uint64_t* memory_ = nullptr;
  std::size_t bytes_ = 0;
  libibverbs::MemoryRegion region_;
  std::vector<std::unique_ptr<Link>> links_;  ///< by thread and node; null: it does not operate on that node
  std::vector<std::unique_ptr<Worker>> workers_;
  pthread_barrier_t turn_{};           ///< the threads' and whose that asks for runs: one begins, one ends
  std::optional<std::uint64_t> seed_;  ///< of the run that begins; nothing: there is none any more
  std::vector<std::thread> threads_;
};

/// Why the device cannot run it; empty: it can.
[[nodiscard]] std::string refusal(const libibverbs::Device& device, const model::litmus::Program& program);

}  // namespace loco::conformance
