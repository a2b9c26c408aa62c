// What sets of rules allow of a coreRMA program, and which further guarantees would forbid an outcome.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/litmus/language/program.hpp"
#include "model/litmus/language/rule_set.hpp"

namespace loco::networks {

/// All outcomes that the rules allow, sorted.
[[nodiscard]] std::vector<model::litmus::Outcome> allowed(const model::litmus::Program& program,
                                                          model::litmus::RuleSet rules,
                                                          const std::function<void()>& poll = {});
/// True if the sorted outcomes contain this one.
[[nodiscard]] bool has(const std::vector<model::litmus::Outcome>& outcomes, const model::litmus::Outcome& outcome);

/// The rules of the paper's Fig. 4 except IR; according to the paper every network keeps them.
[[nodiscard]] const std::vector<model::litmus::Rule>& basic_rules();
/// Rules that a network may keep in addition. IR is the first six of these together.
[[nodiscard]] const std::vector<model::litmus::Rule>& extra_rules();
inline constexpr std::size_t kPartsOfRouting = 7;

/// Replaces the parts of IR by IR if all of them are there.
[[nodiscard]] model::litmus::RuleSet with_routing_named(model::litmus::RuleSet rules);
/// Replaces IR by its parts.
[[nodiscard]] model::litmus::RuleSet with_routing_split(model::litmus::RuleSet rules);

/// The first cycle that forbids the outcome, in words; empty if the outcome is allowed or no candidate has its values.
/// `weaker`: rules that allow the outcome; the cycle then needs a rule that these lack.
[[nodiscard]] std::string cycle_text(const model::litmus::Program& program, const model::litmus::Outcome& outcome,
                                     model::litmus::RuleSet rules, std::optional<model::litmus::RuleSet> weaker = {});

}  // namespace loco::networks
