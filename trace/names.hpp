// Names of libraries, methods and stamps as in scenarios, reports and the text form of traces.
#pragma once

#include <string_view>

#include "rdma/stamp.hpp"
#include "trace/trace.hpp"

namespace loco::trace {

using rdma::name;  // of stamps and packets

/// "rdmawait", "sv", "bal", "rbl", "msw", "lock", "kvstore".
[[nodiscard]] std::string_view name(Library library);
/// "write", "bcast", ...
[[nodiscard]] std::string_view name(Method method);
/// `packet`, `tlp_write`, ...
[[nodiscard]] std::string_view name(Activity::Kind kind);
/// The inverse; returns false if there is no such name.
[[nodiscard]] bool parse_library(std::string_view text, Library& out);

}  // namespace loco::trace
