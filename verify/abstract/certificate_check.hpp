// Checks certificates (certificate.hpp) with Z3, and nothing else: no search, no predicates of its own, no abstraction.
// Of the engines it shares only the reduction of the program.
//
// Every obligation is one formula over integers that has to be unsatisfiable. For a state s, a move of it and the state
// t that the certificate names: s, with the guards and the elements taken out, implies t after the step; so does each
// kind of number in a set, for some kind of the same set of t; and so does each number that the step adds to one.
#pragma once

#include <cstdint>
#include <string>

#include "verify/abstract/certificate.hpp"
#include "verify/engine.hpp"

namespace loco::verify::abstract {

struct CertificateVerdict {
  bool accepted = false;
  bool ended = true;  ///< false: a limit was reached, `why` says which
  std::string why;    ///< the condition that does not hold
  std::uint64_t obligations = 0;
};

[[nodiscard]] CertificateVerdict check_certificate(const Program& program, const Certificate& certificate,
                                                   const Limits& limits = {});

}  // namespace loco::verify::abstract
