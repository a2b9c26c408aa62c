#include "verify/hitting_sets.hpp"

#include <algorithm>

namespace loco::verify {

namespace {

enum Choice : char { kOpen, kChosen, kForbidden };

}  // namespace

/// Extends `chosen` to a hitting set. An element that was tried is forbidden in the branches after it, so that no set
/// comes up twice.
bool HittingSets::find(std::vector<char>& state, std::vector<std::uint32_t>& chosen, std::size_t size,
                       const Limits& limits) const {
  limits.tick();
  const Elements* missed = nullptr;
  for (const Elements& clause : clauses_) {
    if (std::any_of(clause.begin(), clause.end(), [&](std::uint32_t e) { return state[e] == kChosen; })) continue;
    if (missed == nullptr || clause.size() < missed->size()) missed = &clause;
  }
  Elements candidates;
  if (missed != nullptr) {
    candidates = *missed;
  } else {
    Elements sorted = chosen;
    std::sort(sorted.begin(), sorted.end());
    if (excluded_.count(sorted) == 0) return true;
    for (std::uint32_t e = 0; e < elements_; ++e) candidates.push_back(e);
  }
  if (chosen.size() == size) return false;
  std::vector<std::uint32_t> tried;
  bool found = false;
  for (const std::uint32_t e : candidates) {
    if (state[e] != kOpen) continue;
    state[e] = kChosen;
    chosen.push_back(e);
    found = find(state, chosen, size, limits);
    if (found) break;
    chosen.pop_back();
    state[e] = kForbidden;
    tried.push_back(e);
  }
  for (const std::uint32_t e : tried) state[e] = kOpen;
  return found;
}

bool HittingSets::meets_all(const Elements& set) const {
  return std::all_of(clauses_.begin(), clauses_.end(), [&](const Elements& clause) {
    return std::any_of(clause.begin(), clause.end(),
                       [&](std::uint32_t e) { return std::binary_search(set.begin(), set.end(), e); });
  });
}

std::optional<Elements> HittingSets::next(std::size_t size, const Limits& limits) const {
  std::vector<char> state(elements_, kOpen);
  Elements chosen;
  if (!find(state, chosen, size, limits)) return std::nullopt;
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace loco::verify
