// Runs one step of a litmus thread on a simulated core. Private to loco_sim/explore.
#pragma once

#include "loco_sim/explore/machine.hpp"

namespace loco::explore {

/// The value of an expression of the program.
[[nodiscard]] model::litmus::Value evaluate(const model::litmus::Program& program,
                                            const std::vector<model::litmus::Value>& registers, int expr);

class Interpreter final : public nic::ThreadRunner {
 public:
  /// `recording`: of the run, which the machine's observer watches; none: nobody does.
  Interpreter(const Machine& machine, std::vector<ThreadState>& threads, Recording* recording)
      : machine_(machine), threads_(threads), recording_(recording) {}
  void run(nic::Cpu& cpu) override;

 private:
  using Instruction = model::litmus::Instruction;

  /// The thread's.
  [[nodiscard]] const std::vector<Instruction>& code() const {
    return machine_.program_.threads[static_cast<std::size_t>(thread_)].code;
  }

  /// Runs instructions that touch no memory until one that does, the end of the code, or the end of a loop's turn after
  /// which the loop goes on: `loop` if the next turn does the same unless memory changes, else `turn`, or `cut`.
  enum class Reached { access, end, loop, turn, cut };
  Reached advance();
  /// At the start of a loop whose backward jump is at `end`: does its condition lead to another turn?
  [[nodiscard]] bool stays_in_loop(int end) const;
  /// A turn of the same loop ends: does the next one do the same until memory changes?
  [[nodiscard]] bool repeats_itself(int end);
  /// The last turn of a loop tells nothing about the next one.
  void forget_turn();
  /// The assertion at the current instruction fails.
  void note_violated();
  /// After a turn of a loop that changed something: counts it where turns are bounded.
  void count_turn(int end);
  /// Carries out the access; false when it has to be tried again later (the cpu has been told when).
  bool access(const Instruction& i);
  bool store(const Instruction& i);
  bool compare_swap(const Instruction& i);
  [[nodiscard]] nic::Wqe work_request(const Instruction& i) const;
  bool post(const Instruction& i);
  bool wait(const Instruction& i);
  bool poll(const Instruction& i);
  /// Of model verbs: posts, or polls.
  bool verb(const Instruction& i);
  bool post_receive(const Instruction& i, const model::litmus::Post& post);
  bool post_request(const Instruction& i, const model::litmus::Post& post);
  [[nodiscard]] nic::Wqe request_of(const model::litmus::Post& post, int index) const;
  bool poll_queue(const Instruction& i, const model::litmus::Post& post);
  /// Where the run is recorded, the call that a statement makes; else 0.
  trace::CallId begin(const Instruction& i, trace::Method method, std::uint64_t argument = 0,
                      std::uint64_t work_id = 0);
  void returns(trace::CallId call, std::uint64_t result = 0);
  void fence(const Instruction& i);
  bool poll_cq(int link, nic::Cqe& cqe);
  /// The oldest completion of the queue pair that the program has not asked for; false when there is none.
  bool take_completion(int link, nic::Cqe& cqe);
  void complete(const nic::Cqe& cqe);
  /// After an access: the next step, or the end of the thread.
  void go_on();
  [[nodiscard]] model::litmus::Value evaluate(int expr) const;
  void set(int reg, model::litmus::Value value);

  const Machine& machine_;
  std::vector<ThreadState>& threads_;
  Recording* recording_;
  nic::Cpu* cpu_ = nullptr;
  int thread_ = 0;
  ThreadState* state_ = nullptr;
};

}  // namespace loco::explore
