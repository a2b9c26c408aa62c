#include "loco_sim/explore/ruled_out.hpp"

#include <algorithm>

#include "nic_model/profile_options.hpp"

namespace loco::explore {

using model::litmus::Outcome;

std::vector<Mechanism> mechanisms(const nic::HardwareProfile& reference, const nic::HardwareProfile& real) {
  // Costs and rates only change times, which exploration ignores: one group for all of them.
  std::vector<Mechanism> all;
  Mechanism costs{"costs and rates", reference};
  Mechanism sizes{"TLP and packet sizes", reference};
  for (const options::Option& f : nic::profile_options()) {
    const std::int64_t v = value(real, f);
    if (v == value(reference, f)) continue;
    if (f.type == options::Type::duration || f.type == options::Type::rate) {
      set_value(costs.profile, f, v);
    } else if (f.type == options::Type::size) {
      set_value(sizes.profile, f, v);
    } else {
      all.push_back({std::string(f.key), reference});
      set_value(all.back().profile, f, v);
      nic::HardwareProfile& with = all.back().profile;
      if (f.key == "nic.blueflame" || f.key == "nic.inline_puts") with.nic_inline_max = real.nic_inline_max;
      if (f.key == "nic.stale_operands") with.nic_atomic_operands = real.nic_atomic_operands;
    }
  }
  all.push_back(costs);
  all.push_back(sizes);
  return all;
}

RuledOutResult ruled_out(const ProgramOn& program, const std::vector<Outcome>& shown,
                         const nic::HardwareProfile& reference, const std::vector<Mechanism>& mechanisms,
                         const ExploreLimits& limits) {
  const auto run = [&](const nic::HardwareProfile& p) { return explore(Machine(program(p), p), limits); };
  const auto has = [](const std::vector<Outcome>& all, const Outcome& o) {
    return std::binary_search(all.begin(), all.end(), o);
  };
  RuledOutResult result;
  const ExploreResult weak = run(reference);
  result.possible = weak.outcomes;
  result.complete = weak.exhaustive();
  if (!result.complete) return result;
  for (const Outcome& o : weak.outcomes)
    if (!has(shown, o)) result.ruled_out.push_back({o, {}});
  if (result.ruled_out.empty()) return result;
  for (const Mechanism& m : mechanisms) {
    const ExploreResult with = run(m.profile);
    if (!with.complete && limits.out_of_time && limits.out_of_time()) {
      result.complete = false;
      return result;
    }
    if (!with.exhaustive()) continue;
    for (RuledOut& r : result.ruled_out)
      if (!has(with.outcomes, r.outcome)) r.by.push_back(m.name);
  }
  return result;
}

}  // namespace loco::explore
