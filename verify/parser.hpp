// Reads RMA programs (docs/verify.md has the grammar).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "verify/program.hpp"

namespace loco::verify {

/// `file` is the name that errors give. Throws InputError, with the place of the first mistake.
[[nodiscard]] Program parse(std::string_view text, const std::string& file);

/// Predicates over the variables of a program: one on each line, or none; comments as in programs. Throws InputError.
[[nodiscard]] std::vector<Expression> parse_predicates(std::string_view text, const std::string& file,
                                                       const Program& program);

/// Reads a file; throws std::system_error when it cannot be read, InputError as above.
[[nodiscard]] Program parse_file(const std::string& path);

}  // namespace loco::verify
