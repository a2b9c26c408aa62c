#include "model/litmus/search/checks.hpp"

#include <algorithm>
#include <array>

namespace loco::model::litmus {

void Checks::collect(const Skeleton& x, const PartialOutcome& wanted) {
  checks_.clear();
  for (int t = 0; t < len(x.paths); ++t)
    for (const Condition& c : at(x.paths, t)->conditions)
      checks_.push_back({t, c.symbol, false, c.holds ? 1 : 0, 0, kUnknown});
  for (const auto& [observable, value] : wanted) {
    const Observable& o = at(x.program->observables, observable);
    if (o.thread != kNone)
      checks_.push_back({o.thread, at(at(x.paths, o.thread)->registers, o.reg), true, value, 0, kUnknown});
  }
}

void Checks::find_reads(const Skeleton& x, const std::vector<int>& order) {
  if (checks_.empty()) return;
  std::array<std::size_t, kSubeventsMax> decided{};  // by read: so many reads are decided when it is
  for (std::size_t k = 0; k < order.size(); ++k) decided[static_cast<std::size_t>(order[k])] = k + 1;
  const auto latest = [&](const auto& self, int thread, int symbol) -> std::size_t {
    const Symbol& s = at(at(x.paths, thread)->symbols, symbol);
    if (s.kind == Symbol::Kind::constant) return 0;
    if (s.kind == Symbol::Kind::read) return decided[static_cast<std::size_t>(at(x.offset, thread) + s.a)];
    if (s.kind == Symbol::Kind::select) return self(self, thread, s.a);
    std::size_t all = 0;
    for (const int child : {s.a, s.b})
      if (child != kNone) all = std::max(all, self(self, thread, child));
    return all;
  };
  for (Check& c : checks_) c.reads = latest(latest, c.thread, c.symbol);
}

bool Checks::hold(const Skeleton& x, const Sources& rf, std::size_t decided) {
  for (Check& c : checks_) {
    if (c.held < decided) continue;
    c.held = kUnknown;
    if (c.reads > decided) continue;
    const auto v = value_of(x, rf, c.thread, c.symbol);
    if (!v) continue;
    const bool holds = c.equals ? *v == c.value : *v == kUndefined || (number(*v) != 0) == (c.value != 0);
    if (!holds) return false;
    c.held = decided;
  }
  return true;
}

bool Checks::known() const {
  return std::all_of(checks_.begin(), checks_.end(), [](const Check& c) { return c.held != kUnknown; });
}

}  // namespace loco::model::litmus
