// Finds threads that wait for another thread's plain store, without a call, by checking whether their loop recurs in
// the same state.
//
// From a silence on, instructions are stepped one by one. Registers and the top of the stack are saved at powers of two
// of the steps (Brent, An improved Monte Carlo factorization algorithm, 1980). If both are equal again at the same
// instruction, the loop recurs, and only another thread can end it. The thread then waits until others of its process
// have run, or a NIC has written. The moment at which the silence was noticed does not matter, since each turn of the
// loop is the same. Loops that change memory elsewhere but no register are mistaken for such loops; they continue when
// nothing new comes.
#include <cstdint>
#include <cstring>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include "exec/shim/shim.hpp"

namespace loco::shim {

namespace {

constexpr int kStepsMax = 2048;
constexpr std::size_t kStackBytes = 4096;
constexpr std::size_t kRedZone = 128;
constexpr greg_t kTrapFlag = 0x100;

/// The state by which turns of a loop are compared.
struct Moment {
  greg_t registers[REG_EFL + 1];
  char vectors[256];  ///< XMM0 to XMM15
  char stack[kStackBytes];
  long stack_bytes;
};

bool following = false;
bool followed = false;  ///< the trap flag may be set somewhere
int steps = 0;
int since_kept = 0;
int keep_after = 1;
Moment kept;
greg_t lowest = 0;  ///< lowest instruction since then: the loop's first, wherever it was noticed

void take(const ucontext_t& context, Moment& out) {
  std::memcpy(out.registers, context.uc_mcontext.gregs, sizeof(out.registers));
  constexpr greg_t kResume = 0x10000;
  out.registers[REG_EFL] &= ~(kTrapFlag | kResume);
  if (context.uc_mcontext.fpregs != nullptr)
    std::memcpy(out.vectors, context.uc_mcontext.fpregs->_xmm, sizeof(out.vectors));
  const auto top = static_cast<std::uintptr_t>(out.registers[REG_RSP]) - kRedZone;
  const iovec mine{out.stack, kStackBytes};
  const iovec theirs{reinterpret_cast<void*>(top), kStackBytes};
  out.stack_bytes = system_call(SYS_process_vm_readv, system_call(SYS_getpid), &mine, 1, &theirs, 1, 0);
  if (out.stack_bytes < 0) out.stack_bytes = 0;
}

bool same(const Moment& a, const Moment& b) {
  return std::memcmp(a.registers, b.registers, sizeof(a.registers)) == 0 &&
         std::memcmp(a.vectors, b.vectors, sizeof(a.vectors)) == 0 && a.stack_bytes == b.stack_bytes &&
         std::memcmp(a.stack, b.stack, static_cast<std::size_t>(a.stack_bytes)) == 0;
}

void begin() {
  following = followed = true;
  steps = since_kept = 0;
  keep_after = 1;
  kept.registers[REG_RIP] = 0;
}

}  // namespace

void follow(void* raw) {
  begin();
  static_cast<ucontext_t*>(raw)->uc_mcontext.gregs[REG_EFL] |= kTrapFlag;
}

void stop_following() { following = false; }

bool take_step(void* raw) {
  if (!followed) return false;
  auto& context = *static_cast<ucontext_t*>(raw);
  greg_t* const registers = context.uc_mcontext.gregs;
  if ((registers[REG_EFL] & kTrapFlag) == 0) return false;
  if (!following || ++steps > kStepsMax) {
    following = false;
    registers[REG_EFL] &= ~kTrapFlag;
    return true;
  }
  static Moment now;
  if (registers[REG_RIP] < lowest) lowest = registers[REG_RIP];
  if (registers[REG_RIP] == kept.registers[REG_RIP]) {
    take(context, now);
    if (same(now, kept)) {
      const bool news = call(Request::spin, static_cast<std::uint64_t>(lowest)) == 0;
      if (news) {
        begin();
      } else {
        registers[REG_EFL] &= ~kTrapFlag;
      }
      return true;
    }
  }
  if (++since_kept == keep_after) {
    take(context, kept);
    lowest = registers[REG_RIP];
    since_kept = 0;
    keep_after *= 2;
  }
  return true;
}

}  // namespace loco::shim
