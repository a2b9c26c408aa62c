// Recognises a file of a kind that the command does not take, so that the error message can name the kind.
#pragma once

#include <string>

namespace loco::cli {

/// `this is a litmus test: loco-sim litmus FILE`, by the file's beginning; empty for a file of the kind that `command`
/// takes, for one that cannot be read and for one of no kind of ours. Devices and pipes are not looked at.
[[nodiscard]] std::string what_it_is(const std::string& command, const std::string& file);

}  // namespace loco::cli
