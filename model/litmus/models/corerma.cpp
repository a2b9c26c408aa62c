// coreRMA: coreRMA paper, Fig. 4. Every rule adds to hb, which here is `so`; there is no ib.
//
// With all accesses atomic, WS makes hb total on the writes of a location, so mo is that order and R1 is rb.
// R1 is read with r != w2: an erw is ordered before later writes, not before itself.
#include "model/litmus/axioms.hpp"

namespace loco::model::litmus {
namespace {

/// Which remote actions of one process to one target keep their order.
enum class Routing : std::uint8_t { in_order, same_kind, none };

bool core_rules(const Skeleton& x, Routing routing, Axioms& a) {
  const auto action = [&](int i) { return x.sub(i).action; };
  const auto is_external = [&](int i) {
    return action(i) == Action::er || action(i) == Action::ew || action(i) == Action::erw;
  };
  const auto is_local = [&](int i) { return action(i) == Action::r || action(i) == Action::w; };
  const auto op = [&](int i) { return x.instruction(x.sub(i).event).op; };
  // Remote: the action of the statement on the target's memory.
  const auto is_remote = [&](int i) {
    return (op(i) == Op::put && action(i) == Action::ew) || (op(i) == Op::get && action(i) == Action::er) ||
           action(i) == Action::erw;
  };
  const auto dst = [&](int i) { return x.instruction(x.sub(i).event).node; };  // of remote statements and flushes
  const auto src = [&](int i) { return at(x.program->threads, x.sub(i).thread).node; };

  for (int i = 0; i < x.n; ++i) {
    // PG, GA, CAS: within a statement, er before erw before ew. The two operands of a CAS are read in any order: Fig. 4
    // has po between them, and hb from each of them to erw.
    if (is_external(i)) {
      for (int j = i + 1; j < x.n && x.sub(j).event == x.sub(i).event; ++j)
        if (action(j) != Action::er) a.so.add(i, j);
    }
    x.po.row(i).for_each([&](int j) {
      if (is_local(i)) a.so.add(i, j);                                                       // LO
      if (action(i) == Action::flush && is_local(j)) a.so.add(i, j);                         // F1
      if (is_external(i) && action(j) == Action::flush && dst(i) == dst(j)) a.so.add(i, j);  // F2
      if (action(i) == Action::flush && is_external(j) && dst(i) == dst(j)) a.so.add(i, j);  // F3
      if (is_remote(i) && is_remote(j) && dst(i) == dst(j) && dst(i) != src(i)) {            // IR
        const bool same_kind = op(i) == op(j) && (op(i) == Op::put || op(i) == Op::get);
        if (routing == Routing::in_order || (routing == Routing::same_kind && same_kind)) a.so.add(i, j);
      }
    });
  }

  Set atomic;
  for (int i = 0; i < x.n; ++i) {
    if (x.sub(i).atomic) atomic.insert(i);
    if (!x.sub(i).atomic && x.sub(i).cell != kNone) a.conflicts = true;
  }
  const Relation& cells = x.same_cell;
  a.rf |= cells.from(x.writes).to(x.reads);
  const Relation atomics = cells.from(atomic).to(atomic);
  a.rf_so |= atomics.from(x.writes).to(x.reads);  // R2
  a.rb_so |= atomics.from(x.reads).to(x.writes);  // R1
  a.mo |= atomics.from(x.writes).to(x.writes);    // WS
  return true;
}

}  // namespace

bool corerma(const Skeleton& x, const ModelOptions&, Axioms& a) { return core_rules(x, Routing::in_order, a); }

/// VPI Verbs (Section 7): without IR, but puts to one target keep their order, and gets.
bool corerma_verbs(const Skeleton& x, const ModelOptions&, Axioms& a) { return core_rules(x, Routing::same_kind, a); }

bool corerma_unordered(const Skeleton& x, const ModelOptions&, Axioms& a) { return core_rules(x, Routing::none, a); }

}  // namespace loco::model::litmus
