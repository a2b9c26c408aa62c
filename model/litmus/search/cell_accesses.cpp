#include "model/litmus/search/cell_accesses.hpp"

#include <algorithm>

namespace loco::model::litmus {

void CellAccesses::collect(const Skeleton& x) {
  cells_.clear();
  std::vector<int> index(static_cast<std::size_t>(x.cells->count()), kNone);
  for (int i = 0; i < x.n; ++i) {
    const int cell = x.sub(i).cell;
    if (cell == kNone) continue;
    if (at(index, cell) == kNone) {
      at(index, cell) = len(cells_);
      cells_.push_back({cell, {}, {}});
    }
    index_[static_cast<std::size_t>(i)] = static_cast<std::int16_t>(at(index, cell));
    Cell& accesses = at(cells_, at(index, cell));
    if (x.sub(i).writes) accesses.writes.push_back(i);
    if (x.sub(i).reads) accesses.reads.push_back(i);
  }
}

const CellAccesses::Cell* CellAccesses::find(int cell) const {
  const auto found = std::find_if(cells_.begin(), cells_.end(), [&](const Cell& c) { return c.cell == cell; });
  return found == cells_.end() ? nullptr : &*found;
}

Set CellAccesses::relevant_reads(const Skeleton& x, const Sources& rf, const Checks& checks) const {
  Set relevant;
  checks.for_each([&](int thread, int symbol) { mark(x, rf, thread, symbol, relevant); });
  for (const Observable& o : x.program->observables) {
    if (o.thread != kNone) {
      mark(x, rf, o.thread, at(at(x.paths, o.thread)->registers, o.reg), relevant);
    } else if (const Cell* accesses = find(x.cells->cell(o.location, o.node)); accesses != nullptr) {
      for (const int w : accesses->writes) mark(x, rf, x.sub(w).thread, x.sub(w).value, relevant);
    }
  }
  return relevant;
}

/// Adds the reads that a value depends on.
void CellAccesses::mark(const Skeleton& x, const Sources& rf, int thread, int symbol, Set& relevant) const {
  const Symbol& s = at(at(x.paths, thread)->symbols, symbol);
  if (s.kind == Symbol::Kind::read) {
    const int r = at(x.offset, thread) + s.a;
    if (relevant.contains(r)) return;
    relevant.insert(r);
    if (x.sub(r).cell == kNone) {  // a received message
      if (const int w = rf[r]; w >= 0) mark(x, rf, x.sub(w).thread, x.sub(w).value, relevant);
      return;
    }
    for (const int w : of(r).writes)
      if (w != r) mark(x, rf, x.sub(w).thread, x.sub(w).value, relevant);
    return;
  }
  for (const int child : {s.a, s.b, s.c})
    if (s.kind != Symbol::Kind::constant && child != kNone) mark(x, rf, thread, child, relevant);
}

}  // namespace loco::model::litmus
