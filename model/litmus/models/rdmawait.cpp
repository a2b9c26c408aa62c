// rdmawait-consistency: LOCO paper, Appendix G.2 and Definition G.2. Hold the page beside it.
#include <algorithm>

#include "model/litmus/models/rdma.hpp"

namespace loco::model::litmus {

namespace {

/// (write of an operation with a work identifier, aWT of a later wait on it), for writes with the given stamp.
Relation waited_for(const Skeleton& x, const Set& events, Stamp write) {
  Relation pf(x.n);
  const Relation later_waits = x.po.from(x.stamp(write) & events).to(x.stamp(Stamp::aWT) & events);
  later_waits.for_each([&](int w, int t) {
    const Instruction& operation = x.instruction(x.sub(w).event);
    const Instruction& wait = x.instruction(x.sub(t).event);
    if (wait.op == Op::wait && operation.work_id == wait.work_id) pf.add(w, t);
  });
  return pf;
}

/// A read of device memory flushes no writes to host memory, nor the other way round.
Relation in_one_memory(const Skeleton& x, const Relation& pairs) {
  if (std::none_of(x.program->locations.begin(), x.program->locations.end(),
                   [](const Location& l) { return l.device; }))
    return pairs;
  Relation result(x.n);
  pairs.for_each([&](int i, int j) {
    if (x.one_memory(i, j)) result.add(i, j);
  });
  return result;
}

/// Remote atomics: within one, the read comes before the writes that it feeds (iso); of those of a node one after the
/// other is executed (rao), whichever thread they are of.
void add_atomics(const Skeleton& x, const Set& reads, const ModelOptions& options, Axioms& a) {
  reads.for_each([&](int r) {
    (x.of_event(x.sub(r).event) & (x.stamp(Stamp::aNRW) | x.stamp(Stamp::aNLW))).for_each([&](int w) {
      if (w == r) return;  // it is its own write
      a.so.add(r, w);
      a.ib.add(r, w);
      if (x.sub(w).stamp == Stamp::aNRW) a.atomics.emplace_back(r, w);
    });
    reads.for_each([&](int later) {
      const bool one_unit =
          x.sub(r).node == x.sub(later).node && (!options.banked_atomics || x.same_cell.contains(r, later));
      if (r < later && one_unit) a.rao.emplace_back(r, later);
    });
  });
}

}  // namespace

void add_rdma(const Skeleton& x, const Set& events, const Relation& pf_ib, const Relation& pf_so,
              const ModelOptions& options, Axioms& a) {
  const auto stamp = [&](Stamp s) { return x.stamp(s) & events; };
  const Set aCR = stamp(Stamp::aCR), aCW = stamp(Stamp::aCW), aMF = stamp(Stamp::aMF), aWT = stamp(Stamp::aWT);
  const Set aNLR = stamp(Stamp::aNLR), aNRW = stamp(Stamp::aNRW), aNRR = stamp(Stamp::aNRR);
  const Set aNLW = stamp(Stamp::aNLW), aRF = stamp(Stamp::aRF);
  const Relation po = x.po.from(events).to(events);
  const Relation ppo = x.ppo.from(events).to(events);

  Relation same_event(x.n), same_node(x.n);
  events.for_each([&](int i) {
    events.for_each([&](int j) {
      if (x.sub(i).thread != x.sub(j).thread) return;
      if (x.sub(i).event == x.sub(j).event) same_event.add(i, j);
      if (x.sub(i).node == x.sub(j).node) same_node.add(i, j);
    });
  });

  // iso: a failing CAS fences before it reads; puts and gets read before they write.
  const Relation iso = same_event.from(aMF).to(aCR) | same_event.from(aNRR).to(aNLW) | same_event.from(aNLR).to(aNRW);
  // ippo: ppo, and the order of starting of cells B1, B5, G10, I10, and of pairs that memory regions weaken.
  const Relation ippo = ppo | x.weakened.from(events).to(events) | po.from(aCW).to(aCR | aWT) |
                        (po.from(aNRW | aNLW).to(aRF) & same_node);

  const Relation locations = x.same_cell.from(events).to(events);
  const Relation rf = locations.from(x.writes).to(x.reads);
  const Relation rb = locations.from(x.reads).to(x.writes);
  const Relation rfi = (po & rf).from(aCW).to(aCR);
  const Relation rbi = ((po | po.inverse()) & rb).from(aCR).to(aCW);

  // ib = (ippo U iso U rf U pfg U pfp U nfo U rb_i)+
  a.ib |= ippo | iso | pf_ib;
  a.rf_ib |= rf;
  a.rb_ib |= rbi;
  // so = iso U rf_e U pfg U nfo U rb U mo U [Inst];ib
  a.so |= iso | pf_so;
  a.rf_so |= rf - rfi;
  a.rb_so |= rb;
  a.mo |= locations.from(x.writes).to(x.writes);
  a.nfo |= in_one_memory(x, same_node & (cross(aNLR, aNLW, x.n) | cross(aNRR, aNRW, x.n)));
  a.rf |= rf;
  const Set aNAR = stamp(Stamp::aNAR);
  a.started |= (aCW | aNLW | aNRW) - aNAR;  // Inst is the rest
  if (!aNAR.empty()) add_atomics(x, aNAR, options, a);
}

void add_rdmawait(const Skeleton& x, Library library, const ModelOptions& options, Axioms& a) {
  const Set& events = x.libraries.at(static_cast<std::size_t>(library));
  if (events.empty()) return;
  const Relation pfg = waited_for(x, events, Stamp::aNLW);
  const Relation pfp = waited_for(x, events, Stamp::aNRW);
  add_rdma(x, events, pfg | pfp, pfg, options, a);
}

bool rdmawait(const Skeleton& x, const ModelOptions& options, Axioms& a) {
  add_rdmawait(x, Library::rdmawait, options, a);
  return true;
}

}  // namespace loco::model::litmus
