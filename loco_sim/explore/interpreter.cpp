#include "loco_sim/explore/interpreter.hpp"

#include <algorithm>

#include "loco_sim/explore/recording.hpp"

namespace loco::explore {

using namespace model::litmus;

namespace {
constexpr Value kNobody = -1;  // wr_id of an operation that nobody waits for

Value as_value(std::uint64_t word) { return static_cast<Value>(word); }
std::uint64_t as_word(Value value) { return static_cast<std::uint64_t>(value); }
}  // namespace

void Interpreter::run(nic::Cpu& cpu) {
  cpu_ = &cpu;
  thread_ = static_cast<int>(cpu.thread());
  state_ = &at(threads_, thread_);
  switch (advance()) {
    case Reached::access:
      break;
    case Reached::end:
      return go_on();
    case Reached::loop:
      return cpu.pause({});
    case Reached::turn:
      return cpu.resume_after({});
    case Reached::cut:
      cpu.forget_watched();
      return cpu.stop();
  }
  const Instruction& i = at(code(), state_->pc);
  if (state_->pc > state_->turn_end) forget_turn();  // that loop has ended
  if (!access(i)) return;
  ++state_->pc;
  go_on();
}

void Interpreter::go_on() {
  if (state_->pc == len(code())) {
    state_->finished = true;
    forget_turn();
    cpu_->forget_watched();
    return cpu_->stop();
  }
  cpu_->resume_after({});
}

Interpreter::Reached Interpreter::advance() {
  while (state_->pc < len(code())) {
    const Instruction& i = at(code(), state_->pc);
    switch (i.op) {
      case Op::assign:
        set(i.target, evaluate(i.expr));
        break;
      case Op::assertion:
        if (number(evaluate(i.expr)) == 0) note_violated();
        break;
      case Op::jump:
      case Op::branch_zero: {
        if (i.op == Op::branch_zero && number(evaluate(i.expr)) != 0) break;
        const int from = state_->pc;
        state_->pc = i.jump;
        if (i.jump > from || !stays_in_loop(from)) continue;
        if (repeats_itself(from)) return Reached::loop;
        count_turn(from);
        return machine_.cut(*state_) ? Reached::cut : Reached::turn;
      }
      default:
        return Reached::access;
    }
    ++state_->pc;
  }
  return Reached::end;
}

void Interpreter::note_violated() {
  auto& violated = state_->violated;
  const auto place = std::ranges::lower_bound(violated, state_->pc);
  if (place == violated.end() || *place != state_->pc) violated.insert(place, state_->pc);
}

bool Interpreter::stays_in_loop(int end) const {
  int pc = state_->pc;
  while (pc <= end) {
    const Instruction& i = at(code(), pc);
    if (i.op == Op::jump || (i.op == Op::branch_zero && number(evaluate(i.expr)) == 0)) {
      if (i.jump <= pc) return true;
      pc = i.jump;
    } else if (i.op == Op::branch_zero || i.op == Op::assertion) {
      ++pc;
    } else {
      return true;
    }
  }
  return false;
}

bool Interpreter::repeats_itself(int end) {
  const Loop kind = machine_.loops_.kind(thread_, end);
  const bool same = state_->turn_end == end && state_->turn_registers == state_->registers;
  forget_turn();  // also of an enclosing loop, because it has read something before
  if (kind == Loop::searches) {
    state_->turn_end = end;
    state_->turn_registers = state_->registers;
  }
  return kind == Loop::awaits || (kind == Loop::searches && same);
}

void Interpreter::forget_turn() {
  state_->turn_end = kNone;
  state_->turn_registers.clear();
}

void Interpreter::count_turn(int end) {
  if (machine_.loop_bound_ == 0) return;
  for (int pc = state_->pc; pc <= end; ++pc) {
    const Op op = at(code(), pc).op;
    if (op != Op::put && op != Op::get && !is_remote_atomic(op) && op != Op::wait && op != Op::poll && op != Op::verbs)
      continue;
    ++state_->turns;
    return;
  }
}

bool Interpreter::access(const Instruction& i) {
  switch (i.op) {
    case Op::read: {
      const trace::CallId call = begin(i, trace::Method::read);
      const std::uint64_t value = cpu_->load(machine_.place(i.location).address, call);
      returns(call, value);
      set(i.target, as_value(value));
      return true;
    }
    case Op::write:
      return store(i);
    case Op::cas:
      return compare_swap(i);
    case Op::mfence:
      if (!cpu_->store_buffer_empty()) {
        cpu_->resume_when_drained();
        return false;
      }
      fence(i);
      return true;
    case Op::put:
    case Op::get:
    case Op::rcas:
    case Op::rfaa:
    case Op::rga:
    case Op::remote_cas:
      return post(i);
    case Op::rfence:
      state_->fences |= 1U << static_cast<unsigned>(machine_.node_position(i.node));
      return true;
    case Op::wait:
      return wait(i);
    case Op::poll:
      return poll(i);
    case Op::verbs:
      return verb(i);
    default:
      throw std::logic_error("a litmus statement that hardware does not run: " + i.text);
  }
}

trace::CallId Interpreter::begin(const Instruction& i, trace::Method method, std::uint64_t argument,
                                 std::uint64_t work_id) {
  if (recording_ == nullptr) return 0;
  return recording_->caller(*cpu_, i).begin(method, argument, work_id, method == trace::Method::cas);
}

void Interpreter::returns(trace::CallId call, std::uint64_t result) {
  if (recording_ != nullptr) recording_->returns(call, result);
}

void Interpreter::fence(const Instruction& i) {
  const trace::CallId call = begin(i, trace::Method::mfence);
  cpu_->fence(call);
  returns(call);
}

bool Interpreter::store(const Instruction& i) {
  if (cpu_->store_buffer_full()) {
    cpu_->resume_when_room();
    return false;
  }
  const std::uint64_t value = as_word(evaluate(i.expr));
  const trace::CallId call = begin(i, trace::Method::write, value);
  cpu_->store(machine_.place(i.location).address, value, call);
  returns(call);
  return true;
}

bool Interpreter::compare_swap(const Instruction& i) {
  if (!cpu_->store_buffer_empty()) {
    cpu_->resume_when_drained();
    return false;
  }
  const nic::Address address = machine_.place(i.location).address;
  const std::uint64_t expected = i.expr == kNone ? cpu_->load(address) : as_word(evaluate(i.expr));
  const std::uint64_t desired = as_word(evaluate(i.expr2));
  const trace::CallId call = begin(i, trace::Method::cas, desired);
  const std::uint64_t old = cpu_->compare_swap(address, expected, desired, call);
  returns(call, old);
  if (old == expected) forget_turn();
  set(i.target, as_value(old));
  return true;
}

nic::Wqe Interpreter::work_request(const Instruction& i) const {
  const bool put = i.op == Op::put;
  const Machine::Place& local = machine_.place(put ? i.source : i.location);
  const Machine::Place& remote = machine_.remote_place(i);
  nic::Wqe wqe{.wr_id = as_word(i.work_id == kNone ? kNobody : i.work_id),
               .opcode = put ? nic::Opcode::rdma_write : nic::Opcode::rdma_read,
               .fence = (state_->fences & (1U << remote.node)) != 0,
               .inline_data = put && cpu_->profile().nic_inline_puts,
               .length = 8,
               .lkey = local.key,
               .rkey = remote.key,
               .local = local.address,
               .remote = remote.address};
  if (!is_remote_atomic(i.op)) return wqe;
  wqe.opcode = i.op == Op::rga || i.op == Op::rfaa ? nic::Opcode::fetch_add : nic::Opcode::compare_swap;
  wqe.lkey = at(machine_.whole_, static_cast<int>(local.node));
  wqe.gather = i.operand != kNone;
  const auto operand = [&](int location, int expr) {
    if (wqe.gather) return location == kNone ? nic::Address{0} : machine_.place(location).address;
    return expr == kNone ? std::uint64_t{0} : as_word(evaluate(expr));
  };
  wqe.compare_add = operand(i.operand, i.expr);
  wqe.swap = operand(i.operand2, i.expr2);
  return wqe;
}

bool Interpreter::post(const Instruction& i) {
  if (cpu_->store_buffer_full()) {
    cpu_->resume_when_room();
    return false;
  }
  const Machine::Place& remote = machine_.remote_place(i);
  const std::uint32_t node_bit = 1U << remote.node;
  const nic::Wqe wqe = work_request(i);
  const int link = machine_.link(thread_, static_cast<int>(remote.node));
  nic::PostResult posted = nic::PostResult::queue_full;
  while ((posted = cpu_->post_send(at(machine_.qps_, link), {&wqe, 1})) == nic::PostResult::queue_full) {
    nic::Cqe cqe;
    if (!poll_cq(link, cqe)) {
      cpu_->pause({});
      return false;
    }
    state_->kept.push_back(cqe);
  }
  if (posted != nic::PostResult::ok) throw std::logic_error("a work request of a litmus test is refused");
  state_->fences &= ~node_bit;
  if (i.work_id != kNone) ++at(state_->in_flight, i.work_id);
  return true;
}

bool Interpreter::wait(const Instruction& i) {
  for (const int node : at(machine_.used_nodes_, thread_)) {
    nic::Cqe cqe;
    while (take_completion(machine_.link(thread_, node), cqe)) complete(cqe);
  }
  if (at(state_->in_flight, i.work_id) != 0) {
    cpu_->pause({});
    return false;
  }
  cpu_->forget_watched();
  return true;
}

bool Interpreter::poll(const Instruction& i) {
  nic::Cqe cqe;
  const int link = machine_.link(thread_, machine_.node_position(i.node));
  if (!take_completion(link, cqe)) {
    cpu_->pause({});
    return false;
  }
  complete(cqe);
  set(i.target, machine_.program_.identifier(as_value(cqe.wr_id) == kNobody ? kNone : static_cast<int>(cqe.wr_id)));
  cpu_->forget_watched();
  return true;
}

bool Interpreter::poll_cq(int link, nic::Cqe& cqe) { return cpu_->poll_cq(at(machine_.cqs_, link), {&cqe, 1}) != 0; }

bool Interpreter::take_completion(int link, nic::Cqe& cqe) {
  const nic::QpId qp = at(machine_.qps_, link);
  const auto kept = std::ranges::find(state_->kept, qp, &nic::Cqe::qp);
  if (kept == state_->kept.end()) return poll_cq(link, cqe);
  cqe = *kept;
  state_->kept.erase(kept);
  return true;
}

void Interpreter::complete(const nic::Cqe& cqe) {
  if (cqe.status != nic::Status::success) throw std::logic_error("an operation of a litmus test has failed");
  if (as_value(cqe.wr_id) != kNobody) --at(state_->in_flight, static_cast<int>(cqe.wr_id));
}

Value evaluate(const Program& program, const std::vector<Value>& registers, int expr) {
  const Expr& e = at(program.exprs, expr);
  const auto value = [&](int part) { return evaluate(program, registers, part); };
  switch (e.op) {
    case ExprOp::constant:
      return e.constant;
    case ExprOp::reg:
      return at(registers, e.reg);
    case ExprOp::negate:
    case ExprOp::logical_not:
      return apply(e.op, value(e.lhs), 0);
    default:
      return apply(e.op, value(e.lhs), value(e.rhs));
  }
}

Value Interpreter::evaluate(int expr) const { return explore::evaluate(machine_.program_, state_->registers, expr); }

void Interpreter::set(int reg, Value value) {
  if (reg != kNone) at(state_->registers, reg) = value;
}

}  // namespace loco::explore
