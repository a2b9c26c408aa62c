// The litmus documents in tests/litmus.
#pragma once

#include <string>
#include <vector>

#include "model/litmus/language/program.hpp"

namespace loco::model::litmus::test {

/// Paths of all .yaml files of the corpus, sorted.
[[nodiscard]] std::vector<std::string> corpus_files();
/// The folder that they are in.
[[nodiscard]] std::string corpus_folder();
/// All their programs; each program's `file` is its path.
[[nodiscard]] std::vector<Program> corpus();

}  // namespace loco::model::litmus::test
