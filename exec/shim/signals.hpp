// Signals that the shim keeps for itself: SIGSEGV, SIGTRAP and SIGSYS, which it passes on unless it caused them, and
// the one with which the conductor breaks a silence. The program's handlers for them are kept here.
#pragma once

#include <csignal>

namespace loco::shim {

inline constexpr int kOwnSignals = 4;

[[nodiscard]] inline int silence_signal() { return SIGRTMAX - 1; }
/// Its index among the shim's own signals, or -1.
[[nodiscard]] inline int own_signal(int signal) {
  if (signal == SIGSEGV) return 0;
  if (signal == SIGTRAP) return 1;
  if (signal == SIGSYS) return 3;
  return signal == silence_signal() ? 2 : -1;
}
/// The C library's sigaction.
int real_sigaction(int signal, const struct sigaction* action, struct sigaction* old);
/// The program's handler.
[[nodiscard]] struct sigaction& program_handler(int signal);

}  // namespace loco::shim
