#include "model/litmus/skeletons/path_writer.hpp"

#include <algorithm>

namespace loco::model::litmus {

std::vector<int> PathWriter::nodes_of(const std::vector<int>& threads) const {
  std::vector<int> nodes;
  for (const int t : threads) nodes.push_back(at(program_->threads, t).node);
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

int PathWriter::symbol(ThreadPath& p, const Symbol& s) {
  p.symbols.push_back(s);
  return len(p.symbols) - 1;
}

int PathWriter::constant(ThreadPath& p, Value v) {
  Symbol s;
  s.constant = v;
  return symbol(p, s);
}

int PathWriter::operation(ThreadPath& p, ExprOp op, int a, int b) {
  const Symbol& sa = at(p.symbols, a);
  const bool unary = b == kNone;
  if (sa.kind == Symbol::Kind::constant && (unary || at(p.symbols, b).kind == Symbol::Kind::constant))
    return constant(p, apply(op, sa.constant, unary ? 0 : at(p.symbols, b).constant));
  Symbol s;
  s.kind = Symbol::Kind::op;
  s.op = op;
  s.a = a;
  s.b = b;
  s.weight = 1 + sa.weight + (unary ? 0 : at(p.symbols, b).weight);
  return symbol(p, s);
}

int PathWriter::select(ThreadPath& p, int condition, int then, int otherwise) {
  Symbol s;
  s.kind = Symbol::Kind::select;
  s.a = condition;
  s.b = then;
  s.c = otherwise;
  return symbol(p, s);
}

int PathWriter::read_of(ThreadPath& p, int sub) {
  Symbol s;
  s.kind = Symbol::Kind::read;
  s.a = sub;
  return symbol(p, s);
}

int PathWriter::evaluate(ThreadPath& p, int expr) const {
  const Expr& e = at(program_->exprs, expr);
  if (e.op == ExprOp::constant) return constant(p, e.constant);
  if (e.op == ExprOp::reg) return at(p.registers, e.reg);
  const int a = evaluate(p, e.lhs);
  return operation(p, e.op, a, e.rhs == kNone ? kNone : evaluate(p, e.rhs));
}

void PathWriter::begin_event(ThreadPath& p, int instruction) const {
  p.events.push_back({thread_, instruction, len(p.subevents), 0, 0});
}

SubEvent PathWriter::make(const ThreadPath& p, Stamp stamp, Library library, int node) const {
  SubEvent s;
  s.stamp = stamp;
  s.library = library;
  s.thread = static_cast<std::int16_t>(thread_);
  s.event = static_cast<std::int16_t>(len(p.events) - 1);
  s.node = node;
  return s;
}

int PathWriter::add(ThreadPath& p, const SubEvent& s) {
  p.subevents.push_back(s);
  ++p.events.back().count;
  return len(p.subevents) - 1;
}

int PathWriter::add_fence(ThreadPath& p, Stamp stamp, Library library, int node) const {
  return add(p, make(p, stamp, library, node));
}

int PathWriter::add_read(ThreadPath& p, SubEvent s, int cell) {
  s.reads = true;
  s.cell = cell;
  return read_of(p, add(p, s));
}

void PathWriter::add_write(ThreadPath& p, SubEvent s, int cell, int value) {
  s.writes = true;
  s.cell = cell;
  s.value = static_cast<std::int16_t>(value);
  add(p, s);
}

}  // namespace loco::model::litmus
