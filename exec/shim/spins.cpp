// Finds programs that wait without a call, for a word of registered memory or for the time-stamp counter.
//
// The counter faults (PR_SET_TSC) in programs that have the instruction, and the handler returns simulated time at 2.4
// GHz. A thread that has used 4 ms of processor time without handing over is silent: the conductor sends a signal, and
// all registered pages are protected. The thread's next access faults, is stepped over, and the page is protected
// again. Two loads of the same value from the same address, by the same instruction and without a call in between, are
// a spin (a loop over the bytes of a word is none): the thread waits until a NIC writes there. From then on that page
// is protected after each verbs call, so that the next spin is found at its second turn. None of this takes simulated
// time, so the moment at which the silence was noticed does not change a run.
#include <csignal>
#include <cstring>
#include <link.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "exec/shim/shim.hpp"
#include "exec/shim/signals.hpp"

namespace loco::shim {

namespace {

constexpr std::uintptr_t kPage = 4096;
constexpr int kRangesMax = 4096;
constexpr int kStepsMax = 64;  // accesses without a spin before the search is given up
constexpr greg_t kTrapFlag = 0x100;
constexpr greg_t kWriteFault = 2;

struct Range {
  std::uintptr_t from, to;
};
Range ranges[kRangesMax];
int range_count = 0;

constexpr int kLibraries = 4;
Range library_text[kLibraries];
int library_count = 0;

enum class Closed { nothing, page, everything };
Closed closed = Closed::nothing;
std::uintptr_t learnt_page = 0;  // the page that the program is known to poll; 0: unknown
bool stepping = false;           // one instruction is running with the page accessible
Closed close_again = Closed::nothing;
int steps = 0;
bool trapped = false;

struct Look {
  std::uintptr_t instruction, address;
  std::uint64_t value;
};
Look last_look{};

void protect(const Range& r, int rights) { mprotect(reinterpret_cast<void*>(r.from), r.to - r.from, rights); }

void open_all() {
  const int rights = PROT_READ | PROT_WRITE;
  if (closed == Closed::page) protect({learnt_page, learnt_page + kPage}, rights);
  if (closed == Closed::everything)
    for (int i = 0; i < range_count; ++i) protect(ranges[i], rights);
  closed = Closed::nothing;
}

void close(Closed what) {
  if (what == Closed::page) protect({learnt_page, learnt_page + kPage}, PROT_NONE);
  if (what == Closed::everything)
    for (int i = 0; i < range_count; ++i) protect(ranges[i], PROT_NONE);
  closed = what;
}

bool watched(std::uintptr_t address) {
  for (int i = 0; i < range_count; ++i)
    if (address >= ranges[i].from && address < ranges[i].to) return true;
  return false;
}

std::uint64_t word_at(std::uintptr_t word) { return *reinterpret_cast<const volatile std::uint64_t*>(word); }

void step(ucontext_t& context, Closed again) {
  close_again = again;
  stepping = true;
  context.uc_mcontext.gregs[REG_EFL] |= kTrapFlag;
}

/// A repeated string instruction: each repetition is a step of its own at the same instruction.
bool repeats_itself(const unsigned char* code) {
  const bool repeats = *code == 0xf2 || *code == 0xf3;
  if (!repeats) return false;
  ++code;
  if ((*code & 0xf0U) == 0x40) ++code;  // REX
  return (*code >= 0xa4 && *code <= 0xa7) || (*code >= 0xaa && *code <= 0xaf);
}

/// An access to a protected page.
void look_at(ucontext_t& context, std::uintptr_t address) {
  greg_t* const registers = context.uc_mcontext.gregs;
  const auto instruction = static_cast<std::uintptr_t>(registers[REG_RIP]);
  const bool writes = (registers[REG_ERR] & kWriteFault) != 0;
  const Closed was = closed;
  open_all();
  if (repeats_itself(reinterpret_cast<const unsigned char*>(instruction))) return;  // it copies or searches
  const std::uintptr_t word = address & ~std::uintptr_t{7};
  if (!writes) {
    const std::uint64_t value = word_at(word);
    if (last_look.instruction == instruction && last_look.address == address && last_look.value == value) {
      learnt_page = address & ~(kPage - 1);
      steps = 0;
      channel()->waited = 1;
      call(Request::wait_memory, address, instruction);
      last_look = {};
      if (word_at(word) == value) step(context, Closed::page);
      return;
    }
    last_look = {instruction, address, value};
  }
  if (was == Closed::everything && ++steps > kStepsMax) {  // it does work
    steps = 0;
    last_look = {};
    return;
  }
  step(context, was);
}

bool reads_counter(const unsigned char* code) {
  return code[0] == 0x0f && (code[1] == 0x31 || (code[1] == 0x01 && code[2] == 0xf9));  // rdtsc, rdtscp
}

void give_counter(ucontext_t& context, const unsigned char* code) {
  greg_t* const registers = context.uc_mcontext.gregs;
  const auto ticks = static_cast<std::uint64_t>(read_clock() / 5000 * 12) + 1'000'000'000;  // 2.4 GHz
  registers[REG_RAX] = static_cast<greg_t>(ticks & 0xffffffffU);
  registers[REG_RDX] = static_cast<greg_t>(ticks >> 32U);
  const bool has_processor = code[1] == 0x01;
  if (has_processor) registers[REG_RCX] = 0;
  registers[REG_RIP] += has_processor ? 3 : 2;
}

void to_program(int signal, siginfo_t* info, void* context) {
  const struct sigaction& theirs = program_handler(signal);
  if ((theirs.sa_flags & SA_SIGINFO) != 0 && theirs.sa_sigaction != nullptr) {
    theirs.sa_sigaction(signal, info, context);
  } else if (theirs.sa_handler != SIG_DFL && theirs.sa_handler != SIG_IGN) {
    theirs.sa_handler(signal);
  } else {  // behaves as if the shim were not there
    struct sigaction fallback {};
    fallback.sa_handler = SIG_DFL;
    real_sigaction(signal, &fallback, nullptr);
    if (info->si_code <= 0) raise(signal);  // a fault repeats by itself
  }
}

void on_fault(int signal, siginfo_t* info, void* raw) {
  auto& context = *static_cast<ucontext_t*>(raw);
  const int error = errno;
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const auto* const code = reinterpret_cast<const unsigned char*>(context.uc_mcontext.gregs[REG_RIP]);
  if (closed != Closed::nothing && info->si_code == SEGV_ACCERR && watched(address)) {
    look_at(context, address);
  } else if (trapped && info->si_code != SEGV_ACCERR && info->si_code != SEGV_MAPERR && reads_counter(code)) {
    give_counter(context, code);
  } else {
    to_program(signal, info, raw);
  }
  errno = error;
}

void on_trap(int signal, siginfo_t* info, void* raw) {
  if (!stepping) {
    if (!take_step(raw)) to_program(signal, info, raw);
    return;
  }
  auto& context = *static_cast<ucontext_t*>(raw);
  stepping = false;
  context.uc_mcontext.gregs[REG_EFL] &= ~kTrapFlag;
  if (close_again != Closed::nothing) close(close_again);
}

/// In the C library or the shim a system call may be about to happen, and the kernel does not fault on protected pages.
bool in_library(const void* raw) {
  const auto at = static_cast<std::uintptr_t>(static_cast<const ucontext_t*>(raw)->uc_mcontext.gregs[REG_RIP]);
  for (const Range& r : library_text)
    if (at >= r.from && at < r.to) return true;
  return false;
}

/// A child of fork also gets this signal from the kernel when its parent has ended. The conductor then adopts it; if
/// that has ended, too, nobody is left to give it a turn.
void on_silence(int, siginfo_t* info, void* raw) {
  Channel* const c = channel();
  if (info->si_code != SI_TKILL) {
    if (c != nullptr && static_cast<std::uint32_t>(system_call(SYS_getppid)) != c->facts.conductor) end_now(1);
    return;
  }
  if (in_library(raw)) return;
  if (c == nullptr || c->turn.load() != static_cast<std::uint32_t>(Turn::program) || stepping) return;
  // Protected since the last silence: it polls nothing that NICs write.
  const bool elsewhere = closed == Closed::everything || range_count == 0;
  if (closed != Closed::nothing) open_all();
  last_look = {};
  steps = 0;
  if (!elsewhere) {
    close(Closed::everything);
  } else if (c->threads != 0) {
    follow(raw);
  }
}

int find_libraries(dl_phdr_info* info, std::size_t, void*) {
  const char* const name = info->dlpi_name;
  if (std::strstr(name, "/libc.so") == nullptr && std::strstr(name, "libibverbs.so") == nullptr &&
      std::strstr(name, "librdmacm.so") == nullptr)
    return 0;
  for (int i = 0; i < info->dlpi_phnum && library_count < kLibraries; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    const std::uintptr_t from = info->dlpi_addr + part.p_vaddr;
    library_text[library_count++] = {from, from + part.p_memsz};
  }
  return 0;
}

/// Finds out whether the text of a loaded object has the instruction. Those of the C library and the loader do not
/// count.
int find_counter(dl_phdr_info* info, std::size_t, void* found) {
  const char* const name = info->dlpi_name;
  for (const char* own :
       {"/ld-linux", "libc.so", "libm.so", "libstdc++", "libgcc_s", "libibverbs.so", "librdmacm.so", "linux-vdso"})
    if (std::strstr(name, own) != nullptr) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0 || part.p_memsz < 3) continue;
    const auto* at = reinterpret_cast<const unsigned char*>(info->dlpi_addr + part.p_vaddr);
    const unsigned char* const end = at + part.p_memsz - 2;
    while ((at = static_cast<const unsigned char*>(std::memchr(at, 0x0f, static_cast<std::size_t>(end - at)))) !=
           nullptr) {
      if (reads_counter(at)) {
        *static_cast<bool*>(found) = true;
        return 1;
      }
      if (++at >= end) break;
    }
  }
  return 0;
}

}  // namespace

void install_handlers() {
  dl_iterate_phdr(find_libraries, nullptr);
  struct sigaction action {};
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  sigaddset(&action.sa_mask, silence_signal());  // only one handler at a time changes the protection
  action.sa_sigaction = on_fault;
  real_sigaction(SIGSEGV, &action, nullptr);
  action.sa_sigaction = on_trap;
  real_sigaction(SIGTRAP, &action, nullptr);
  action.sa_flags |= SA_RESTART;
  action.sa_sigaction = on_silence;
  real_sigaction(silence_signal(), &action, nullptr);
}

void watch_pages(std::uintptr_t from, std::uintptr_t to) {
  open_all();
  learnt_page = 0;
  for (int i = 0; i < range_count; ++i)
    if (ranges[i].from <= from && to <= ranges[i].to) return;
  if (range_count < kRangesMax) ranges[range_count++] = {from, to};
  channel()->watches = 1;
}

void open_pages() {
  last_look = {};
  steps = 0;
  if (closed != Closed::nothing) open_all();
}

void close_learnt_page() {
  if (learnt_page != 0 && closed == Closed::nothing) close(Closed::page);
}

void trap_counter() {
  bool found = false;
  dl_iterate_phdr(find_counter, &found);
  if (!found) return;
  trapped = true;
  trap_counter_of_thread();
}

void trap_counter_of_thread() {
  if (trapped) prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
}

bool counter_trapped() { return trapped; }

void untrap_counter() {
  if (trapped) prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
  trapped = false;
}

}  // namespace loco::shim
