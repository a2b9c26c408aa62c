// The variants of the models that can be asked for by name: a cell of the stamp order turned round, the barrier and the
// ring buffer of other sections of the LOCO paper.
#pragma once

#include <string>
#include <string_view>

#include "model/litmus/axioms.hpp"

namespace loco::model::litmus {

/// "E8": row E, column 8 of Fig. 10. What is ordered, or ordered for one node, is so no more; what is not becomes so.
/// Throws std::invalid_argument ("expected ..., found ...") for anything else.
void flip_cell(std::string_view cell, StampOrder& order);

/// Switches a variant on: "transitive-barriers" (Section 4.3) or "weak-ring-buffers" (Section 5.2). Throws
/// std::invalid_argument for another name.
void choose_variant(std::string_view name, ModelOptions& options);

}  // namespace loco::model::litmus
