// Files that are written whole or not at all.
//
// A regular file, or one that is not there yet, is written beside its place and renamed into it once all of it has been
// written: what was there before stays until then, and of several writers one has written all of it. What is beside its
// place (`.loco-sim-....part`) is locked; one that a killed process left is removed by the next that writes there.
// Anything else that a path may name (a device, a pipe, a symbolic link such as /dev/stdout), and a file in a folder
// where none can be put in its place, is written to as it is; to the file of stdout or stderr is added. What replaces a
// program that runs as its owner (setuid) is a file like any new one.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>

namespace loco::trace {

/// Throws std::system_error, with the path, when the file cannot be opened or written.
void write_whole_file(const std::string& path, const std::function<void(std::ostream&)>& write);

/// From here on SIGHUP, SIGINT and SIGTERM, where they end the process, remove what is being written beside its place
/// first, and SIGINT says so on stderr. For programs that write one file at a time, before they have threads.
void leave_nothing_on_signals();

}  // namespace loco::trace
