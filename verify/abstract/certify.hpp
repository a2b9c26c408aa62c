// Writes certificates (certificate.hpp): the states of a search that takes all steps, with where each step leads.
#pragma once

#include "verify/abstract/certificate.hpp"
#include "verify/abstract/search.hpp"

namespace loco::verify::abstract {

[[nodiscard]] Certificate certify(Stepper& stepper, const std::vector<AbstractState>& kept, const Caps& caps,
                                  const FlushMask& flushes);

}  // namespace loco::verify::abstract
