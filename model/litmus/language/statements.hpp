// The statement language of litmus documents, lowered to Program instructions (docs/litmus-format.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/litmus/language/lexer.hpp"
#include "model/litmus/language/program.hpp"

namespace loco::model::litmus {

struct StatementContext {
  Program& program;  ///< with its locations, barriers, ring buffers and the threads' nodes; gets the code
  std::string file;
  std::string model;   ///< decides which statements there are
  bool atomic = true;  ///< coreRMA: are accesses atomic unless the statement says otherwise?
  std::vector<std::vector<std::string>> registers;  ///< per thread, the names assigned to
};

/// The names a thread assigns to that are not locations, in order of first appearance.
[[nodiscard]] std::vector<std::string> assigned_registers(const Program& program, const std::vector<Token>& tokens);

/// Marks the locations used by `write`, `tryread` (or put and get with such a location) as tuples and sets their
/// sizes and initial values.
void find_tuples(Program& program, const std::vector<std::vector<Token>>& threads, const std::string& file);

/// Lowers one thread's tokens into program.threads[thread].code.
void parse_statements(StatementContext& context, int thread, std::string_view code, const std::vector<Token>& tokens);

/// Throws text::InputError if an instruction is not a method of the model's libraries.
void check_methods(const Program& program, std::string_view model, const std::string& file);

/// The names of the models there are.
[[nodiscard]] const std::vector<std::string>& model_names();

}  // namespace loco::model::litmus
