#include "exec/shim/signals.hpp"

#include "exec/shim/shim.hpp"

namespace loco::shim {

namespace {
struct sigaction program_handlers[kOwnSignals];
}  // namespace

struct sigaction& program_handler(int signal) {
  return program_handlers[own_signal(signal)];
}

int real_sigaction(int signal, const struct sigaction* action, struct sigaction* old) {
  LOCO_NEXT(sigaction);
  return next_sigaction(signal, action, old);
}

}  // namespace loco::shim

using namespace loco::shim;

LOCO_EXPORT int sigaction(int signal, const struct sigaction* action, struct sigaction* old) noexcept {
  if (channel() == nullptr || own_signal(signal) < 0) return real_sigaction(signal, action, old);
  struct sigaction& theirs = program_handler(signal);
  const struct sigaction before = theirs;
  if (action != nullptr) theirs = *action;
  if (old != nullptr) *old = before;
  return 0;
}

LOCO_EXPORT sighandler_t signal(int signal, sighandler_t handler) noexcept {
  LOCO_NEXT(signal);
  if (channel() == nullptr || own_signal(signal) < 0) return next_signal(signal, handler);
  struct sigaction& theirs = program_handler(signal);
  const sighandler_t before = theirs.sa_handler;
  theirs = {};
  theirs.sa_handler = handler;
  return before;
}

namespace {

const sigset_t* without_own(const sigset_t* set, sigset_t& kept) {
  if (set == nullptr || channel() == nullptr) return set;
  kept = *set;
  sigdelset(&kept, SIGSEGV);
  sigdelset(&kept, SIGTRAP);
  sigdelset(&kept, SIGSYS);
  sigdelset(&kept, silence_signal());
  return &kept;
}

}  // namespace

LOCO_EXPORT int sigprocmask(int how, const sigset_t* set, sigset_t* old) noexcept {
  LOCO_NEXT(sigprocmask);
  sigset_t kept;
  return next_sigprocmask(how, how == SIG_UNBLOCK ? set : without_own(set, kept), old);
}

LOCO_EXPORT int pthread_sigmask(int how, const sigset_t* set, sigset_t* old) noexcept {
  LOCO_NEXT(pthread_sigmask);
  sigset_t kept;
  return next_pthread_sigmask(how, how == SIG_UNBLOCK ? set : without_own(set, kept), old);
}
