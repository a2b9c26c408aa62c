// Verbs programs on simulated hosts: post, poll, load and store, written as blocking code.
//
// What a NIC is asked for are the records of nic_model/verbs.hpp, which follow libibverbs and the InfiniBand
// specification (volume 1, chapters 10 and 11). Queue pairs, completion queues and memory are set up with nic::System
// before run(). Times: each call takes simulated time, as the profile's cpu.* fields say. Determinism: a run is a
// function of the configuration and the programs; threads go on in the order of simulated time. Not thread-safe;
// Machines share nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "nic_model/system.hpp"
#include "sim/fiber.hpp"

namespace loco::verbs {

class Machine;

/// What a program did that verbs refuse: a full queue, a request that the queue pair cannot take.
class VerbsError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Nothing is left to happen, and some threads have not ended; what() names them and what they wait for.
class Stuck : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A core of a simulated host, for the program that runs on it. All calls are made from inside that program.
class Thread {
 public:
  [[nodiscard]] nic::NodeId node() const { return node_; }
  [[nodiscard]] sim::SimTime now() const;

  /// ibv_post_send with one request: builds it, rings the doorbell. Throws VerbsError when the send queue is full or
  /// the queue pair does not take the request.
  void post_send(nic::QpId qp, const nic::Wqe& request);
  /// ibv_post_recv with one request. Throws VerbsError when the receive queue is full.
  void post_recv(nic::QpId qp, const nic::RecvWqe& request);
  /// ibv_poll_cq for one completion.
  [[nodiscard]] std::optional<nic::Cqe> poll_cq(nic::CqId cq);
  /// Polls until there is a completion. Its status is the caller's to look at.
  [[nodiscard]] nic::Cqe wait_cq(nic::CqId cq);

  /// Aligned 8-byte words of the host's memory, x86-TSO.
  [[nodiscard]] std::uint64_t load(nic::Address address);
  void store(nic::Address address, std::uint64_t value);
  /// Loads until the word is another than `old`, and returns it.
  std::uint64_t wait_for_change(nic::Address address, std::uint64_t old);
  void fence();

  /// The core is busy with something of the program's own.
  void compute(sim::Duration time);

  /// Calls `f` on the stack of Machine::run()'s caller, in no simulated time: for code that must not run on a fiber.
  /// What it throws comes out of run().
  void call_outside(const std::function<void()>& f);

 private:
  friend class Machine;
  Thread(Machine& machine, nic::NodeId node, std::string name)
      : machine_(machine), node_(node), name_(std::move(name)) {}
  [[nodiscard]] nic::Cpu& cpu() const;
  void store_buffer_room();

  Machine& machine_;
  nic::NodeId node_;
  std::string name_;
  std::string waits_for_{};  ///< for Stuck
};

/// The simulated machine and the programs on it.
class Machine final : public nic::ThreadRunner {
 public:
  using Program = std::function<void(Thread&)>;

  explicit Machine(const nic::SystemConfig& config) : system_(config) {}
  ~Machine() override;
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// For set-up, which takes no simulated time, and for looking at memory and counters.
  [[nodiscard]] nic::System& system() { return system_; }

  /// A thread of a host, which starts at time 0. Before run().
  void spawn(nic::NodeId node, Program program);

  /// Until every program has ended and nothing is under way. What a program throws comes out. Throws Stuck, and
  /// std::runtime_error after `events_max` events. `poll` is called now and then; what it throws ends the run.
  void run(std::uint64_t events_max = 1'000'000'000, const std::function<void()>& poll = {});

  void run(nic::Cpu& cpu) override;

 private:
  friend class Thread;
  /// Ends the step of the thread that runs, and returns in its next one.
  void suspend() { pool_.suspend(); }

  nic::System system_;
  std::vector<std::unique_ptr<Thread>> threads_;    ///< by number in the machine
  std::vector<sim::FiberId> fibers_;                ///< likewise
  nic::Cpu* cpu_ = nullptr;                         ///< of the step that is being taken
  const std::function<void()>* outside_ = nullptr;  ///< what the thread that has suspended wants to be called
  sim::FiberPool pool_;                             ///< last: its destructor unwinds the programs, which use the rest
};

}  // namespace loco::verbs
