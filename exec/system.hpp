// What the conductor asks of the operating system.
#pragma once

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <sched.h>
#include <span>
#include <string>
#include <sys/types.h>

#include "exec/protocol.hpp"
#include "sim/time.hpp"

namespace loco::exec {

/// In front of a datagram in its receiver's memory (IBTA volume 1, 8.3).
inline constexpr std::uint32_t kGrhBytes = 40;
/// `payload`: bytes behind it. With RoCE v2 over IPv4 its second half is the IP header, from 10.0.h.h+1 to that of the
/// receiver (IBTA annex A17, A17.4.5.2).
void fill_grh(std::span<std::byte, kGrhBytes> out, std::uint32_t from, std::uint32_t to, std::uint32_t payload,
              bool infiniband);

/// Real time since it was made, by a system call: the counter may be trapped.
class WallTime {
 public:
  WallTime();
  [[nodiscard]] double seconds() const;

 private:
  double began_;
};

/// While it is there, SIGINT (Ctrl-C) is only noted.
class InterruptNoted {
 public:
  InterruptNoted();
  ~InterruptNoted();
  InterruptNoted(const InterruptNoted&) = delete;
  InterruptNoted& operator=(const InterruptNoted&) = delete;
  [[nodiscard]] static bool seen();

 private:
  struct sigaction before_ {};
};

/// This thread, and the programs that it starts, stay on one core: a change of control is then 6 us of processor time.
class PinnedToOneCore {
 public:
  PinnedToOneCore();
  ~PinnedToOneCore();
  PinnedToOneCore(const PinnedToOneCore&) = delete;
  PinnedToOneCore& operator=(const PinnedToOneCore&) = delete;

 private:
  cpu_set_t before_{};
  bool pinned_ = false;
};

/// Children of a program that has ended are this process's: they can be waited for.
class OrphansAdopted {
 public:
  OrphansAdopted();
  ~OrphansAdopted();
  OrphansAdopted(const OrphansAdopted&) = delete;
  OrphansAdopted& operator=(const OrphansAdopted&) = delete;
};

/// The time-stamp counter faults in this thread.
class CounterTrapped {
 public:
  CounterTrapped();
  ~CounterTrapped();
  CounterTrapped(const CounterTrapped&) = delete;
  CounterTrapped& operator=(const CounterTrapped&) = delete;
};

/// The signal by which a silence is broken (shim/signals.hpp).
[[nodiscard]] int silence_signal();
/// Processor time of a process.
[[nodiscard]] std::int64_t processor_time_us(pid_t process);
/// Has a process that may not be a child of ours ended? A zombie has.
[[nodiscard]] bool has_ended(pid_t process);
/// Is that thread running, and not in a system call that waits?
[[nodiscard]] bool computes(pid_t process, std::uint32_t thread);

/// Has a thread not ended yet?
[[nodiscard]] bool thread_is_there(pid_t process, std::uint32_t thread);
/// Does it wait in the kernel by a futex?
[[nodiscard]] bool waits_for_futex(pid_t process, std::uint32_t thread);
/// Is a debugger attached to it?
[[nodiscard]] bool is_traced(pid_t process);
/// 100 us of real time.
void wait_shortly();
/// Has a program perhaps ended since the last call?
[[nodiscard]] bool death_seen();

/// Chooses the second octet of the run's addresses, which no other run on this machine has, and keeps it with a
/// descriptor, which is returned.
[[nodiscard]] int lock_network(std::uint32_t& network);

/// Width and speed of a port, as ibv_port_attr has them.
void set_port_speed(std::uint64_t bits_per_second, HostFacts& facts);

/// A simulated time for a message.
[[nodiscard]] std::string time_text(sim::SimTime time);

}  // namespace loco::exec
