#include "model/litmus/implementations/implementations.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "model/litmus/implementations/assembler.hpp"
#include "model/litmus/implementations/layout.hpp"

namespace loco::model::litmus {
namespace {

class Translator : private Assembler {
 public:
  Translator(const Program& program, const Implementation& how) : Assembler(program), source_(program), how_(how) {
    out_.locations.clear();
    layout_ = lay_out(source_, how_, out_);
    for (int t = 0; t < len(source_.threads); ++t) translate_thread(t);
    for (Observable& o : out_.observables) {
      if (o.location == kNone) continue;
      const LocationKind kind = at(source_.locations, o.location).kind;
      const std::vector<int>& words = at(layout_.words, o.location);
      if (kind == LocationKind::tuple && how_.mixed_size == MixedSize::hash) o.cells = words;
      o.location = at(words, kind == LocationKind::shared ? position(o.node) : 0);
    }
  }

  Program take() { return std::move(out_); }

 private:
  [[nodiscard]] int nodes() const { return len(source_.nodes); }
  [[nodiscard]] int position(int node) const {
    return static_cast<int>(std::lower_bound(source_.nodes.begin(), source_.nodes.end(), node) - source_.nodes.begin());
  }

  // --- sv: I_SV -----------------------------------------------------------------------------------------------------
  /// Bcast: a put to each node; `words` holds the copies by node position.
  void broadcast(const int* words, const std::vector<int>& targets, int work_id) {
    for (const int n : targets) put(words[position(n)], words[my_position()], work_id);
  }
  void global_fence(const std::vector<int>& targets) {
    out_.work_ids.push_back("$fence" + std::to_string(len(out_.work_ids)));
    const int id = len(out_.work_ids) - 1;
    for (const int n : targets) get(at(layout_.fence, my_position()), at(layout_.fence, position(n)), id);
    if (!how_.fence_without_wait) wait(id);
  }
  [[nodiscard]] int my_node() const { return at(source_.threads, thread_).node; }
  [[nodiscard]] int my_position() const { return position(my_node()); }
  [[nodiscard]] std::vector<int> without_mine(std::vector<int> nodes) const {
    std::erase(nodes, my_node());
    return nodes;
  }
  [[nodiscard]] std::vector<int> nodes_of(const std::vector<int>& threads) const {
    std::set<int> nodes;
    for (const int t : threads) nodes.insert(at(source_.threads, t).node);
    return {nodes.begin(), nodes.end()};
  }

  // --- bal: Fig. 11 -------------------------------------------------------------------------------------------------
  void barrier(const Instruction& i) {
    const Barrier& b = at(source_.barriers, i.object);
    const std::vector<int>& counters = at(layout_.counters, i.object);
    const auto counter = [&](int participant) { return &counters[static_cast<std::size_t>(participant * nodes())]; };
    const std::vector<int> participants = nodes_of(b.participants);
    const std::vector<int> fenced = b.transitive ? source_.nodes : participants;
    if (!how_.barrier_without_fence) global_fence(how_.barrier_fences_others ? without_mine(fenced) : fenced);
    const int me =
        static_cast<int>(std::find(b.participants.begin(), b.participants.end(), thread_) - b.participants.begin());
    const int count = read(counter(me)[my_position()]);
    write(counter(me)[my_position()], binary(ExprOp::add, value_of(count), constant(1)));
    broadcast(counter(me), without_mine(participants), kNone);
    for (int p = 0; p < len(b.participants); ++p) {
      read_until(counter(p)[my_position()],
                 [&](int seen) { return binary(ExprOp::gt, value_of(seen), value_of(count)); });
    }
  }

  // --- rbl: Fig. 14, messages of one value --------------------------------------------------------------------------
  static constexpr int kMessageCells = 2;

  const int* cell(const Layout::Ring& ring, int index) const {
    return &ring.cells[static_cast<std::size_t>(index % how_.ring_cells * nodes())];
  }
  /// Runs body(H) for the value H of the register, among those that a program with that many submits can reach.
  template <class Body>
  void for_position(int reg, int count, Body body) {
    std::vector<int> exits;
    for (int h = 0; h < count; ++h) {
      const int skip = unless(binary(ExprOp::eq, value_of(reg), constant(h * kMessageCells)));
      body(h * kMessageCells);
      exits.push_back(jump());
      land(skip);
    }
    for (const int e : exits) land(e);
  }
  void submit(const Instruction& i) {
    const RingBuffer& r = at(source_.ringbuffers, i.object);
    const Layout::Ring& ring = at(layout_.rings, i.object);
    const std::vector<int> targets = without_mine(nodes_of(r.readers));
    const int head = read(ring.head[static_cast<std::size_t>(my_position())]);
    int room = kNone;  // for every reader: (H - tail) + message <= S
    for (int k = 0; k < len(r.readers); ++k) {
      const int tail = read(ring.tails[static_cast<std::size_t>(k * nodes() + my_position())]);
      const int used = binary(ExprOp::sub, value_of(head), value_of(tail));
      const int fits = binary(ExprOp::le, used, constant(how_.ring_cells - kMessageCells));
      room = room == kNone ? fits : binary(ExprOp::logical_and, room, fits);
    }
    const int full = unless(room);
    for_position(head, ring.submits, [&](int h) {
      write(cell(ring, h)[my_position()], constant(kMessageCells - 1));
      broadcast(cell(ring, h), targets, kNone);
      write(cell(ring, h + 1)[my_position()], i.expr);
      broadcast(cell(ring, h + 1), targets, kNone);
      wait(ring.work_id);
      write(ring.head[static_cast<std::size_t>(my_position())], constant(h + kMessageCells));
      broadcast(ring.head.data(), targets, ring.work_id);
    });
    assign(i.target, constant(kTrue));
    const int done = jump();
    land(full);
    assign(i.target, constant(kFalse));
    land(done);
  }
  void receive(const Instruction& i) {
    const RingBuffer& r = at(source_.ringbuffers, i.object);
    const Layout::Ring& ring = at(layout_.rings, i.object);
    const auto me = std::find(r.readers.begin(), r.readers.end(), thread_) - r.readers.begin();
    const int* tail_words = &ring.tails[static_cast<std::size_t>(me * nodes())];
    const int writer_node = at(source_.threads, r.writer).node;
    const int tail = read(tail_words[my_position()]);
    const int head = read(ring.head[static_cast<std::size_t>(my_position())]);
    const int nothing = unless(binary(ExprOp::lt, value_of(tail), value_of(head)));
    for_position(tail, ring.submits, [&](int h) {
      read(cell(ring, h)[my_position()]);
      const int message = read(cell(ring, h + 1)[my_position()]);
      write(tail_words[my_position()], constant(h + kMessageCells));
      if (writer_node != my_node()) broadcast(tail_words, {writer_node}, kNone);
      assign(i.target, value_of(message));
    });
    const int done = jump();
    land(nothing);
    assign(i.target, constant(kEmpty));
    land(done);
  }

  // --- msw: Fig. 25 and App. D --------------------------------------------------------------------------------------
  void tuple_write(const Instruction& i) {
    const std::vector<Value> elements =
        at(source_.tuples, static_cast<int>(at(source_.exprs, i.expr).constant - kFirstTuple));
    const std::vector<int>& cells = at(layout_.words, i.location);
    const bool guards = how_.mixed_size != MixedSize::hash;
    const Value stamp = ++guard_;  // fresh: no other write of the program has it
    write(cells.front(), constant(guards ? stamp : tuple_hash(elements)));
    for (int k = 0; k < len(elements); ++k) write(at(cells, k + 1), constant(at(elements, k)));
    if (guards) write(cells.back(), constant(stamp));
  }
  void tuple_read(const Instruction& i) {
    const std::vector<int>& cells = at(layout_.words, i.location);
    const int elements = at(source_.locations, i.location).tuple_size;
    std::vector<int> seen(cells.size());
    for (int k = 0; k < len(cells); ++k) {
      const int c = how_.mixed_size == MixedSize::guards ? len(cells) - 1 - k : k;
      at(seen, c) = read(at(cells, c));
    }
    const std::vector<int> data(seen.begin() + 1, seen.begin() + 1 + elements);
    if (how_.mixed_size == MixedSize::hash) return name_by_hash(i.target, seen.front(), data);
    const int whole = binary(ExprOp::eq, value_of(seen.front()), value_of(seen.back()));
    const int torn = unless(whole);
    name_tuple(i.target, data, {});
    const int done = jump();
    land(torn);
    assign(i.target, constant(kBottom));
    land(done);
  }
  /// target = the tuple that has this hash if the registers hold it, else bottom. A hash cell never holds the hash of
  /// anything but a tuple of the program, and the hash is injective: the same as to compute that of the registers.
  void name_by_hash(int target, int hashed, const std::vector<int>& registers) {
    std::vector<int> exits, torn;
    for (const auto& tuple : source_.tuples) {
      if (tuple.size() != registers.size()) continue;
      const int skip = unless(binary(ExprOp::eq, value_of(hashed), constant(tuple_hash(tuple))));
      for (int k = 0; k < len(registers); ++k)
        torn.push_back(unless(binary(ExprOp::eq, value_of(at(registers, k)), constant(at(tuple, k)))));
      assign(target, constant(out_.intern(tuple)));
      exits.push_back(jump());
      land(skip);
    }
    for (const int t : torn) land(t);
    assign(target, constant(kBottom));
    for (const int e : exits) land(e);
  }
  /// target = the tuple with the values of the registers: a decision tree over the values that elements can have.
  void name_tuple(int target, const std::vector<int>& registers, std::vector<Value> prefix) {
    const int k = len(prefix);
    if (k == len(registers)) {
      assign(target, constant(out_.intern(prefix)));
      return;
    }
    std::set<Value> values;
    for (const auto& tuple : source_.tuples)
      if (len(tuple) == len(registers)) values.insert(at(tuple, k));
    std::vector<int> exits;
    for (const Value v : values) {
      const int skip = unless(binary(ExprOp::eq, value_of(at(registers, k)), constant(v)));
      prefix.push_back(v);
      name_tuple(target, registers, prefix);
      prefix.pop_back();
      exits.push_back(jump());
      land(skip);
    }
    for (const int e : exits) land(e);
  }
  void tuple_transfer(const Instruction& i) {
    const auto& to = at(layout_.words, i.location);
    const auto& from = at(layout_.words, i.source);
    for (int k = 0; k < len(to); ++k)
      i.op == Op::put ? put(at(to, k), at(from, k), i.work_id) : get(at(to, k), at(from, k), i.work_id);
  }

  // --- the rest ------------------------------------------------------------------------------------------------------
  [[nodiscard]] int word_of(int location) const {
    if (location == kNone) return kNone;
    const bool shared = at(source_.locations, location).kind == LocationKind::shared;
    return at(at(layout_.words, location), shared ? my_position() : 0);
  }
  void translate(const Instruction& i) {
    from_ = &i;
    switch (i.op) {
      case Op::bcast:
        return broadcast(at(layout_.words, i.location).data(), i.nodes, i.work_id);
      case Op::gf:
        return global_fence(i.nodes);
      case Op::barrier:
        return barrier(i);
      case Op::submit:
        return submit(i);
      case Op::receive:
        return receive(i);
      case Op::tuple_write:
        return tuple_write(i);
      case Op::tuple_read:
        return tuple_read(i);
      default:
        break;
    }
    if ((i.op == Op::put || i.op == Op::get) && at(source_.locations, i.location).kind == LocationKind::tuple)
      return tuple_transfer(i);
    Instruction copy = i;
    copy.library = Library::rdmawait;
    copy.origin = origin_;
    copy.location = word_of(i.location);
    copy.source = word_of(i.source);
    copy.operand = word_of(i.operand);
    copy.operand2 = word_of(i.operand2);
    at(out_.threads, thread_).code.push_back(std::move(copy));
  }
  void translate_thread(int t) {
    thread_ = t;
    origin_ = kNone;
    const auto& code = at(source_.threads, t).code;
    at(out_.threads, t).code.clear();
    std::vector<int> moved;  // where each instruction begins now
    std::vector<int> jumps;  // translated jumps of the source program, whose targets are still old
    for (const Instruction& i : code) {
      moved.push_back(here());
      ++origin_;
      translate(i);
      if (i.op == Op::jump || i.op == Op::branch_zero) jumps.push_back(here() - 1);
    }
    moved.push_back(here());
    for (const int j : jumps) {
      int& target = at(at(out_.threads, t).code, j).jump;
      target = at(moved, target);
    }
  }

  const Program& source_;
  const Implementation& how_;
  Layout layout_;
  Value guard_ = 0;
};

bool is_library_call(const Program& p, const Instruction& i) {
  const auto holds = [&](int location, LocationKind kind) {
    return location != kNone && at(p.locations, location).kind == kind;
  };
  return i.op == Op::bcast || i.op == Op::gf || i.op == Op::barrier || i.op == Op::submit || i.op == Op::receive ||
         i.op == Op::tuple_write || i.op == Op::tuple_read || holds(i.location, LocationKind::shared) ||
         holds(i.source, LocationKind::shared) || holds(i.location, LocationKind::tuple);
}

}  // namespace

Value whole_tuple(const Program& implemented, const std::vector<Value>& cells) {
  const std::vector<Value> elements(cells.begin() + 1, cells.end());
  const auto known = std::find(implemented.tuples.begin(), implemented.tuples.end(), elements);
  if (cells.front() != tuple_hash(elements) || known == implemented.tuples.end()) return kBottom;
  return kFirstTuple + (known - implemented.tuples.begin());
}

Program implement(const Program& program, const Implementation& how) {
  const bool any = std::any_of(program.threads.begin(), program.threads.end(), [&](const Thread& t) {
    return std::any_of(t.code.begin(), t.code.end(), [&](const Instruction& i) { return is_library_call(program, i); });
  });
  const bool observes_copies = std::any_of(program.locations.begin(), program.locations.end(),
                                           [](const Location& l) { return l.kind != LocationKind::word; });
  if (!any && !observes_copies) return program;
  return Translator(program, how).take();
}

}  // namespace loco::model::litmus
