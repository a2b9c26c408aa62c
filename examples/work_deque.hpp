// A work-stealing deque: its owner pushes and pops at the bottom, threads of other nodes steal from the top (Chase and
// Lev, "Dynamic circular work-stealing deque", SPAA 2005) with one-sided operations, so that a thief disturbs no CPU.
//
// On the owner's node there are the bottom, a ring of tasks, and the top, which only ever grows. What is from top to
// bottom is there to be taken. The owner's CPU writes tasks and bottom. The top is swapped by NICs alone, by the
// owner's too when it takes the last task, since remote atomics are not atomic with CPUs; reading it is no matter.
// Tasks are words. One thread of the owner uses push and pop, any thread of another node steal.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "loco_sim/loco/membership/channel.hpp"
#include "loco_sim/loco/membership/manager.hpp"
#include "loco_sim/loco/operations/ack_key.hpp"
#include "loco_sim/loco/operations/mem_ref.hpp"

struct deque_options {
  /// False: pop() does not wait until others see that it has lowered the bottom. For experiments: a task is done twice.
  bool fence = true;
};

class work_deque : public loco::channel {
 public:
  using Task = std::uint64_t;

  work_deque(loco::manager& mgr, std::string_view name, loco::NodeId owner, std::uint64_t capacity,
             deque_options options = {})
      : channel(mgr, name, owner == mgr.my_node() ? loco::expect_num{mgr.num_nodes() - 1} : loco::expect_num{1, owner}),
        owner_(owner),
        capacity_(capacity),
        options_(options) {
    const std::uint64_t bytes = kTasks + capacity * 8;
    words_ = owner == my_node() ? create_region("words", bytes) : expect_region(owner, "words", bytes);
    join();
  }

  /// Owner only. False when there is no room.
  [[nodiscard]] bool push(Task task) {
    if (bottom_ - look(kTop) >= capacity_) return false;
    set(task_at(bottom_), task);
    set(kBottom, ++bottom_);  // behind the task: stores are seen in order
    return true;
  }

  /// Owner only. The task that was pushed last, or nothing.
  [[nodiscard]] std::optional<Task> pop() {
    if (bottom_ == 0) return std::nullopt;
    set(kBottom, --bottom_);
    if (options_.fence) transport().memory_fence();  // a thief that looks from here on leaves this task alone
    const std::uint64_t top = look(kTop);
    if (top < bottom_) return look(task_at(bottom_));
    // The last one, or none: whoever gets the top past it has it.
    const bool mine = top == bottom_ && swap_top(bottom_);
    const std::optional<Task> task = mine ? std::optional(look(task_at(bottom_))) : std::nullopt;
    set(kBottom, ++bottom_);
    return task;
  }

  /// Other nodes. The task that was pushed first, or nothing: it is empty, or someone else was faster.
  [[nodiscard]] std::optional<Task> steal() {
    const std::uint64_t top = ask(kTop);
    const std::uint64_t bottom = ask(kBottom);  // after the top: it must not be from before a pop that the top is after
    if (top >= bottom) return std::nullopt;
    const Task task = ask(task_at(top));  // stays there as long as the top does
    return swap_top(top) ? std::optional(task) : std::nullopt;
  }

 private:
  static constexpr std::uint64_t kTop = 0, kBottom = 8, kTasks = 16;
  [[nodiscard]] std::uint64_t task_at(std::uint64_t i) const { return kTasks + i % capacity_ * 8; }

  // The owner's accesses, by its CPU.
  std::uint64_t look(std::uint64_t offset) { return transport().load(local(words_).base + offset); }
  void set(std::uint64_t offset, std::uint64_t value) { transport().store(local(words_).base + offset, value); }

  // Everybody's, by a NIC.
  [[nodiscard]] loco::Region words() const { return owner_ == my_node() ? local(words_) : remote(words_, owner_); }
  std::uint64_t ask(std::uint64_t offset) {
    loco::mem_ref answer(mgr(), 8);
    loco::ack_key key(mgr());
    mgr().get(answer.address(), words(), offset, 8, &key);
    key.wait();
    return answer.load();
  }
  bool swap_top(std::uint64_t top) {
    loco::mem_ref old(mgr(), 8);
    loco::ack_key key(mgr());
    mgr().compare_swap(old.address(), words(), kTop, top, top + 1, &key);
    key.wait();
    return old.load() == top;
  }

  loco::NodeId owner_;
  std::uint64_t capacity_;
  deque_options options_;
  RegionIndex words_ = 0;
  std::uint64_t bottom_ = 0;  ///< the owner's
};
