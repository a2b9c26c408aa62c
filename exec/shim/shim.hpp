// What the parts of the shim share: the channel of the calling thread, and what it does around a call.
//
// The shim is loaded into programs that were compiled elsewhere. It has no exceptions and no symbols but those that it
// replaces; it knows the verbs ABI and the channel's protocol, and no simulator.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <dlfcn.h>
#include <type_traits>

#include "exec/protocol.hpp"

#define LOCO_EXPORT extern "C" __attribute__((visibility("default")))

namespace loco::shim {

using namespace loco::exec;

/// What the calling thread is conducted by; null: nobody (a forked child, a program started otherwise).
[[nodiscard]] Channel* channel();
/// Gives the calling thread a channel (threads) or takes it away.
void set_channel(Channel* channel);
/// The process has no conductor any more: it is a child of fork.
void leave_conductor();
[[nodiscard]] bool is_forked_child();
/// A channel for a thread or a process that is about to be made, and its descriptor; null when there is no room.
[[nodiscard]] Channel* new_channel(int& file);
/// In a child of fork: this is its channel.
void become_child(Channel* channel, int file);
/// From now on signals are delivered in the process's own turns.
void set_family();
/// Has a signal been delivered since the last call, in a call that handed over? Waiting calls then fail with EINTR.
[[nodiscard]] bool take_interruption();
void note_interruption();
/// A descriptor that the program does not know of, and may not close.
[[nodiscard]] bool is_own_file(int file);
/// Ends the process, of which nobody is told.
[[noreturn]] void end_now(int status);
/// The process that attached, and its channel's descriptor.
[[nodiscard]] long attached_process();
[[nodiscard]] int channel_file();
/// Descriptors that the image after exec needs stay open.
void keep_channel_at_exec(bool keep);
/// The simulated time of the last reply, also for those who have no channel any more.
[[nodiscard]] std::int64_t last_time();

/// Hands over and waits for the reply, whose first word it returns. Precondition: channel() != nullptr.
/// To the trace, if the calling thread has made one that it has not told of (check.cpp). Before what comes behind it.
void tell_of_store();
std::int64_t call(Request request, std::uint64_t a = 0, std::uint64_t b = 0, std::uint64_t c = 0, std::uint64_t d = 0,
                  std::uint64_t e = 0, std::uint64_t f = 0);

/// Something other than reading the clock has been done.
void clock_used_otherwise();
/// The program's own time, a clock read later than the last. `unit`: the clock shows multiples of this many
/// picoseconds.
[[nodiscard]] std::int64_t read_clock(std::int64_t unit = 1);

/// Says that the program asked for something that is not there; returns EOPNOTSUPP, and sets errno to it.
int unsupported(const char* what);
/// `seen`: a hash of what the program has got, for recordings.
void not_deterministic(const char* what, std::uint64_t seen = 0);
/// Is done in another way than hardware does it.
void approximated(const char* what);

/// The C library's definition of a name. Takes no lock: dlsym waits for a thread that stands still in dlopen.
[[nodiscard]] void* c_library_symbol(const char* name);
/// The next definition of a function that the shim replaces.
template <typename F>
[[nodiscard]] F* next(F*, const char* name) {
  return reinterpret_cast<F*>(c_library_symbol(name));
}
#define LOCO_NEXT(name) \
  static decltype(::name)* const next_##name = ::loco::shim::next(static_cast<decltype(::name)*>(nullptr), #name)

inline constexpr std::int64_t kSecond = 1'000'000'000'000;

/// A system call that the shim makes for itself: the C library's function for them is replaced, too.
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
/// Registered memory that may be closed to find out what a silent program looks at.
void watch_pages(std::uintptr_t from, std::uintptr_t to);
/// Opens what is closed: the kernel and the NIC are to reach it.
void open_pages();
/// After a verbs call: the page that the program is known to spin on is closed again.
void close_learnt_page();
/// Traps the time-stamp counter where the program has the instruction.
void trap_counter();
void trap_counter_of_thread();
[[nodiscard]] bool counter_trapped();
void untrap_counter();

// --- recurrence.cpp ------------------------------------------------------------------------------------------------
/// From here on, looks for a loop without calls that is always in the same state; `context`: a signal's.
void follow(void* context);
/// The thread makes a call.
void stop_following();
/// A trap: true when it was for this.
bool take_step(void* context);

// --- traps.cpp -----------------------------------------------------------------------------------------------------
/// From here on, system calls that the program or its libraries make by themselves come to the shim. `environment`: as
/// the loader gives it, with the auxiliary vector behind it.
void trap_system_calls(char** environment);

// --- threads.cpp ---------------------------------------------------------------------------------------------------
/// Among the threads of the process, in the order in which they were made.
[[nodiscard]] int thread_number();
/// Waits until another thread has let something go, or for the end of `deadline` (-1: none): true when that is over.
[[nodiscard]] bool wait_for_release(std::int64_t deadline);
/// This thread has let something go.
void release();
/// The process is a child of fork, which has one thread.
void forget_threads();

// --- clock.cpp -----------------------------------------------------------------------------------------------------
/// A child of fork has no alarm.
void forget_alarm();

// --- streams.cpp ---------------------------------------------------------------------------------------------------
/// A child of fork has the same descriptors.
void copy_streams();

// --- processes.cpp -------------------------------------------------------------------------------------------------
/// What getpid gives.
[[nodiscard]] int shown_id();
/// Bytes by chance, a function of the host and the run's seed.
void fill_random(void* out, std::size_t bytes);
/// The 16 bytes that a program is started with, likewise.
void fill_start_bytes(void* out);

// --- polling.cpp ---------------------------------------------------------------------------------------------------
/// What comes now is no turn of a polling loop.
void break_cycle();
/// A look at descriptors that found nothing is a part of the turn.
void note_empty_look();
/// This thread has given the turn away.
void handed_over();

// --- events.cpp ----------------------------------------------------------------------------------------------------
/// Makes file descriptors readable, as the reply says.
void take_news(Channel& channel);
/// Who takes messages of connection managers: the other library, once it is loaded.
using TakeMail = void (*)(const CmMessage&);
void set_mailbox(TakeMail take);

}  // namespace loco::shim
