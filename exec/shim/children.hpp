// Children that a program forks: programs of the same host, with process numbers that are the same in each run.
#pragma once

#include <cstdint>
#include <sys/types.h>

namespace loco::shim {

/// The result of getpid in a process of this host, and the number of this process's parent.
[[nodiscard]] int shown_id_of(std::uint32_t process);
[[nodiscard]] int parent_shown_id();
/// fork(): the child has its own channel and waits for its turn.
[[nodiscard]] int fork_conducted();

/// Records a child of this process: the kernel's number and the one shown to the program.
void note_child(pid_t real, int shown);
/// A new child has no children yet.
void forget_children();

}  // namespace loco::shim
