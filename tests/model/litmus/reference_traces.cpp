#include "tests/model/litmus/reference_traces.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "model/stamps.hpp"

namespace loco::model::litmus::test {
namespace {

class Unfolder {
 public:
  Unfolder(const Program& p, std::string model, std::uint64_t limit) : p_(p), model_(std::move(model)), limit_(limit) {}

  Traces run() {
    std::set<Value> domain;
    for (const Location& l : p_.locations) domain.insert(l.init);
    for (const Expr& e : p_.exprs)
      if (e.op == ExprOp::constant) domain.insert(e.constant);
    if (is_corerma(model_)) {  // sums: rga
      for (int round = 0; round < 3; ++round) {
        const std::set<Value> old = domain;
        bool rga = false;
        for (const Thread& t : p_.threads)
          for (const Instruction& i : t.code) rga = rga || i.op == Op::rga;
        if (rga)
          for (const Value a : old)
            for (const Value b : old)
              if (a + b <= 8) domain.insert(a + b);
      }
    }
    // What fetch-and-adds may make of that, each once.
    for (const Thread& t : p_.threads)
      for (const Instruction& i : t.code) {
        if (i.op != Op::rfaa) continue;
        const Expr& e = at(p_.exprs, i.expr);
        if (e.op != ExprOp::constant) gave_up_ = true;
        for (const Value v : std::set<Value>(domain)) domain.insert(v + e.constant);
      }
    domain_.assign(domain.begin(), domain.end());
    for (int t = 0; t < len(p_.threads); ++t) {
      traces_.emplace_back();
      Trace start;
      start.registers.assign(at(p_.threads, t).registers.size(), 0);
      unfold(t, 0, start);
    }
    return {std::move(traces_), work_, gave_up_};
  }

 private:
  int node_of(int thread) const { return at(p_.threads, thread).node; }
  int cell(int location, int node) const { return cell_of(p_, location, node); }
  Value eval(const Trace& t, int e) const {
    const Expr& x = at(p_.exprs, e);
    if (x.op == ExprOp::constant) return x.constant;
    if (x.op == ExprOp::reg) return at(t.registers, x.reg);
    return apply(x.op, eval(t, x.lhs), x.rhs == kNone ? 0 : eval(t, x.rhs));
  }

  /// What a read of the location may return: its initial value alone if nothing writes it.
  std::vector<Value> values(int location) const {
    for (const Thread& t : p_.threads)
      for (const Instruction& i : t.code)
        if ((i.location == location && i.op != Op::read && i.op != Op::flush) ||
            (i.source == location &&
             (i.op == Op::rga || i.op == Op::remote_cas || i.op == Op::rcas || i.op == Op::rfaa)))
          return domain_;
    return {at(p_.locations, location).init};
  }

  // --- values first ---
  void unfold(int thread, int pc, const Trace& so_far) {
    if (++work_ > limit_) gave_up_ = true;
    if (gave_up_) return;
    if (pc == len(at(p_.threads, thread).code)) {
      traces_.back().push_back(so_far);
      return;
    }
    const Instruction& i = at(at(p_.threads, thread).code, pc);
    const int home = node_of(thread);
    Trace base = so_far;
    if (i.op == Op::assign) {
      at(base.registers, i.target) = eval(base, i.expr);
      return unfold(thread, pc + 1, base);
    }
    base.events.push_back({thread, &i, 0});
    const int e = len(base.events) - 1;
    const auto sub = [&](Stamp s, int node) {
      Sub x;
      x.event = e;
      x.stamp = s;
      x.node = node;
      return x;
    };
    const auto reading = [&](Sub x, int c, Value v) {
      x.r = true;
      x.cell = c;
      x.read = v;
      return x;
    };
    const auto writing = [&](Sub x, int c, Value v) {
      x.w = true;
      x.cell = c;
      x.written = v;
      return x;
    };
    const auto go = [&](const Trace& t) { unfold(thread, pc + 1, t); };
    if (is_corerma(model_)) return core(thread, pc, base, i);
    switch (i.op) {
      case Op::read:
        for (const Value v : values(i.location)) {
          Trace t = base;
          t.subs.push_back(reading(sub(Stamp::aCR, kNone), cell(i.location, home), v));
          at(t.registers, i.target) = v;
          go(t);
        }
        return;
      case Op::write:
        base.subs.push_back(writing(sub(Stamp::aCW, kNone), cell(i.location, home), eval(base, i.expr)));
        return go(base);
      case Op::cas:
        for (const Value v : values(i.location)) {
          Trace t = base;
          const Value v1 = eval(base, i.expr), v2 = eval(base, i.expr2);
          if (v == v1) {
            t.subs.push_back(
                writing(reading(sub(Stamp::aCAS, kNone), cell(i.location, home), v), cell(i.location, home), v2));
          } else {
            t.subs.push_back(sub(Stamp::aMF, kNone));
            t.subs.push_back(reading(sub(Stamp::aCR, kNone), cell(i.location, home), v));
          }
          at(t.registers, i.target) = v;
          go(t);
        }
        return;
      case Op::mfence:
        base.subs.push_back(sub(Stamp::aMF, kNone));
        return go(base);
      case Op::wait:
      case Op::poll:
        base.subs.push_back(sub(Stamp::aWT, kNone));
        return go(base);
      case Op::rfence:
        base.subs.push_back(sub(Stamp::aRF, i.node));
        return go(base);
      case Op::put:
      case Op::get: {
        const int n = at(p_.locations, i.op == Op::put ? i.location : i.source).node;
        for (const Value v : values(i.source)) {
          Trace t = base;
          t.subs.push_back(reading(sub(i.op == Op::put ? Stamp::aNLR : Stamp::aNRR, n), cell(i.source, home), v));
          t.subs.push_back(writing(sub(i.op == Op::put ? Stamp::aNRW : Stamp::aNLW, n), cell(i.location, home), v));
          go(t);
        }
        return;
      }
      case Op::rcas:
      case Op::rfaa:
        for (const Value v : values(i.source)) {
          Trace t = base;
          t.subs.push_back(reading(sub(Stamp::aNAR, i.node), cell(i.source, home), v));
          if (i.op == Op::rfaa || v == eval(base, i.expr)) {
            const Value desired = i.op == Op::rfaa ? v + eval(base, i.expr) : eval(base, i.expr2);
            t.subs.push_back(writing(sub(Stamp::aNRW, i.node), cell(i.source, home), desired));
          }
          t.subs.push_back(writing(sub(Stamp::aNLW, i.node), cell(i.location, home), v));
          go(t);
        }
        return;
      case Op::gf:
        for (const int n : i.nodes) base.subs.push_back(sub(Stamp::aGF, n));
        return go(base);
      case Op::bcast:
        return bcast(thread, pc, base, i, 0);
      case Op::barrier: {
        const Barrier& b = at(p_.barriers, i.object);
        std::set<int> nodes(p_.nodes.begin(), p_.nodes.end());
        if (!b.transitive) {
          nodes.clear();
          for (const int t : b.participants) nodes.insert(node_of(t));
        }
        for (const int n : nodes) base.subs.push_back(sub(Stamp::aGF, n));
        base.subs.push_back(sub(Stamp::aCR, kNone));
        return go(base);
      }
      case Op::submit: {
        Trace f = base;
        f.events.back().result = kFalse;
        f.subs.push_back(sub(Stamp::aWT, kNone));
        at(f.registers, i.target) = kFalse;
        go(f);
        base.events.back().result = kTrue;
        Sub w = sub(Stamp::aCW, kNone);
        w.written = eval(base, i.expr);
        base.subs.push_back(w);
        std::set<int> nodes;
        for (const int t : at(p_.ringbuffers, i.object).readers)
          if (node_of(t) != home) nodes.insert(node_of(t));
        for (const int n : nodes) {
          w.stamp = Stamp::aNRW;
          w.node = n;
          base.subs.push_back(w);
        }
        at(base.registers, i.target) = kTrue;
        return go(base);
      }
      case Op::receive: {
        Trace f = base;
        f.events.back().result = kEmpty;
        f.subs.push_back(sub(Stamp::aWT, kNone));
        at(f.registers, i.target) = kEmpty;
        go(f);
        for (const Value v : domain_) {
          Trace t = base;
          t.events.back().result = v;
          Sub r = sub(Stamp::aCR, kNone);
          r.read = v;
          t.subs.push_back(r);
          at(t.registers, i.target) = v;
          go(t);
        }
        return;
      }
      default:
        gave_up_ = true;
        return;
    }
  }

  void bcast(int thread, int pc, const Trace& so_far, const Instruction& i, int k) {
    if (k == len(i.nodes)) return unfold(thread, pc + 1, so_far);
    const int n = at(i.nodes, k), e = len(so_far.events) - 1;
    for (const Value v : domain_) {
      Trace t = so_far;
      Sub r;
      r.event = e;
      r.stamp = Stamp::aNLR;
      r.node = n;
      r.r = true;
      r.read = v;
      r.cell = cell(i.location, node_of(thread));
      t.subs.push_back(r);
      Sub w;
      w.event = e;
      w.stamp = Stamp::aNRW;
      w.node = n;
      w.w = true;
      w.written = v;
      w.cell = cell(i.location, n);
      t.subs.push_back(w);
      bcast(thread, pc, t, i, k + 1);
    }
  }

  void core(int thread, int pc, Trace base, const Instruction& i) {
    const int e = len(base.events) - 1, home = node_of(thread);
    const auto sub = [&](const std::string& kind, int dst) {
      Sub s;
      s.event = e;
      s.core = kind;
      s.node = dst;
      return s;
    };
    const auto rd = [&](Sub s, int location, Value v) {
      s.r = true;
      s.cell = cell(location, 0);
      s.read = v;
      return s;
    };
    const auto wr = [&](Sub s, int location, Value v) {
      s.w = true;
      s.cell = cell(location, 0);
      s.written = v;
      return s;
    };
    const auto go = [&](const Trace& t) { unfold(thread, pc + 1, t); };
    if (i.op == Op::flush) {
      base.subs.push_back(sub("flush", i.node));
      return go(base);
    }
    if (i.op == Op::write) {
      base.subs.push_back(wr(sub("w", home), i.location, eval(base, i.expr)));
      return go(base);
    }
    const int first = i.op == Op::read ? i.location : i.operand != kNone ? i.operand : i.source;
    for (const Value v : values(first)) {
      Trace t = base;
      if (i.op == Op::read) {
        t.subs.push_back(rd(sub("r", home), i.location, v));
        at(t.registers, i.target) = v;
        go(t);
      } else if (i.op == Op::put || i.op == Op::get) {
        t.subs.push_back(rd(sub("er", i.op == Op::put ? home : i.node), i.source, v));
        t.subs.push_back(wr(sub("ew", i.op == Op::put ? i.node : home), i.location, v));
        go(t);
      } else if (i.op == Op::rga) {
        for (const Value old : values(i.source)) {
          Trace u = t;
          u.subs.push_back(rd(sub("er", home), i.operand, v));
          u.subs.push_back(wr(rd(sub("erw", i.node), i.source, old), i.source, v + old));
          u.subs.push_back(wr(sub("ew", home), i.location, old));
          go(u);
        }
      } else if (i.op == Op::remote_cas) {
        for (const Value w : values(i.operand2))
          for (const Value old : values(i.source)) {
            Trace u = t;
            u.subs.push_back(rd(sub("er", home), i.operand, v));
            u.subs.push_back(rd(sub("er", home), i.operand2, w));
            u.subs.push_back(wr(rd(sub("erw", i.node), i.source, old), i.source, v == old ? w : old));
            u.subs.push_back(wr(sub("ew", home), i.location, old));
            go(u);
          }
      } else {
        gave_up_ = true;
      }
    }
  }

  const Program& p_;
  std::string model_;
  std::uint64_t limit_;
  std::uint64_t work_ = 0;
  bool gave_up_ = false;
  std::vector<Value> domain_;
  std::vector<std::vector<Trace>> traces_;
};

}  // namespace

Traces unfold(const Program& p, const std::string& model, std::uint64_t limit) {
  return Unfolder(p, model, limit).run();
}

int cell_of(const Program& p, int location, int node) {
  const bool shared = at(p.locations, location).kind == LocationKind::shared;
  return location * 1000 + (shared ? node : 0);
}

}  // namespace loco::model::litmus::test
