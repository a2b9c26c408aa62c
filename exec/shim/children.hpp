// Children that a program makes by fork: programs of the same host, with numbers that are the same in each run.
#pragma once

#include <cstdint>
#include <sys/types.h>

namespace loco::shim {

/// What getpid gives in a process of this host, and what its parent calls it.
[[nodiscard]] int shown_id_of(std::uint32_t process);
[[nodiscard]] int parent_shown_id();
/// fork(): the child has a channel of its own, and waits for its turn.
[[nodiscard]] int fork_conducted();

/// A child of this process, by the kernel's number and the one that it is known by.
void note_child(pid_t real, int shown);
/// A child has none yet.
void forget_children();

}  // namespace loco::shim
