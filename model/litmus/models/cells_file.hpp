// A stamp table or a rule set as a text file, so that a variant of a model needs no C++ (docs/models.md, "Variants as
// files").
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/litmus/language/rule_set.hpp"
#include "model/litmus/models/axioms.hpp"

namespace loco::model::litmus {

/// A table: lines of cells, as in docs/models.md and docs/verbs-model.md, each behind the letter of its row and perhaps
/// the name of its stamp, under a line of column numbers (1 to 11 without one); or rows and columns exchanged. Cells
/// that the file does not have stay. A list of coreRMA's rules: returned. `#` starts a comment, `|` is a blank.
/// Throws text::InputError.
std::optional<RuleSet> read_cells(std::string_view text, const std::string& file, ModelOptions& options);

}  // namespace loco::model::litmus
