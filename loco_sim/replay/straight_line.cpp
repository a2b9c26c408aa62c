#include "loco_sim/replay/straight_line.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "model/litmus/implementations/assembler.hpp"

namespace loco::replay {

using namespace model::litmus;
using verify::Action;
using verify::ActionKind;
using verify::Integer;
using verify::Operator;

namespace {

constexpr int kFollowed = 0;  // registers of each thread
constexpr int kFailed = 1;

Value word(const Integer& value) {
  if (value < -kValueMax || value > kValueMax) throw std::invalid_argument("it has numbers of more than 61 bits");
  return static_cast<Value>(value);
}

ExprOp litmus_operator(Operator op) {
  switch (op) {
    case Operator::kNegate:
      return ExprOp::negate;
    case Operator::kNot:
      return ExprOp::logical_not;
    case Operator::kAdd:
      return ExprOp::add;
    case Operator::kSubtract:
      return ExprOp::sub;
    case Operator::kMultiply:
      return ExprOp::mul;
    case Operator::kEqual:
      return ExprOp::eq;
    case Operator::kNotEqual:
      return ExprOp::ne;
    case Operator::kLess:
      return ExprOp::lt;
    case Operator::kLessEqual:
      return ExprOp::le;
    case Operator::kGreater:
      return ExprOp::gt;
    case Operator::kGreaterEqual:
      return ExprOp::ge;
    case Operator::kAnd:
      return ExprOp::logical_and;
    case Operator::kOr:
      return ExprOp::logical_or;
    default:
      throw std::logic_error("an operand is no operator");
  }
}

/// A program with all variables and, for each process, a thread on its own node.
Program skeleton(const verify::Program& source) {
  Program out;
  out.file = source.file;
  out.name = source.file;
  for (int p = 0; p < len(source.processes); ++p) {
    out.nodes.push_back(p);
    out.threads.push_back({.node = p, .code = {}, .registers = {{"$followed", true}, {"$failed", true}}});
  }
  for (const verify::SharedVariable& v : source.shared)
    out.locations.push_back({.name = v.name, .node = static_cast<int>(v.process), .init = word(v.initial)});
  return out;
}

class Unrolling : private Assembler {
 public:
  Unrolling(const verify::Semantics& semantics, const verify::Schedule& schedule)
      : Assembler(skeleton(semantics.program())), semantics_(semantics), source_(semantics.program()) {
    from_ = &nowhere_;
    for (const verify::LocalVariable& v : source_.locals) {
      Thread& thread = at(out_.threads, static_cast<int>(v.process));
      registers_.push_back(len(thread.registers));
      thread.registers.push_back({v.name, false});
    }
    for (int p = 0; p < len(source_.processes); ++p) begin(p);
    follow(schedule);
    for (thread_ = 0; thread_ < len(source_.processes); ++thread_) {
      if (std::ranges::any_of(at(out_.threads, thread_).code, [](const auto& i) { return i.op == Op::write; }))
        emit(Op::mfence);
    }
    observe();
  }

  StraightLine take() {
    StraightLine result{std::move(out_), std::nullopt, std::move(stands_), looks_at_memory()};
    if (property_) result.property = source_.properties[*property_].expression;
    return result;
  }

 private:
  [[nodiscard]] bool looks_at_memory() const {
    return property_ && std::ranges::any_of(source_.properties[*property_].expression.nodes,
                                            [](const auto& node) { return node.op == Operator::kShared; });
  }

  void begin(int process) {
    thread_ = process;
    stands_.push_back(at(source_.processes, process).entry);
    assign(kFollowed, constant(1));
    for (std::size_t l = 0; l < source_.locals.size(); ++l) {
      const verify::LocalVariable& v = source_.locals[l];
      if (static_cast<int>(v.process) == process && v.initial != 0) assign(registers_[l], constant(word(v.initial)));
    }
  }

  /// Executes the steps up to the one that breaks something, and records those of CPUs.
  void follow(const verify::Schedule& schedule) {
    verify::State state = semantics_.initial();
    std::optional<verify::Broken> broken = semantics_.broken_in(state);
    for (std::size_t i = 0; i < schedule.size() && !broken; ++i) {
      if (semantics_.obstacle(state, schedule[i])) break;
      broken = semantics_.broken_by(state, schedule[i]);
      state = semantics_.after(state, schedule[i]);
      for (const Integer& value : state.shared) (void)word(value);
      for (const Integer& value : state.locals) (void)word(value);
      if (schedule[i].kind == verify::Step::Kind::kCpu) step(schedule[i], broken && !broken->property);
      if (!broken) broken = semantics_.broken_in(state);
    }
    if (!broken) throw std::invalid_argument("its schedule breaks nothing");
    property_ = broken->property;
  }

  void step(const verify::Step& step, bool fails) {
    const auto process = static_cast<int>(step.process);
    const verify::Edge& edge = at(source_.processes, process).edges.at(step.edge);
    const Action& action = edge.action;
    Instruction place;
    place.at = {edge.place.line, edge.place.column};
    place.text = edge.text;
    from_ = &place;
    thread_ = process;
    at(stands_, process) = edge.to;
    if (action.kind == ActionKind::kAssert) {
      if (fails) assign(kFailed, action.expression ? negated(expression(*action.expression)) : constant(1));
    } else {
      statement(action, step.choice);
    }
    from_ = &nowhere_;
  }

  void statement(const Action& action, std::uint32_t choice) {
    switch (action.kind) {
      case ActionKind::kAssign:
        return assign(registers_[action.local], expression(*action.expression));
      case ActionKind::kChoose:
        return assign(registers_[action.local], constant(word(action.choices.at(choice))));
      case ActionKind::kLoad:
        read(static_cast<int>(action.shared), registers_[action.local]);
        return;
      case ActionKind::kStore:
        return write(static_cast<int>(action.shared), expression(*action.expression));
      case ActionKind::kRemote:
        return remote(source_.remotes[action.remote]);
      case ActionKind::kFlush:
        if (semantics_.flushes().at(action.flush))
          emit(Op::flush).node = static_cast<int>(source_.flushes[action.flush].target);
        return;
      case ActionKind::kAssume:
        if (action.expression) test(expression(*action.expression), action.negated);
        return;
      default:
        return;
    }
  }

  /// Continues the path only if the condition has the same value as in the counterexample.
  void test(int condition, bool negative) {
    assign(kFollowed, binary(ExprOp::logical_and, value_of(kFollowed), negative ? negated(condition) : condition));
  }

  void remote(const verify::RemoteStatement& s) {
    const auto location = [](const std::optional<std::uint32_t>& v) { return v ? static_cast<int>(*v) : kNone; };
    const auto there = static_cast<int>(s.remote);
    switch (s.kind) {
      case verify::RemoteKind::kPut:
        put(there, location(s.operand), kNone);
        break;
      case verify::RemoteKind::kGet:
        get(location(s.result), there, kNone);
        break;
      default: {
        Instruction& i = emit(s.kind == verify::RemoteKind::kRga ? Op::rga : Op::remote_cas);
        i.location = location(s.result);
        i.source = there;
        i.operand = location(s.operand);
        i.operand2 = location(s.swap);
      }
    }
    at(out_.threads, thread_).code.back().node = static_cast<int>(s.target);
  }

  int negated(int expr) { return add({ExprOp::logical_not, 0, kNone, expr, kNone}); }

  int expression(const verify::Expression& e) {
    std::vector<int> stack;
    for (const verify::ExpressionNode& node : e.nodes) {
      if (node.op == Operator::kLiteral) {
        stack.push_back(constant(word(node.literal)));
      } else if (node.op == Operator::kLocal) {
        stack.push_back(value_of(registers_.at(node.index)));
      } else if (verify::operands(node.op) == 1) {
        stack.back() = add({litmus_operator(node.op), 0, kNone, stack.back(), kNone});
      } else {
        const int right = stack.back();
        stack.pop_back();
        stack.back() = binary(litmus_operator(node.op), stack.back(), right);
      }
    }
    return stack.back();
  }

  void observe() {
    const auto registers = [&](int reg, const char* name) {
      for (int t = 0; t < len(out_.threads); ++t)
        out_.observables.push_back({.name = name, .thread = t, .reg = reg, .cells = {}});
    };
    registers(kFollowed, "followed");
    registers(kFailed, "failed");
    for (int l = 0; l < len(source_.locals); ++l) {
      const verify::LocalVariable& v = at(source_.locals, l);
      out_.observables.push_back(
          {.name = v.name, .thread = static_cast<int>(v.process), .reg = at(registers_, l), .cells = {}});
    }
    if (!looks_at_memory()) return;
    for (int s = 0; s < len(source_.shared); ++s) {
      const Location& l = at(out_.locations, s);
      out_.observables.push_back({.name = l.name, .location = s, .node = l.node, .cells = {}});
    }
  }

  const verify::Semantics& semantics_;
  const verify::Program& source_;
  const Instruction nowhere_{};
  std::vector<int> registers_;  // by local
  std::vector<std::uint32_t> stands_;
  std::optional<std::uint32_t> property_;
};

}  // namespace

StraightLine straight_line(const verify::Semantics& semantics, const verify::Schedule& schedule) {
  return Unrolling(semantics, schedule).take();
}

bool breaks(const StraightLine& line, const Outcome& outcome) {
  const std::size_t threads = line.program.threads.size();
  for (std::size_t t = 0; t < threads; ++t) {
    if (outcome[kFollowed * threads + t] != 1) return false;
  }
  if (!line.property) {
    for (std::size_t t = 0; t < threads; ++t) {
      if (outcome[kFailed * threads + t] == 1) return true;
    }
    return false;
  }
  const std::size_t locals = 2 * threads;
  const auto shared = static_cast<std::size_t>(
      std::ranges::find_if(line.program.observables, [](const Observable& o) { return o.location != kNone; }) -
      line.program.observables.begin());
  const Integer value = verify::evaluate(*line.property, [&](const verify::ExpressionNode& node) -> Integer {
    if (node.op == Operator::kLocal) return outcome[locals + node.index];
    if (node.op == Operator::kShared) return outcome[shared + node.index];
    return line.stands[node.index] == node.location ? 1 : 0;
  });
  return value == 0;
}

}  // namespace loco::replay
