// Tests as litmus documents (docs/litmus-format.md), and what the models make of them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/corerma/generate.hpp"
#include "model/litmus/language/program.hpp"

namespace loco::model::corerma {

/// The program as a litmus document without outcomes: variables A, B, ... on nodes 0, 1, ... (the hosts), registers u0,
/// u1, ...; constants as in candidate_values.hpp. `model` is what `rules` are called.
[[nodiscard]] std::string bare_document(const Test& test, RuleSet rules);

/// What the parser makes of it, without the text between; but for places in it.
[[nodiscard]] litmus::Program to_litmus(const Test& test, RuleSet rules);

/// A test as a document with its expected outcome.
struct Expectation {
  litmus::Program program;
  std::vector<litmus::Outcome> outcomes;  ///< every outcome under the rules, sorted
  /// An outcome that the rules forbid, and allow once the pivot's edge is out; nothing where each such candidate has
  /// the values of one that is allowed.
  std::optional<litmus::Outcome> forbidden;
  std::string edge;  ///< of the candidate with that outcome: `u0 = A (r) -> A = 1 (w)`
};

[[nodiscard]] Expectation expect(const Test& test, const GenerateOptions& options);

/// The document with `outcomes_by_model` for the rules and, as `outcomes: forbidden`, the outcome that tells the pivot.
[[nodiscard]] std::string document(const Test& test, const GenerateOptions& options, const Expectation& expectation);

}  // namespace loco::model::corerma
