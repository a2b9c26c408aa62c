// herd's litmus files: `.litmus` with columns of X86 or functions of C, read into programs of model rdmawait whose
// threads share one node, and written from programs that use nothing of RDMA (docs/litmus-format.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/litmus/language/program.hpp"

namespace loco::model::litmus {

/// One test. Throws text::InputError with its place for what is no such file, or beyond what is read of one.
[[nodiscard]] Program parse_herd(std::string_view text, const std::string& file);

/// The program in herd's X86; nothing if it has more than reads, writes and fences of one node's words.
[[nodiscard]] std::optional<std::string> to_herd_file(const Program& program);

/// Does the proposition hold in the outcome?
[[nodiscard]] bool holds(const HerdCondition& condition, OutcomeView outcome);

/// "exists (0:EAX=0 /\ 1:EAX=0)"
[[nodiscard]] std::string text(const HerdCondition& condition);

}  // namespace loco::model::litmus
