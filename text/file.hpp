// A file as a text.
#pragma once

#include <cstddef>
#include <string>

namespace loco::text {

/// All of a file, and of one that may have no end, such as a device, no more than is refused. Throws InputError at 1:1
/// for a name with NUL, an unreadable file and one of more bytes.
[[nodiscard]] std::string read_file(const std::string& path, std::size_t bytes_max);

}  // namespace loco::text
