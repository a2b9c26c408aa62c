// How threads of the transport tell each other something, with no more order than is meant.
#pragma once

#include <atomic>
#include <climits>
#include <cstdint>
#include <ctime>
#include <linux/futex.h>
#include <optional>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace loco::test {

/// A queue from one thread to another: what was done before push() is before what is done after the pop() that gets it.
/// Nothing goes the other way: who pushes learns nothing of who pops.
template <typename T>
class Pipe {
 public:
  Pipe() : first_(new Link), last_(first_) {}
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    while (pop()) {
    }
    delete first_;
  }

  void push(T value) {
    Link* const link = new Link;
    link->value = std::move(value);
    Link* const before = std::exchange(last_, link);
    before->next.store(link, std::memory_order_release);
  }

  std::optional<T> pop() {
    Link* const next = first_->next.load(std::memory_order_acquire);
    if (next == nullptr) return std::nullopt;
    delete std::exchange(first_, next);  // its writer has gone on to `next`
    return std::move(next->value);
  }

 private:
  struct Link {
    T value{};
    std::atomic<Link*> next = nullptr;
  };
  Link* first_;  ///< of who pops: the one that was popped last
  Link* last_;   ///< of who pushes
};

/// Wakes who sleeps. It orders nothing, and the thread sanitizer takes it so: what happened must be found by looking.
/// Without an order a sleeper could miss what a ring was for, so it looks again by itself after a millisecond.
class Bell {
 public:
  [[nodiscard]] std::uint32_t rings() const { return rings_.load(std::memory_order_relaxed); }
  void ring() {
    rings_.fetch_add(1, std::memory_order_relaxed);
    syscall(SYS_futex, &rings_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
  }
  /// Until it has rung more than `heard` times, or a millisecond.
  void wait(std::uint32_t heard) {
    const timespec millisecond{0, 1'000'000};
    syscall(SYS_futex, &rings_, FUTEX_WAIT_PRIVATE, heard, &millisecond, nullptr, 0);
  }

 private:
  std::atomic<std::uint32_t> rings_ = 0;
};

}  // namespace loco::test
