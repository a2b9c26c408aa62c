// Shared by all parts of the shim: the calling thread's channel, and what is done around a call.
//
// The shim is loaded into programs that were compiled elsewhere. It has no exceptions and exports only the symbols that
// it replaces; it knows the verbs ABI and the channel's protocol, but no simulator.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <dlfcn.h>
#include <time.h>
#include <type_traits>

#include "exec/protocol.hpp"
#include "exec/shim/basics.hpp"

namespace loco::shim {

using namespace loco::exec;

/// The calling thread's channel; null if it is not conducted (a forked child, a program started otherwise).
[[nodiscard]] Channel* channel();
/// Gives the calling thread a channel, or takes it away.
void set_channel(Channel* channel);
/// The process is a child of fork and no longer conducted.
void leave_conductor();
[[nodiscard]] bool is_forked_child();
/// Makes a channel and its descriptor for a thread or process that is about to start; null if there is no room.
[[nodiscard]] Channel* new_channel(int& file);
/// In a child of fork: makes this its channel.
void become_child(Channel* channel, int file);
/// From now on signals are delivered in the process's own turns.
void set_family();
/// True if a signal was delivered since the last call, in a call that handed over. Waiting calls then fail with EINTR.
[[nodiscard]] bool take_interruption();
void note_interruption();
/// True for a descriptor of the shim, which the program does not know and may not close.
[[nodiscard]] bool is_own_file(int file);
/// Ends the process without telling anybody.
[[noreturn]] void end_now(int status);
/// The process that attached, and its channel's descriptor.
[[nodiscard]] long attached_process();
[[nodiscard]] int channel_file();
/// Keeps the descriptors open that the image after exec needs.
void keep_channel_at_exec(bool keep);
/// The simulated time of the last reply, also without a channel.
[[nodiscard]] std::int64_t last_time();

/// Hands over, waits for the reply and returns its first word. Precondition: channel() != nullptr.
/// To the trace, if the calling thread has made one that it has not told of (check.cpp). Before what comes behind it.
void tell_of_store();
std::int64_t call(Request request, std::uint64_t a = 0, std::uint64_t b = 0, std::uint64_t c = 0, std::uint64_t d = 0,
                  std::uint64_t e = 0, std::uint64_t f = 0);

/// The program did something other than reading the clock.
void clock_used_otherwise();
/// Reads the program's own time, which is later than the last clock read. `unit`: the clock shows multiples of this
/// many picoseconds.
[[nodiscard]] std::int64_t read_clock(std::int64_t unit = 1);

/// As failed(), for most calls of verbs: a null pointer or the error itself.
struct Refused {
  int error;
  operator int() const { return error; }
  template <typename T>
  operator T*() const {
    return nullptr;
  }
};
inline Refused refused(int error) { return {errno = error}; }

/// Reports a request of the program that is not supported: EOPNOTSUPP.
Refused unsupported(const char* what);
/// Reports a reason why another run may differ. `seen` is a hash of what the program got, for recordings.
void not_deterministic(const char* what, std::uint64_t seen = 0);
/// Reports something that is done differently from hardware.
void approximated(const char* what);

/// The C library's definition of a name. Takes no lock, because dlsym would wait for a thread that stands still in
/// dlopen.
[[nodiscard]] void* c_library_symbol(const char* name);
/// The next definition of a function that the shim replaces.
template <typename F>
[[nodiscard]] F* next(F*, const char* name) {
  return reinterpret_cast<F*>(c_library_symbol(name));
}
#define LOCO_NEXT(name) \
  static decltype(::name)* const next_##name = ::loco::shim::next(static_cast<decltype(::name)*>(nullptr), #name)
/// Begins a replacement: without a conductor the C library's function does all of it.
#define LOCO_CONDUCTED(name, ...) \
  LOCO_NEXT(name);                \
  if (::loco::shim::channel() == nullptr) return next_##name(__VA_ARGS__)

inline constexpr std::int64_t kSecond = 1'000'000'000'000;
inline constexpr std::int64_t kNever = -1;  ///< as a deadline
[[nodiscard]] inline std::int64_t picoseconds(const timespec& t) { return t.tv_sec * kSecond + t.tv_nsec * 1000; }

/// A system call of the shim's own: the C library's function for system calls is replaced, too.
template <typename... Arguments>
long system_call(long number, Arguments... arguments) {
  [[maybe_unused]] const auto word = [](auto value) {
    if constexpr (std::is_pointer_v<decltype(value)>) {
      return reinterpret_cast<long>(value);
    } else if constexpr (std::is_null_pointer_v<decltype(value)>) {
      return 0L;
    } else {
      return static_cast<long>(value);
    }
  };
  const long words[6] = {word(arguments)...};
  long result = number;
  register long r10 asm("r10") = words[3];
  register long r8 asm("r8") = words[4];
  register long r9 asm("r9") = words[5];
  asm volatile("syscall"
               : "+a"(result)
               : "D"(words[0]), "S"(words[1]), "d"(words[2]), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  constexpr long kErrors = 4096;
  if (result >= 0 || result <= -kErrors) return result;
  errno = static_cast<int>(-result);
  return -1;
}

// --- spins.cpp -----------------------------------------------------------------------------------------------------
void install_handlers();
/// Registered memory that may be protected, to find out what a silent program polls.
void watch_pages(std::uintptr_t from, std::uintptr_t to);
/// Unprotects all pages, because the kernel and the NIC have to reach them.
void open_pages();
/// After a verbs call: protects again the page that the program is known to poll.
void close_learnt_page();
/// Trap the time-stamp counter in programs that have the instruction.
void trap_counter();
void trap_counter_of_thread();
[[nodiscard]] bool counter_trapped();
void untrap_counter();

// --- recurrence.cpp ------------------------------------------------------------------------------------------------
/// Starts looking for a loop without calls that recurs in the same state; `context` is a signal's.
void follow(void* context);
/// The thread makes a call, which ends the search.
void stop_following();
/// Handles a trap. Returns true if it belonged to the search.
bool take_step(void* context);

// --- traps.cpp -----------------------------------------------------------------------------------------------------
/// From here on, system calls that the program or its libraries make directly come to the shim. `environment` is from
/// the loader, followed by the auxiliary vector.
void trap_system_calls(char** environment);

// --- threads.cpp ---------------------------------------------------------------------------------------------------
/// Its number among the process's threads, in the order of creation.
[[nodiscard]] int thread_number();
/// Waits until another thread has released something, or until `deadline`. Returns true at the deadline.
[[nodiscard]] bool wait_for_release(std::int64_t deadline);
/// This thread has released something.
void release();
/// The process is a child of fork, with one thread.
void forget_threads();

// --- clock.cpp -----------------------------------------------------------------------------------------------------
/// The program's own time. Precondition: channel() != nullptr.
[[nodiscard]] std::int64_t program_time();
/// A child of fork has no alarm.
void forget_alarm();

// --- streams.cpp ---------------------------------------------------------------------------------------------------
/// A child of fork has the same descriptors.
void copy_streams();

// --- processes.cpp -------------------------------------------------------------------------------------------------
/// The result of getpid.
[[nodiscard]] int shown_id();
/// Random bytes, a function of the host and the run's seed.
void fill_random(void* out, std::size_t bytes);
/// The 16 random bytes that a program starts with, from the same source.
void fill_start_bytes(void* out);

// --- polling.cpp ---------------------------------------------------------------------------------------------------
/// The next call is no turn of a polling loop.
void break_cycle();
/// A look at descriptors that found nothing belongs to the turn.
void note_empty_look();
/// This thread has given the turn away.
void handed_over();

// --- events.cpp ----------------------------------------------------------------------------------------------------
/// Called with replies that have news or mail, from the first descriptor or mailbox on that they can be for.
inline void (*take_news)(Channel& channel) = nullptr;

}  // namespace loco::shim
