// The statements of LOCO as events (paper, Section 3.1): which subevents a call has, and where it forks.
#include "model/litmus/skeletons/path_writer.hpp"

namespace loco::model::litmus {
namespace {

class LocoStatement {
 public:
  LocoStatement(const PathWriter& writer, const PathOptions& options, PathState& s, const Instruction& i,
                PendingPaths& pending)
      : writer_(writer), options_(options), s_(s), p_(s.path), i_(i), pending_(pending) {}

  void write() {
    if (i_.op == Op::assign) {
      target() = writer_.evaluate(p_, i_.expr);
      return;
    }
    switch (i_.op) {
      case Op::cas:
        return cas();
      case Op::rcas:
        return remote_cas();
      case Op::rfaa: {
        const int operand = writer_.evaluate(p_, i_.expr);
        writer_.begin_event(p_, s_.pc);
        return atomic_writes(p_, [&](int read) { return PathWriter::operation(p_, ExprOp::add, read, operand); });
      }
      case Op::submit:
        return submit();
      case Op::receive:
        return receive();
      case Op::tuple_read:
        return tuple_read();
      default:
        return straight();
    }
  }

 private:
  /// A statement that does not fork.
  void straight() {
    const int value = i_.op == Op::write || i_.op == Op::tuple_write ? writer_.evaluate(p_, i_.expr) : kNone;
    writer_.begin_event(p_, s_.pc);
    switch (i_.op) {
      case Op::read:
        target() = PathWriter::add_read(p_, make(Stamp::aCR), writer_.cell(i_.location));
        break;
      case Op::write:
      case Op::tuple_write:
        PathWriter::add_write(p_, make(Stamp::aCW), writer_.cell(i_.location), value);
        break;
      case Op::mfence:
        fence(Stamp::aMF);
        break;
      case Op::put: {
        const int n = at(writer_.program().locations, i_.location).node;
        const int v = PathWriter::add_read(p_, make(Stamp::aNLR, n), writer_.cell(i_.source));
        PathWriter::add_write(p_, make(Stamp::aNRW, n), writer_.cell(i_.location), v);
        break;
      }
      case Op::get: {
        const int n = at(writer_.program().locations, i_.source).node;
        const int v = PathWriter::add_read(p_, make(Stamp::aNRR, n), writer_.cell(i_.source));
        PathWriter::add_write(p_, make(Stamp::aNLW, n), writer_.cell(i_.location), v);
        break;
      }
      case Op::bcast:
        for (const int n : i_.nodes) {
          const int v = PathWriter::add_read(p_, make(Stamp::aNLR, n), writer_.cell(i_.location));
          PathWriter::add_write(p_, make(Stamp::aNRW, n), writer_.cell(i_.location, n), v);
        }
        break;
      default:
        fences();
        break;
    }
  }

  void fences() {
    switch (i_.op) {
      case Op::wait:
        fence(Stamp::aWT);
        break;
      case Op::poll:
        fence(Stamp::aWT, i_.node);
        if (i_.target != kNone) target() = PathWriter::constant(p_, polled());
        break;
      case Op::rfence:
        fence(Stamp::aRF, i_.node);
        break;
      case Op::gf:
        for (const int n : i_.nodes) fence(Stamp::aGF, n);
        break;
      case Op::barrier:
        barrier();
        break;
      default:
        break;
    }
  }

  /// The identifier of the operation whose completion the poll at the end of the path takes: the k-th poll of a node
  /// takes the k-th operation.
  [[nodiscard]] Value polled() const {
    const Program& program = writer_.program();
    std::vector<int> operations;  // their identifiers
    std::size_t polls = 0;
    for (const EventInfo& e : p_.events) {
      const Instruction& i = at(at(program.threads, writer_.thread()).code, e.instruction);
      const bool remote = i.op == Op::put || i.op == Op::get || is_remote_atomic(i.op);
      if (i.op == Op::poll && i.node == i_.node) ++polls;
      if (remote && at(program.locations, i.op == Op::put ? i.location : i.source).node == i_.node)
        operations.push_back(i.work_id);
    }
    return polls <= operations.size() ? program.identifier(operations[polls - 1]) : kNoName;  // else: no execution
  }

  void barrier() {
    const Barrier& b = at(writer_.program().barriers, i_.object);
    const bool every_node = b.transitive || options_.transitive_barriers;
    for (const int n : every_node ? writer_.program().nodes : writer_.nodes_of(b.participants)) fence(Stamp::aGF, n);
    fence(Stamp::aCR);
  }

  /// Another way through the statement, which ends with what `write` adds to the path so far.
  template <class Write>
  void fork(const Write& write) {
    PathState other = s_;
    write(other.path);
    ++other.pc;
    pending_.push_back(std::move(other));
  }

  void cas() {
    const bool compares = i_.expr != kNone;  // else it exchanges
    const int expected = compares ? writer_.evaluate(p_, i_.expr) : kNone;
    const int desired = writer_.evaluate(p_, i_.expr2);
    writer_.begin_event(p_, s_.pc);
    if (compares) fork_failed_cas(expected);
    SubEvent both = make(Stamp::aCAS);
    both.writes = true;
    both.value = static_cast<std::int16_t>(desired);
    const int v = PathWriter::add_read(p_, both, writer_.cell(i_.location));
    if (compares) p_.conditions.push_back({PathWriter::operation(p_, ExprOp::eq, v, expected), true});
    target() = v;
  }

  void fork_failed_cas(int expected) {
    fork([&](ThreadPath& p) {
      writer_.add_fence(p, Stamp::aMF, i_.library);
      const int v = PathWriter::add_read(p, writer_.make(p, Stamp::aCR, i_.library), writer_.cell(i_.location));
      p.conditions.push_back({PathWriter::operation(p, ExprOp::eq, v, expected), false});
      at(p.registers, i_.target) = v;
    });
  }

  /// A fetch-and-add, or a compare-and-swap that succeeds: `desired(symbol of what was read)` is the new value.
  template <class Desired>
  void atomic_writes(ThreadPath& p, Desired desired) const {
    const Instruction* const i = &i_;
    SubEvent read = writer_.make(p, Stamp::aNAR, i->library, i->node);
    read.fused = options_.global_atomics;
    const int sub = len(p.subevents);
    const int v = PathWriter::add_read(p, read, writer_.cell(i_.source));
    const int value = desired(v);
    if (read.fused) {
      at(p.subevents, sub).writes = true;
      at(p.subevents, sub).value = static_cast<std::int16_t>(value);
    } else {
      PathWriter::add_write(p, writer_.make(p, Stamp::aNRW, i->library, i->node), writer_.cell(i->source), value);
    }
    PathWriter::add_write(p, writer_.make(p, Stamp::aNLW, i->library, i->node), writer_.cell(i->location), v);
  }

  void remote_cas() {
    const int expected = writer_.evaluate(p_, i_.expr);
    const int desired = writer_.evaluate(p_, i_.expr2);
    writer_.begin_event(p_, s_.pc);
    fork([&](ThreadPath& f) {
      const int v = PathWriter::add_read(f, writer_.make(f, Stamp::aNAR, i_.library, i_.node), writer_.cell(i_.source));
      f.conditions.push_back({PathWriter::operation(f, ExprOp::eq, v, expected), false});
      PathWriter::add_write(f, writer_.make(f, Stamp::aNLW, i_.library, i_.node), writer_.cell(i_.location), v);
    });
    atomic_writes(p_, [&](int read) {
      p_.conditions.push_back({PathWriter::operation(p_, ExprOp::eq, read, expected), true});
      return desired;
    });
  }

  /// A call that may be refused or find nothing: forks with `result` for that, which takes an aWT.
  void begin_call_or(Value result) {
    writer_.begin_event(p_, s_.pc);
    fork([&](ThreadPath& p) {
      writer_.add_fence(p, Stamp::aWT, i_.library);
      p.events.back().result = result;
      at(p.registers, i_.target) = PathWriter::constant(p, result);
    });
    p_.events.back().result = kTrue;
  }

  void submit() {
    const int value = writer_.evaluate(p_, i_.expr);
    begin_call_or(kFalse);
    SubEvent w = make(Stamp::aCW);
    w.value = static_cast<std::int16_t>(value);
    PathWriter::add(p_, w);
    for (const int n : writer_.nodes_of(at(writer_.program().ringbuffers, i_.object).readers)) {
      if (n == writer_.node()) continue;
      w.stamp = Stamp::aNRW;
      w.node = n;
      PathWriter::add(p_, w);
    }
    target() = PathWriter::constant(p_, kTrue);
  }

  void receive() {
    begin_call_or(kEmpty);
    target() = PathWriter::read_of(p_, PathWriter::add(p_, make(Stamp::aCR)));
  }

  void tuple_read() {
    begin_call_or(kBottom);
    target() = PathWriter::add_read(p_, make(Stamp::aCR), writer_.cell(i_.location));
  }

  [[nodiscard]] SubEvent make(Stamp stamp, int node = 0) const { return writer_.make(p_, stamp, i_.library, node); }
  void fence(Stamp stamp, int node = 0) { writer_.add_fence(p_, stamp, i_.library, node); }
  int& target() { return at(p_.registers, i_.target); }

  const PathWriter& writer_;
  const PathOptions& options_;
  PathState& s_;
  ThreadPath& p_;
  const Instruction& i_;
  PendingPaths& pending_;
};

}  // namespace

void write_loco_statement(const PathWriter& writer, const PathOptions& options, PathState& s, const Instruction& i,
                          PendingPaths& pending) {
  LocoStatement(writer, options, s, i, pending).write();
}

}  // namespace loco::model::litmus
