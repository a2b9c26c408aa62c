// Files that are written completely or not at all.
//
// A regular file, or one that does not exist yet, is written next to its place and renamed when complete. Until then
// the old content remains, and of several writers one has written all of it. The temporary file (`.loco-sim-....part`)
// is locked; one left by a killed process is removed by the next writer there. Anything else that a path may name (a
// device, a pipe, a symbolic link such as /dev/stdout), and a file in a folder where it cannot be replaced, is written
// to directly; output to the file of stdout or stderr is appended. A file that replaces a setuid program is an ordinary
// new file.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>

namespace loco::trace {

/// Throws std::system_error, with the path, if the file cannot be opened or written.
void write_whole_file(const std::string& path, const std::function<void(std::ostream&)>& write);

/// From now on SIGHUP, SIGINT and SIGTERM, if they end the process, first remove the temporary file, and SIGINT says so
/// on stderr. For programs that write one file at a time, before they have threads.
void leave_nothing_on_signals();

}  // namespace loco::trace
