// Reads a file as text.
#pragma once

#include <cstddef>
#include <string>

namespace loco::text {

/// The whole file. Of a file without an end, such as a device, it reads no more than the limit. Throws InputError at
/// 1:1 for a name with NUL, an unreadable file, or one of more than `bytes_max` bytes.
[[nodiscard]] std::string read_file(const std::string& path, std::size_t bytes_max);

}  // namespace loco::text
