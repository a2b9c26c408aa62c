// The statements of coreRMA as events (paper, Table 3): the same statements, made of actions.
#include "model/litmus/skeletons/path_writer.hpp"

namespace loco::model::litmus {
namespace {

/// `single`: what the statement says of this access alone.
SubEvent action(const PathWriter& writer, const ThreadPath& p, Action a, const Instruction& i, int process,
                std::optional<bool> single = {}) {
  SubEvent s = writer.make(p, Stamp::aMF, Library::rdmawait, process);
  s.action = a;
  s.atomic = single.value_or(i.atomic);
  return s;
}

/// rga and cas: the old value of a remote location is read, and replaced in the same action.
void write_remote_atomic(const PathWriter& writer, ThreadPath& p, const Instruction& i) {
  const int self = writer.node();
  const auto local = [&](int location, std::optional<bool> single) {
    return PathWriter::add_read(p, action(writer, p, Action::er, i, self, single), writer.cell(location));
  };
  const int y = local(i.operand, i.single.operand);
  const int w = i.op == Op::remote_cas ? local(i.operand2, i.single.operand2) : kNone;
  const int old =
      PathWriter::add_read(p, action(writer, p, Action::erw, i, i.node, i.single.source), writer.cell(i.source));
  const int erw = len(p.subevents) - 1;
  const int written = i.op == Op::rga  // a comparison that fails leaves the old value
                          ? PathWriter::operation(p, ExprOp::add, y, old)
                          : PathWriter::select(p, PathWriter::operation(p, ExprOp::eq, y, old), w, old);
  at(p.subevents, erw).writes = true;
  at(p.subevents, erw).value = static_cast<std::int16_t>(written);
  PathWriter::add_write(p, action(writer, p, Action::ew, i, self, i.single.location), writer.cell(i.location), old);
}

}  // namespace

void write_corerma_statement(const PathWriter& writer, PathState& s, const Instruction& i) {
  ThreadPath& p = s.path;
  const auto act = [&](Action a, int process, std::optional<bool> single = {}) {
    return action(writer, p, a, i, process, single);
  };
  const int self = writer.node();
  if (i.op == Op::assign) {
    at(p.registers, i.target) = writer.evaluate(p, i.expr);
    return;
  }
  const int value = i.op == Op::write ? writer.evaluate(p, i.expr) : kNone;
  writer.begin_event(p, s.pc);
  switch (i.op) {
    case Op::read:
      at(p.registers, i.target) = PathWriter::add_read(p, act(Action::r, self), writer.cell(i.location));
      break;
    case Op::write:
      PathWriter::add_write(p, act(Action::w, self, i.single.location), writer.cell(i.location), value);
      break;
    case Op::put: {
      const int v = PathWriter::add_read(p, act(Action::er, self, i.single.source), writer.cell(i.source));
      PathWriter::add_write(p, act(Action::ew, i.node, i.single.location), writer.cell(i.location), v);
      break;
    }
    case Op::get: {
      const int v = PathWriter::add_read(p, act(Action::er, i.node, i.single.source), writer.cell(i.source));
      PathWriter::add_write(p, act(Action::ew, self, i.single.location), writer.cell(i.location), v);
      break;
    }
    case Op::rga:
    case Op::remote_cas:
      write_remote_atomic(writer, p, i);
      break;
    case Op::flush:
      PathWriter::add(p, act(Action::flush, i.node));
      break;
    default:
      break;
  }
}

}  // namespace loco::model::litmus
