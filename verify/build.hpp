// From the tree of a file to a program: looks up names, checks homes, lays out the control-flow graphs.
#pragma once

#include <string>

#include "verify/program.hpp"
#include "verify/syntax.hpp"

namespace loco::verify {

/// Throws InputError.
[[nodiscard]] Program build(const syntax::File& file, const std::string& name);

/// A predicate over the variables of a program that is built, from a file of that name. Throws InputError, also when it
/// says where a process stands, or multiplies variables.
[[nodiscard]] Expression build(const syntax::Expression& predicate, const Program& program, const std::string& name);

}  // namespace loco::verify
