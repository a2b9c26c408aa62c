// Writes instructions into the threads of a program: the words in which LOCO's implementations are told.
#pragma once

#include <string>
#include <utility>

#include "model/litmus/language/program.hpp"

namespace loco::model::litmus {

class Assembler {
 public:
  explicit Assembler(const Program& program) : out_(program) {}

 protected:
  // --- expressions ---------------------------------------------------------------------------------------------------
  int add(const Expr& e) { return out_.add(e); }
  int constant(Value v) { return add({ExprOp::constant, v, kNone, kNone, kNone}); }
  int value_of(int reg) { return add({ExprOp::reg, 0, reg, kNone, kNone}); }
  int binary(ExprOp op, int lhs, int rhs) { return add({op, 0, kNone, lhs, rhs}); }

  // --- emission ------------------------------------------------------------------------------------------------------
  int temporary() { return at(out_.threads, thread_).temporary(); }
  Instruction& emit(Op op) {
    Instruction i;
    i.op = op;
    i.at = from_->at;
    i.text = from_->text;
    i.origin = origin_;
    auto& code = at(out_.threads, thread_).code;
    code.push_back(std::move(i));
    return code.back();
  }
  [[nodiscard]] int here() const { return len(at(out_.threads, thread_).code); }
  int read(int word, int target = kNone) {
    if (target == kNone) target = temporary();
    Instruction& i = emit(Op::read);
    i.location = word;
    i.target = target;
    return target;
  }
  void write(int word, int expr) {
    Instruction& i = emit(Op::write);
    i.location = word;
    i.expr = expr;
  }
  void put(int remote, int local, int work_id) {
    Instruction& i = emit(Op::put);
    i.location = remote;
    i.source = local;
    i.work_id = work_id;
  }
  void get(int local, int remote, int work_id) {
    Instruction& i = emit(Op::get);
    i.location = local;
    i.source = remote;
    i.work_id = work_id;
  }
  void wait(int work_id) { emit(Op::wait).work_id = work_id; }
  void assign(int target, int expr) {
    if (target == kNone) return;
    Instruction& i = emit(Op::assign);
    i.target = target;
    i.expr = expr;
  }
  /// Emits a jump whose target is set by land(). Returns its index.
  int jump() {
    emit(Op::jump);
    return here() - 1;
  }
  int unless(int expr) {
    emit(Op::branch_zero).expr = expr;
    return here() - 1;
  }
  void land(int jump_index) { at(at(out_.threads, thread_).code, jump_index).jump = here(); }
  /// Reads the word again and again until expr(value) holds.
  template <class Condition>
  void read_until(int word, Condition condition) {
    const int again = here();
    const int value = read(word);
    emit(Op::branch_zero).expr = condition(value);
    at(at(out_.threads, thread_).code, here() - 1).jump = again;
  }

  Program out_;
  int thread_ = 0;                     ///< where instructions go
  int origin_ = kNone;                 ///< the index of from_ in its thread, where that is of interest
  const Instruction* from_ = nullptr;  ///< the one that they implement: its place and text become theirs
};

}  // namespace loco::model::litmus
