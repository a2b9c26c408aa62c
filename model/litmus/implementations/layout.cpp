#include "model/litmus/implementations/layout.hpp"

#include <string>
#include <utility>

namespace loco::model::litmus {
namespace {

/// Radix of the hash of a tuple: injective for elements of a smaller absolute value.
constexpr Value kHashRadix = 1'000'003;

class Architect {
 public:
  Architect(const Program& source, const Implementation& how, Program& out) : source_(source), how_(how), out_(out) {}

  Layout run() {
    lay_out_locations();
    lay_out_objects();
    return std::move(layout_);
  }

 private:
  int add_word(std::string name, int node, Value init, bool fresh) {
    Location l;
    l.name = std::move(name);
    l.node = node;
    l.init = init;
    l.fresh = fresh;
    out_.locations.push_back(std::move(l));
    return len(out_.locations) - 1;
  }
  /// One word on every node.
  std::vector<int> replicate(const std::string& name, Value init = 0, bool fresh = true) {
    std::vector<int> words;
    for (const int node : source_.nodes)
      words.push_back(add_word(name + "@" + std::to_string(node), node, init, fresh));
    return words;
  }

  void lay_out_locations() {
    for (const Location& l : source_.locations) {
      switch (l.kind) {
        case LocationKind::word:
          layout_.words.push_back({add_word(l.name, l.node, l.init, l.fresh)});
          out_.locations.back().relaxed = l.relaxed;
          out_.locations.back().device = l.device;
          break;
        case LocationKind::shared:
          layout_.words.push_back(replicate(l.name, l.init, l.fresh));
          break;
        case LocationKind::tuple:
          layout_.words.push_back(tuple_cells(l));
          break;
      }
    }
  }
  /// hash, data...; or leading guard, data..., trailing guard.
  std::vector<int> tuple_cells(const Location& l) {
    const std::vector<Value> init = at(source_.tuples, static_cast<int>(l.init - kFirstTuple));
    const bool guards = how_.mixed_size != MixedSize::hash;
    std::vector<int> cells = {
        add_word(l.name + (guards ? ".lead" : ".hash"), l.node, guards ? 0 : tuple_hash(init), true)};
    for (int i = 0; i < l.tuple_size; ++i)
      cells.push_back(add_word(l.name + "." + std::to_string(i), l.node, at(init, i), true));
    if (guards) cells.push_back(add_word(l.name + ".trail", l.node, 0, true));
    return cells;
  }

  void lay_out_objects() {
    bool needs_fence = false;
    for (const Thread& t : source_.threads)
      for (const Instruction& i : t.code) needs_fence = needs_fence || i.op == Op::gf || i.op == Op::barrier;
    if (needs_fence) layout_.fence = replicate("$fence");
    for (const Barrier& b : source_.barriers) {
      std::vector<int> words;
      for (const int t : b.participants) {
        const auto copies = replicate("$" + b.name + "." + std::to_string(t));
        words.insert(words.end(), copies.begin(), copies.end());
      }
      layout_.counters.push_back(std::move(words));
    }
    for (int q = 0; q < len(source_.ringbuffers); ++q) {
      const RingBuffer& r = at(source_.ringbuffers, q);
      Layout::Ring ring;
      for (int c = 0; c < how_.ring_cells; ++c) append(ring.cells, replicate("$" + r.name + "." + std::to_string(c)));
      ring.head = replicate("$" + r.name + ".head");
      for (const int t : r.readers) append(ring.tails, replicate("$" + r.name + ".tail" + std::to_string(t)));
      out_.work_ids.push_back("$" + r.name);
      ring.work_id = len(out_.work_ids) - 1;
      for (const Instruction& i : at(source_.threads, r.writer).code)
        if (i.op == Op::submit && i.object == q) ++ring.submits;
      layout_.rings.push_back(std::move(ring));
    }
  }
  static void append(std::vector<int>& to, const std::vector<int>& from) {
    to.insert(to.end(), from.begin(), from.end());
  }

  const Program& source_;
  const Implementation& how_;
  Program& out_;
  Layout layout_;
};

}  // namespace

Layout lay_out(const Program& source, const Implementation& how, Program& out) {
  return Architect(source, how, out).run();
}

Value tuple_hash(const std::vector<Value>& elements) {
  Value h = 0;
  for (const Value v : elements) h = h * kHashRadix + v;
  return h;
}

}  // namespace loco::model::litmus
