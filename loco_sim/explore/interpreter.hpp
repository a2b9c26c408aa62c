// Runs one step of a litmus thread on a simulated core. Private to loco_sim/explore.
#pragma once

#include "loco_sim/explore/machine.hpp"

namespace loco::explore {

/// The value of an expression of the program.
[[nodiscard]] model::litmus::Value evaluate(const model::litmus::Program& program,
                                            const std::vector<model::litmus::Value>& registers, int expr);

class Interpreter final : public nic::ThreadRunner {
 public:
  /// `recording` is of the run, and the machine's observer fills it; null: the run is not recorded.
  Interpreter(const Machine& machine, std::vector<ThreadState>& threads, Recording* recording)
      : machine_(machine), threads_(threads), recording_(recording) {}
  void run(nic::Cpu& cpu) override;

 private:
  using Instruction = model::litmus::Instruction;

  /// The thread's code.
  [[nodiscard]] const std::vector<Instruction>& code() const {
    return machine_.program_.threads[static_cast<std::size_t>(thread_)].code;
  }

  /// Runs instructions that access no memory, up to one that does, the end of the code, or the end of a turn of a loop
  /// that continues: `loop` if the next turn does the same unless memory changes, otherwise `turn` or `cut`.
  enum class Reached { access, end, loop, turn, cut };
  Reached advance();
  /// True if the condition of a loop, whose backward jump is at `end`, leads to another turn.
  [[nodiscard]] bool stays_in_loop(int end) const;
  /// At the end of a turn of the same loop: true if the next one does the same until memory changes.
  [[nodiscard]] bool repeats_itself(int end);
  /// The last turn of a loop says nothing about the next one.
  void forget_turn();
  /// Notes that the assertion at the current instruction fails.
  void note_violated();
  /// After a turn of a loop that changed something: counts it if turns are bounded.
  void count_turn(int end);
  /// Makes the access. Returns false if it must be tried again later; the cpu then knows when.
  bool access(const Instruction& i);
  bool store(const Instruction& i);
  bool compare_swap(const Instruction& i);
  [[nodiscard]] nic::Wqe work_request(const Instruction& i) const;
  bool post(const Instruction& i);
  bool wait(const Instruction& i);
  bool poll(const Instruction& i);
  /// Of model verbs: posts or polls.
  bool verb(const Instruction& i);
  bool post_receive(const Instruction& i, const model::litmus::Post& post);
  bool post_request(const Instruction& i, const model::litmus::Post& post);
  [[nodiscard]] nic::Wqe request_of(const model::litmus::Post& post, int index) const;
  bool poll_queue(const Instruction& i, const model::litmus::Post& post);
  /// Begins the trace's call for a statement if the run is recorded; otherwise returns 0.
  trace::CallId begin(const Instruction& i, trace::Method method, std::uint64_t argument = 0,
                      std::uint64_t work_id = 0);
  void returns(trace::CallId call, std::uint64_t result = 0);
  void fence(const Instruction& i);
  bool poll_cq(int link, nic::Cqe& cqe);
  /// Takes the oldest completion of the queue pair that the program has not asked for. Returns false if there is none.
  bool take_completion(int link, nic::Cqe& cqe);
  void complete(const nic::Cqe& cqe);
  /// After an access: schedules the next step, or ends the thread.
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
