#include "model/litmus/search/leader.hpp"

#include <algorithm>
#include <stdexcept>

namespace loco::model::litmus {

Leader::Leader(const Skeleton& x, const std::vector<const Automorphism*>& symmetries,
               const std::vector<Variable>& variables)
    : decided_(variables.size()), open_(variables.size() + 1) {
  maps_.reserve(symmetries.size());
  for (const Automorphism* a : symmetries) {
    Map& map = maps_.emplace_back();
    a->map_subevents(x, map.image);
    map.origin.resize(variables.size());
    for (std::size_t p = 0; p < variables.size(); ++p) {
      const Variable v = variables[p];
      const Variable image =
          v < kSubeventsMax ? at(map.image, v) : kSubeventsMax + at(a->observables, v - kSubeventsMax);
      const auto found = std::find(variables.begin(), variables.end(), image);
      if (found == variables.end()) throw std::logic_error("a symmetry maps a variable to none");
      map.origin[static_cast<std::size_t>(found - variables.begin())] = static_cast<std::int16_t>(p);
    }
    open_[0].push_back({static_cast<std::uint32_t>(maps_.size() - 1), 0});
  }
}

bool Leader::decide(std::size_t k, int value) {
  decided_[k] = value;
  std::vector<Open>& left = open_[k + 1];
  left.clear();
  for (Open o : open_[k]) {
    const Map& map = maps_[o.map];
    int order = 0;
    for (; order == 0 && o.at <= k; ++o.at) {
      const auto origin = static_cast<std::size_t>(map.origin[o.at]);
      if (origin > k) break;
      const int theirs = decided_[origin] < 0 ? decided_[origin] : at(map.image, decided_[origin]);
      order = theirs - decided_[o.at];
    }
    if (order < 0) return false;
    if (order == 0) left.push_back(o);
  }
  return true;
}

}  // namespace loco::model::litmus
