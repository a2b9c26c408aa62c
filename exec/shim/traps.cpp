// Replaces also system calls that programs make with instructions of their own (Go, OpenMP's runtime).
//
// If the program's own text, or that of OpenMP's runtimes, has the instruction, a filter (seccomp) covers it: system
// calls from there raise SIGSYS, whose handler does what the C library's function would do here, or makes the call
// itself. A filter survives exec, so it lists what it traps and lets everything else pass: the C library is never where
// programs lie.
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "exec/shim/shim.hpp"
#include "exec/shim/signals.hpp"

namespace loco::shim {

namespace {

constexpr int kRangesMax = 32;
struct Range {
  std::uint64_t from, to;
};
Range ranges[kRangesMax];
int range_count = 0;

bool has_system_call(const unsigned char* at, const unsigned char* end) {
  while (at < end && (at = static_cast<const unsigned char*>(
                          std::memchr(at, 0x0f, static_cast<std::size_t>(end - at)))) != nullptr) {
    if (at + 1 < end && at[1] == 0x05) return true;
    ++at;
  }
  return false;
}

int find_text(dl_phdr_info* info, std::size_t, void*) {
  const char* const name = info->dlpi_name;
  bool wanted = name[0] == 0;  // the program itself
  for (const char* runtime : {"/libgomp.so", "/libomp.so", "/libiomp5.so"})
    wanted = wanted || std::strstr(name, runtime) != nullptr;
  if (!wanted) return 0;
  for (int i = 0; i < info->dlpi_phnum && range_count < kRangesMax; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    const std::uint64_t from = info->dlpi_addr + part.p_vaddr;
    const auto* const text = reinterpret_cast<const unsigned char*>(from);
    if (has_system_call(text, text + part.p_memsz)) ranges[range_count++] = {from, from + part.p_memsz};
  }
  return 0;
}

/// The kernel's structure, which differs from the C library's.
struct KernelAction {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)();
  std::uint64_t mask;
};

long take_action(int signal, const KernelAction* action, KernelAction* old, long bytes) {
  if (own_signal(signal) < 0) return system_call(SYS_rt_sigaction, signal, action, old, bytes);
  struct sigaction& theirs = program_handler(signal);
  const struct sigaction before = theirs;
  if (action != nullptr) {
    theirs = {};
    theirs.sa_handler = action->handler;
    theirs.sa_flags = static_cast<int>(action->flags);
  }
  if (old != nullptr) {
    *old = {};
    old->handler = before.sa_handler;
    old->flags = static_cast<unsigned long>(before.sa_flags);
  }
  return 0;
}

/// Changes the signal mask of the context that continues after the signal.
long change_mask(ucontext_t& context, int how, const std::uint64_t* set, std::uint64_t* old) {
  std::uint64_t mask = 0;
  std::memcpy(&mask, &context.uc_sigmask, sizeof(mask));
  if (old != nullptr) *old = mask;
  if (set == nullptr) return 0;
  std::uint64_t change = *set;
  if (how != SIG_UNBLOCK)
    for (const int own : {SIGSEGV, SIGTRAP, SIGSYS, silence_signal()}) change &= ~(std::uint64_t{1} << (own - 1));
  mask = how == SIG_BLOCK ? mask | change : how == SIG_UNBLOCK ? mask & ~change : change;
  std::memcpy(&context.uc_sigmask, &mask, sizeof(mask));
  return 0;
}

/// Does what the C library's function of that name does here.
long carry_out(ucontext_t& context, long number, const long (&a)[6]) {
  const auto at = [&a]<typename T>(int i, T*) { return reinterpret_cast<T*>(a[i]); };
  const auto whole = [&a](int i) { return static_cast<int>(a[i]); };
  const auto size = [&a](int i) { return static_cast<std::size_t>(a[i]); };
  char* const bytes = nullptr;
  sockaddr* const address = nullptr;
  socklen_t* const length = nullptr;
  timespec* const time = nullptr;
  switch (number) {
    case SYS_read:
      return read(whole(0), at(1, bytes), size(2));
    case SYS_write:
      return write(whole(0), at(1, bytes), size(2));
    case SYS_readv:
      return readv(whole(0), reinterpret_cast<iovec*>(a[1]), whole(2));
    case SYS_writev:
      return writev(whole(0), reinterpret_cast<iovec*>(a[1]), whole(2));
    case SYS_recvfrom:
      return recvfrom(whole(0), at(1, bytes), size(2), whole(3), at(4, address), at(5, length));
    case SYS_sendto:
      return sendto(whole(0), at(1, bytes), size(2), whole(3), at(4, address), static_cast<socklen_t>(a[5]));
    case SYS_recvmsg:
      return recvmsg(whole(0), reinterpret_cast<msghdr*>(a[1]), whole(2));
    case SYS_sendmsg:
      return sendmsg(whole(0), reinterpret_cast<msghdr*>(a[1]), whole(2));
    case SYS_connect:
      return connect(whole(0), at(1, address), static_cast<socklen_t>(a[2]));
    case SYS_bind:
      return bind(whole(0), at(1, address), static_cast<socklen_t>(a[2]));
    case SYS_listen:
      return listen(whole(0), whole(1));
    case SYS_accept:
      return accept4(whole(0), at(1, address), at(2, length), 0);
    case SYS_accept4:
      return accept4(whole(0), at(1, address), at(2, length), whole(3));
    case SYS_getsockname:
      return getsockname(whole(0), at(1, address), at(2, length));
    case SYS_getpeername:
      return getpeername(whole(0), at(1, address), at(2, length));
    case SYS_shutdown:
      return shutdown(whole(0), whole(1));
    case SYS_close:
      return close(whole(0));
    case SYS_openat:
      return openat(whole(0), at(1, bytes), whole(2), static_cast<mode_t>(a[3]));
    case SYS_poll:
      return poll(reinterpret_cast<pollfd*>(a[0]), static_cast<nfds_t>(a[1]), whole(2));
    case SYS_ppoll:
      return ppoll(reinterpret_cast<pollfd*>(a[0]), static_cast<nfds_t>(a[1]), at(2, time), nullptr);
    case SYS_select:
      return select(whole(0), reinterpret_cast<fd_set*>(a[1]), reinterpret_cast<fd_set*>(a[2]),
                    reinterpret_cast<fd_set*>(a[3]), reinterpret_cast<timeval*>(a[4]));
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
      return epoll_wait(whole(0), reinterpret_cast<epoll_event*>(a[1]), whole(2), whole(3));
    case SYS_clock_nanosleep: {
      const int error = clock_nanosleep(whole(0), whole(1), at(2, time), at(3, time));
      errno = error;
      return error == 0 ? 0 : -1;
    }
    case SYS_gettimeofday:
      return gettimeofday(reinterpret_cast<timeval*>(a[0]), nullptr);
    case SYS_time:
      return ::time(reinterpret_cast<time_t*>(a[0]));
    case SYS_wait4:
      return waitpid(whole(0), reinterpret_cast<int*>(a[1]), whole(2));
    case SYS_kill:
      return kill(whole(0), whole(1));
    case SYS_exit_group:
      _exit(whole(0));
    case SYS_rt_sigaction:
      return take_action(whole(0), reinterpret_cast<const KernelAction*>(a[1]), reinterpret_cast<KernelAction*>(a[2]),
                         a[3]);
    case SYS_rt_sigprocmask:
      return change_mask(context, whole(0), reinterpret_cast<const std::uint64_t*>(a[1]),
                         reinterpret_cast<std::uint64_t*>(a[2]));
    case SYS_sigaltstack:
      if (a[1] != 0) *reinterpret_cast<stack_t*>(a[1]) = context.uc_stack;
      if (a[0] != 0) context.uc_stack = *reinterpret_cast<const stack_t*>(a[0]);
      return 0;
    case SYS_tgkill: {  // in terms of getpid's and gettid's numbers
      const long self = system_call(SYS_getpid);
      return a[1] == gettid() ? system_call(SYS_tgkill, self, system_call(SYS_gettid), a[2]) : 0;
    }
    case SYS_clone:
    case SYS_clone3:
      not_deterministic("makes a thread or process by a system call of its own, which nobody conducts");
      return failed(ENOSYS);
    default:  // clocks, futexes, numbers; all others are made directly
      return syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  }
}

void on_system_call(int signal, siginfo_t* info, void* raw) {
  constexpr int kOfSeccomp = 1;  // SYS_SECCOMP
  if (info->si_code != kOfSeccomp) {
    const struct sigaction& theirs = program_handler(signal);
    if (theirs.sa_handler != SIG_DFL && theirs.sa_handler != SIG_IGN) theirs.sa_sigaction(signal, info, raw);
    return;
  }
  auto& context = *static_cast<ucontext_t*>(raw);
  greg_t* const registers = context.uc_mcontext.gregs;
  const int error = errno;
  const long arguments[6] = {registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
                             registers[REG_R10], registers[REG_R8],  registers[REG_R9]};
  const long result = carry_out(context, info->si_syscall, arguments);
  registers[REG_RAX] = result == -1 ? -errno : result;
  errno = error;
}

/// Hides the kernel's vDSO, which reads the time stamp counter itself, so that programs ask the kernel for the time.
/// Replaces the random bytes for the program by bytes drawn from the seed.
void change_what_kernel_gives(char** environment) {
  char** at = environment;
  while (*at != nullptr) ++at;
  for (auto* entry = reinterpret_cast<Elf64_auxv_t*>(at + 1); entry->a_type != AT_NULL; ++entry) {
    if (entry->a_type == AT_SYSINFO_EHDR) entry->a_type = AT_IGNORE;
    if (entry->a_type == AT_RANDOM) fill_start_bytes(reinterpret_cast<void*>(entry->a_un.a_val));
  }
}

bool install_filter() {
  constexpr std::uint32_t kHigh = offsetof(seccomp_data, instruction_pointer) + 4;
  constexpr std::uint32_t kLow = offsetof(seccomp_data, instruction_pointer);
  static sock_filter program[8 + 8 * kRangesMax];
  std::uint16_t length = 0;
  const auto add = [&](std::uint16_t code, std::uint32_t k, std::uint8_t yes = 0, std::uint8_t no = 0) {
    program[length++] = {code, yes, no, k};
  };
  add(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch));
  add(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
  add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  add(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
  add(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 0, 1);
  add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  for (int i = 0; i < range_count; ++i) {  // within 4 GiB, as text is; otherwise left alone
    const Range& r = ranges[i];
    if (r.from >> 32U != r.to >> 32U) continue;
    add(BPF_LD | BPF_W | BPF_ABS, kHigh);
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(r.from >> 32U), 0, 4);
    add(BPF_LD | BPF_W | BPF_ABS, kLow);
    add(BPF_JMP | BPF_JGE | BPF_K, static_cast<std::uint32_t>(r.from), 0, 2);
    add(BPF_JMP | BPF_JGE | BPF_K, static_cast<std::uint32_t>(r.to), 1, 0);
    add(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
  }
  add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const sock_fprog filter{length, program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}

}  // namespace

void trap_system_calls(char** environment) {
  dl_iterate_phdr(find_text, nullptr);
  if (range_count == 0) return;
  struct sigaction action {};
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  action.sa_sigaction = on_system_call;
  real_sigaction(SIGSYS, &action, nullptr);
  change_what_kernel_gives(environment);
  if (!install_filter()) not_deterministic("system calls of its own, which the kernel does not let us see");
}

}  // namespace loco::shim
