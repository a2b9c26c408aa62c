// The kind of a descriptor, and waiting on it: shared by sockets.cpp and waiting.cpp.
#pragma once

#include <sys/types.h>

#include "exec/shim/shim.hpp"

namespace loco::shim {

/// True for a socket, a pipe, or an event descriptor, which another program or thread makes ready.
[[nodiscard]] bool waits(int file);
[[nodiscard]] bool is_socket(int file);
[[nodiscard]] bool non_blocking(int file);
/// Waits until the descriptor is ready, if it is a blocking one of these.
void wait_for(int file, short events);
/// Tells the conductor that descriptors of others may be ready.
void tell_others();
// --- streams.cpp: what has been sent and received, for the run's board
/// Waits, in real time, until the kernel has delivered what was sent to a socket.
void settle(int file);
/// Does so for all sockets that this process has used.
void settle_all();
void sent(int file, ssize_t bytes);
void received(int file, ssize_t bytes, int flags);
/// A connection has been made or begun: nothing has been sent on it.
void connected(int file);
void accepted(int listener);
/// No more is sent on a connection, whoever has copies of it.
void shut(int file);
/// A descriptor is closed, or becomes another file.
void forget_file(int file, bool closes);

/// The result of a read. Reading nothing, without waiting, may be a part of a polling loop.
ssize_t looked(int file, ssize_t got, int flags = 0);

}  // namespace loco::shim
