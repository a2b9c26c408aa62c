// The variants of the models that can be asked for by name: a cell of the stamp order turned round, the barrier and the
// ring buffer of other sections of the LOCO paper, remote atomics of other hardware.
#pragma once

#include <string>
#include <string_view>

#include "model/litmus/models/axioms.hpp"

namespace loco::model::litmus {

/// "E8": row E, column 8 of Fig. 10 (with row L and column 12 for the reads of remote atomics). An ordered cell, or one
/// ordered for one node, becomes unordered; an unordered cell becomes ordered. Throws std::invalid_argument ("expected
/// ..., found ...") for anything else.
void flip_cell(std::string_view cell, StampOrder& order);

/// The same for several, "E8,B5", in the tables of all models: rows to P and columns to 16 are of model `verbs` only
/// (docs/verbs-model.md). What is not ordered there becomes so for one queue pair, or for the thread where a stamp of a
/// CPU or of a posted receive is in it.
void flip_cell(std::string_view cells, ModelOptions& options);

/// Switches a variant on: "transitive-barriers" (Section 4.3), "weak-ring-buffers" (Section 5.2), "banked-atomics"
/// (rao orders the atomics of each word), "global-atomics" (an atomic reads and writes at once). Throws
/// std::invalid_argument for another name.
void choose_variant(std::string_view name, ModelOptions& options);

}  // namespace loco::model::litmus
