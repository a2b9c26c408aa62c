// What the conductor asks of the operating system.
#pragma once

#include <cstdint>
#include <sched.h>
#include <string>
#include <sys/types.h>

#include "exec/protocol.hpp"
#include "sim/time.hpp"

namespace loco::exec {

/// Real time since it was made, by a system call: the counter may be trapped.
class WallTime {
 public:
  WallTime();
  [[nodiscard]] double seconds() const;

 private:
  double began_;
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
/// Is that thread running, and not in a system call that waits?
[[nodiscard]] bool computes(pid_t process, std::uint32_t thread);

/// Has a thread not ended yet?
[[nodiscard]] bool thread_is_there(pid_t process, std::uint32_t thread);
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
