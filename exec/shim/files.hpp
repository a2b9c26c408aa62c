// What a descriptor is, and waiting on it: shared by sockets.cpp and waiting.cpp.
#pragma once

#include <sys/types.h>

#include "exec/shim/shim.hpp"

namespace loco::shim {

/// A socket, a pipe, or an event descriptor: something that another program or thread makes ready.
[[nodiscard]] bool waits(int file);
[[nodiscard]] bool is_socket(int file);
[[nodiscard]] bool non_blocking(int file);
/// Waits until the descriptor is ready, if it is one that waits and blocks.
void wait_for(int file, short events);
/// Something has been done that others may wait for.
void tell_others();
// --- streams.cpp: what has been sent and received, for the run's board
/// What was sent to a socket is in the kernel: waits for it, in real time.
void settle(int file);
/// The same for all sockets that this process has used.
void settle_all();
void sent(int file, ssize_t bytes);
void received(int file, ssize_t bytes, int flags);
/// A connection has been made, or is being made: nothing has been sent on it.
void connected(int file);
void accepted(int listener);
/// No more is sent on a connection, whoever has copies of it.
void shut(int file);
/// A descriptor is closed, or becomes another file.
void forget_file(int file, bool closes);

/// What a read has given: none, without waiting, may be a part of a polling loop.
ssize_t looked(int file, ssize_t got, int flags = 0);

}  // namespace loco::shim
