// What sets of rules allow of a coreRMA program, and which further guarantees would forbid an outcome.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/litmus/program.hpp"
#include "model/litmus/rule_set.hpp"

namespace loco::networks {

/// Every outcome under the rules, sorted.
[[nodiscard]] std::vector<model::litmus::Outcome> allowed(const model::litmus::Program& program,
                                                          model::litmus::RuleSet rules,
                                                          const std::function<void()>& poll = {});
/// Does the set, sorted, have it?
[[nodiscard]] bool has(const std::vector<model::litmus::Outcome>& outcomes, const model::litmus::Outcome& outcome);

/// Rules of the paper's Fig. 4 but for IR, which every network of the paper is said to keep.
[[nodiscard]] const std::vector<model::litmus::Rule>& basic_rules();
/// What a network may keep beyond them. IR is the first six of these together.
[[nodiscard]] const std::vector<model::litmus::Rule>& extra_rules();
inline constexpr std::size_t kPartsOfRouting = 7;

/// IR in place of its parts, if all of them are there.
[[nodiscard]] model::litmus::RuleSet with_routing_named(model::litmus::RuleSet rules);
/// The parts of IR in its place.
[[nodiscard]] model::litmus::RuleSet with_routing_split(model::litmus::RuleSet rules);

/// The first cycle that forbids the outcome, in words; empty when it is allowed or no candidate has its values.
/// `weaker`: rules that allow the outcome, which the cycle is then gone with.
[[nodiscard]] std::string cycle_text(const model::litmus::Program& program, const model::litmus::Outcome& outcome,
                                     model::litmus::RuleSet rules, std::optional<model::litmus::RuleSet> weaker = {});

}  // namespace loco::networks
