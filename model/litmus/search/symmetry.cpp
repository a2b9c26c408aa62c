#include "model/litmus/search/symmetry.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace loco::model::litmus {
namespace {

bool is_condition(ExprOp op) {
  return op == ExprOp::eq || op == ExprOp::ne || op == ExprOp::logical_not || op == ExprOp::logical_and ||
         op == ExprOp::logical_or;
}
bool is_plain(ExprOp op) { return op == ExprOp::constant || op == ExprOp::reg; }

/// May values be exchanged? Only if they are copied and compared for equality, never computed with. `true` compares
/// as 1, so what is compared must neither come from a library that returns it nor be written so.
bool only_data(const Program& p) {
  bool compared = false;
  bool other_values = !p.tuples.empty() || std::any_of(p.exprs.begin(), p.exprs.end(), [](const Expr& e) {
    return e.op == ExprOp::constant && !is_integer(e.constant);
  });
  const auto condition = [&](const auto& self, int e) -> bool {
    if (e == kNone) return true;
    const Expr& x = at(p.exprs, e);
    const bool comparison = x.op == ExprOp::eq || x.op == ExprOp::ne;
    if (comparison) return is_plain(at(p.exprs, x.lhs).op) && is_plain(at(p.exprs, x.rhs).op);
    return is_plain(x.op) || (is_condition(x.op) && self(self, x.lhs) && self(self, x.rhs));
  };
  for (const Thread& t : p.threads)
    for (const Instruction& i : t.code) {
      if (i.op == Op::rga || i.op == Op::remote_cas) return false;
      if (i.op == Op::rfaa) return false;
      compared = compared || i.op == Op::branch_zero || i.op == Op::assertion || i.op == Op::cas || i.op == Op::rcas;
      other_values = other_values || i.op == Op::submit || i.op == Op::receive;
      if (i.op == Op::branch_zero || i.op == Op::assertion) {
        if (!condition(condition, i.expr)) return false;
      } else {
        for (const int e : {i.expr, i.expr2})
          if (e != kNone && !is_plain(at(p.exprs, e).op)) return false;
      }
    }
  return !(compared && other_values);
}

/// Finds the symmetries thread by thread, binding all that the code of a thread and of its image name.
class Finder {
 public:
  explicit Finder(const Program& program) : p_(program), values_may_change_(only_data(program)) {
    const int highest = p_.nodes.empty() ? 0 : p_.nodes.back();
    nodes_.resize(highest + 1);
    threads_.resize(len(p_.threads));
    locations_.resize(len(p_.locations));
    barriers_.resize(len(p_.barriers));
    rings_.resize(len(p_.ringbuffers));
    for (const Thread& t : p_.threads) {
      registers_.emplace_back().resize(len(t.registers));
      work_ids_.emplace_back().resize(len(p_.work_ids));
    }
    collect_values();
  }

  /// Those that leave the threads before `fixed` where they are. False if there are more than `most`.
  bool find(int fixed, std::size_t most, std::vector<Automorphism>& found) {
    fixed_ = fixed;
    most_ = most;
    found_ = &found;
    found.clear();
    return choose(0);
  }

 private:
  /// A bijection under construction, with a list of its steps to undo.
  class Bijection {
   public:
    void resize(int n) {
      to_.assign(static_cast<std::size_t>(n), kNone);
      from_ = to_;
    }
    bool bind(int a, int b) {
      if ((a == kNone) != (b == kNone)) return false;
      if (a == kNone) return true;
      if (at(to_, a) == b) return true;
      if (at(to_, a) != kNone || at(from_, b) != kNone) return false;
      at(to_, a) = b;
      at(from_, b) = a;
      bound_.push_back(a);
      return true;
    }
    [[nodiscard]] int operator[](int a) const { return at(to_, a); }
    [[nodiscard]] int origin(int b) const { return at(from_, b); }
    [[nodiscard]] bool reached(int b) const { return at(from_, b) != kNone; }
    [[nodiscard]] std::size_t mark() const { return bound_.size(); }
    void undo(std::size_t mark) {
      for (; bound_.size() > mark; bound_.pop_back()) {
        at(from_, at(to_, bound_.back())) = kNone;
        at(to_, bound_.back()) = kNone;
      }
    }

   private:
    std::vector<int> to_, from_, bound_;
  };

  void collect_values() {
    for (const Expr& e : p_.exprs)
      if (e.op == ExprOp::constant) values_.push_back(e.constant);
    for (const Location& l : p_.locations) values_.push_back(l.init);
    std::sort(values_.begin(), values_.end());
    values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
    value_images_.resize(len(values_));
  }

  /// False when there are too many.
  bool choose(int t) {
    if (t == len(p_.threads)) return complete();
    for (int image = 0; image < len(p_.threads); ++image) {
      if (threads_.reached(image) || (t < fixed_ && image != t)) continue;
      const std::size_t shared[] = {threads_.mark(),  nodes_.mark(), locations_.mark(),
                                    barriers_.mark(), rings_.mark(), value_images_.mark()};
      const std::size_t own[] = {at(registers_, t).mark(), at(work_ids_, t).mark()};
      const bool on = !match_thread(t, image) || choose(t + 1);
      threads_.undo(shared[0]);
      nodes_.undo(shared[1]);
      locations_.undo(shared[2]);
      barriers_.undo(shared[3]);
      rings_.undo(shared[4]);
      value_images_.undo(shared[5]);
      at(registers_, t).undo(own[0]);
      at(work_ids_, t).undo(own[1]);
      if (!on) return false;
    }
    return true;
  }

  bool match_thread(int t, int image) {
    const Thread &a = at(p_.threads, t), &b = at(p_.threads, image);
    if (a.code.size() != b.code.size() || a.registers.size() != b.registers.size()) return false;
    for (int i = 0; i < len(a.code); ++i)
      if (at(a.code, i).op != at(b.code, i).op) return false;
    if (!threads_.bind(t, image) || !nodes_.bind(a.node, b.node)) return false;
    for (int i = 0; i < len(a.code); ++i)
      if (!match(t, at(a.code, i), at(b.code, i))) return false;
    return true;
  }

  bool match(int t, const Instruction& a, const Instruction& b) {
    const bool ring = a.op == Op::submit || a.op == Op::receive;
    if (a.op == Op::poll && a.target != kNone && &a != &b) return false;  // identifiers are values
    Bijection& registers = at(registers_, t);
    return a.library == b.library && a.atomic == b.atomic && a.jump == b.jump && a.nodes.size() == b.nodes.size() &&
           registers.bind(a.target, b.target) && match_location(a.location, b.location) &&
           match_location(a.source, b.source) && match_location(a.operand, b.operand) &&
           match_location(a.operand2, b.operand2) && match_expr(t, a.expr, b.expr) && match_expr(t, a.expr2, b.expr2) &&
           nodes_.bind(a.node, b.node) && (ring ? rings_ : barriers_).bind(a.object, b.object) &&
           at(work_ids_, t).bind(a.work_id, b.work_id);
  }

  bool match_location(int a, int b) {
    if (a == kNone || b == kNone) return a == b;
    if (locations_[a] == b) return true;
    const Location &x = at(p_.locations, a), &y = at(p_.locations, b);
    return x.kind == y.kind && x.fresh == y.fresh && x.tuple_size == y.tuple_size && x.relaxed == y.relaxed &&
           x.device == y.device && locations_.bind(a, b) && nodes_.bind(x.node, y.node) && match_value(x.init, y.init);
  }

  bool match_expr(int t, int a, int b) {
    if (a == kNone || b == kNone) return a == b;
    const Expr &x = at(p_.exprs, a), &y = at(p_.exprs, b);
    if (x.op != y.op) return false;
    if (x.op == ExprOp::constant) return match_value(x.constant, y.constant);
    if (x.op == ExprOp::reg) return at(registers_, t).bind(x.reg, y.reg);
    return match_expr(t, x.lhs, y.lhs) && match_expr(t, x.rhs, y.rhs);
  }

  bool match_value(Value a, Value b) {
    const bool alike = (is_integer(a) && is_integer(b) && a != 0 && b != 0) || (is_tuple(a) && is_tuple(b));
    return (a == b || (values_may_change_ && alike)) && value_images_.bind(index(a), index(b));
  }
  [[nodiscard]] int index(Value v) const {
    return static_cast<int>(std::lower_bound(values_.begin(), values_.end(), v) - values_.begin());
  }
  /// Does the value become another one?
  [[nodiscard]] bool moves(Value v) const {
    const int image = value_images_[index(v)];
    return image != kNone && image != index(v);
  }

  /// All threads are matched: is it a symmetry of the rest, too?
  bool complete() {
    const std::size_t mark = nodes_.mark();
    Automorphism a;
    if (bind_other_nodes() && sets_agree() && map_observables(a)) {
      bool identity = true;
      for (int t = 0; t < len(p_.threads); ++t) {
        a.threads.push_back(threads_[t]);
        a.origins.push_back(threads_.origin(t));
        identity = identity && threads_[t] == t;
      }
      for (int n = 0; n <= p_.nodes.back(); ++n) a.nodes.push_back(nodes_[n] == kNone ? n : nodes_[n]);
      for (int v = 0; v < len(values_); ++v)
        if (value_images_[v] != kNone && value_images_[v] != v)
          a.values.emplace_back(at(values_, v), at(values_, value_images_[v]));
      if (!identity) found_->push_back(std::move(a));
    }
    nodes_.undo(mark);
    return found_->size() < most_;
  }

  /// Nodes that no thread and no location used is on stay where they are.
  bool bind_other_nodes() {
    return std::all_of(p_.nodes.begin(), p_.nodes.end(),
                       [&](int n) { return nodes_[n] != kNone || nodes_.bind(n, n); });
  }

  template <class Set>
  static bool same_set(const Set& a, const Set& b, const Bijection& map) {
    Set image;
    for (const int x : a) image.push_back(map[x]);
    std::sort(image.begin(), image.end());
    return image == b;
  }

  [[nodiscard]] bool sets_agree() const {
    for (int t = 0; t < len(p_.threads); ++t)
      for (int i = 0; i < len(at(p_.threads, t).code); ++i)
        if (!same_set(at(at(p_.threads, t).code, i).nodes, at(at(p_.threads, threads_[t]).code, i).nodes, nodes_))
          return false;
    for (int b = 0; b < len(p_.barriers); ++b) {
      const Barrier &x = at(p_.barriers, b), &y = at(p_.barriers, barriers_[b] == kNone ? b : barriers_[b]);
      if (barriers_[b] == kNone) continue;  // nobody calls it: then either all or nobody may
      if (x.transitive != y.transitive || !same_set(x.participants, y.participants, threads_)) return false;
    }
    for (int r = 0; r < len(p_.ringbuffers); ++r) {
      if (rings_[r] == kNone) continue;
      const RingBuffer &x = at(p_.ringbuffers, r), &y = at(p_.ringbuffers, rings_[r]);
      if (threads_[x.writer] != y.writer || !same_set(x.readers, y.readers, threads_)) return false;
    }
    return true;
  }

  bool map_observables(Automorphism& a) const {
    for (const Observable& o : p_.observables) {
      Observable image = o;
      if (o.thread != kNone) {
        image.thread = threads_[o.thread];
        const int reg = at(registers_, o.thread)[o.reg];
        if (reg == kNone && image.thread != o.thread) return false;
        if (reg != kNone) image.reg = reg;
      } else if (locations_[o.location] != kNone) {
        image.location = locations_[o.location];
        image.node = o.node == kNone ? kNone : nodes_[o.node];
      } else if (moves(at(p_.locations, o.location).init)) {
        return false;  // nobody touches it: every copy keeps its value
      }
      const auto found = std::find_if(p_.observables.begin(), p_.observables.end(), [&](const Observable& other) {
        return other.thread == image.thread && other.reg == image.reg && other.location == image.location &&
               other.node == image.node;
      });
      if (found == p_.observables.end()) return false;
      a.observables.push_back(static_cast<int>(found - p_.observables.begin()));
    }
    return true;
  }

  const Program& p_;
  bool values_may_change_;
  int fixed_ = 0;
  std::size_t most_ = 0;
  std::vector<Automorphism>* found_ = nullptr;
  std::vector<Value> values_;  // all constants, sorted
  Bijection threads_, nodes_, locations_, barriers_, rings_, value_images_;
  std::vector<Bijection> registers_, work_ids_;  // by thread
};

}  // namespace

Value Automorphism::image(Value v) const {
  const auto it = std::lower_bound(values.begin(), values.end(), v,
                                   [](const std::pair<Value, Value>& p, Value wanted) { return p.first < wanted; });
  return it == values.end() || it->first != v ? v : it->second;
}

void Automorphism::image(std::span<const Value> outcome, Outcome& to) const {
  to.resize(outcome.size());
  for (std::size_t i = 0; i < outcome.size(); ++i) to[static_cast<std::size_t>(observables[i])] = image(outcome[i]);
}

void Automorphism::map_subevents(const Skeleton& x, std::vector<std::int16_t>& image) const {
  image.resize(static_cast<std::size_t>(x.n));
  for (int i = 0; i < x.n; ++i) {
    const SubEvent& s = x.sub(i);
    const EventInfo& e = x.event_of(i);
    // Paths of a thread and its image have the same events at the same places; parts of one are in order of nodes.
    const int first = at(x.offset, at(threads, s.thread)) + e.first - at(x.offset, s.thread);
    int found = s.action == Action::none ? kNone : first + i - e.first;
    for (int j = first; j < first + e.count && found == kNone; ++j) {
      const SubEvent& t = x.sub(j);
      if (t.stamp == s.stamp && (!is_family(s.stamp) || t.node == at(nodes, s.node))) found = j;
    }
    if (found == kNone) throw std::logic_error("a symmetry of the program is none of its executions");
    at(image, i) = static_cast<std::int16_t>(found);
  }
}

Symmetry::Symmetry(const Program& program) {
  Finder finder(program);
  std::vector<Automorphism> found;
  for (int fixed = len(program.threads) - 2; fixed >= 0; --fixed) {
    if (!finder.find(fixed, kOrderMax, found)) break;
    if (found.size() > elements_.size()) elements_.swap(found);
  }
  // Those that leave the threads before `first` and move it, one for each place: every symmetry is a product of one
  // for the first thread, one for the second, ...
  std::vector<std::pair<int, int>> moves;
  for (std::size_t i = 0; i < elements_.size(); ++i) {
    int first = 0;
    while (at(elements_[i].threads, first) == first) ++first;
    const std::pair<int, int> move(first, at(elements_[i].threads, first));
    if (std::find(moves.begin(), moves.end(), move) != moves.end()) continue;
    moves.push_back(move);
    factors_.resize(std::max(factors_.size(), static_cast<std::size_t>(first) + 1));
    at(factors_, first).push_back(i);
  }
}

void Symmetry::close(Outcomes& outcomes, const std::function<bool()>& goes_on) const {
  Outcome of;
  for (auto factors = factors_.rbegin(); factors != factors_.rend(); ++factors) {
    const std::size_t n = outcomes.size();
    for (const std::size_t f : *factors)
      for (std::size_t o = 0; o < n; ++o) {
        if (!goes_on()) return;
        elements_[f].image(outcomes.row(o), of);
        outcomes.insert(of);
      }
  }
}

void Symmetry::close(std::vector<std::pair<int, int>>& instructions) const {
  const std::vector<std::pair<int, int>> found = instructions;
  for (const auto& [thread, instruction] : found)
    for (const Automorphism& a : elements_) instructions.emplace_back(at(a.threads, thread), instruction);
}

}  // namespace loco::model::litmus
