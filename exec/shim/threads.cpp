// Threads of a program: each has its own channel, and one runs at a time. A held lock belongs to a stopped thread, so
// blocking calls are made by trying, and between tries the thread waits for the others of its process.
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "exec/shim/shim.hpp"

namespace loco::shim {

namespace {
thread_local int t_number __attribute__((tls_model("initial-exec"))) = 0;
}  // namespace

void release() {
  if (Channel* const c = channel()) c->released = 1;
}

int thread_number() { return t_number; }

bool wait_for_release(std::int64_t deadline) {
  return call(Request::wait_process, static_cast<std::uint64_t>(deadline)) != 0;
}

namespace {

struct Beginning {
  void* (*body)(void*);
  void* argument;
  Channel* channel;
  int number;
};

int threads_made = 0;

pthread_key_t end_key;
bool has_threads = false;

void thread_ends(void* mine) {
  set_channel(static_cast<Channel*>(mine));
  channel()->released = 1;
  call(Request::thread_exit);
  set_channel(nullptr);
}

void* thread_begins(void* raw) {
  const Beginning begin = *static_cast<Beginning*>(raw);
  std::free(raw);
  Channel& c = *begin.channel;
  t_number = begin.number;
  c.thread = static_cast<std::uint32_t>(system_call(SYS_gettid));
  set_channel(&c);
  call(Request::start);
  trap_counter_of_thread();
  // The destructor also runs if the thread ends by pthread_exit or is cancelled.
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, [] { pthread_key_create(&end_key, thread_ends); });
  pthread_setspecific(end_key, &c);
  return begin.body(begin.argument);
}

/// The simulated time at which a clock shows `until`.
std::int64_t deadline_of(clockid_t clock, const timespec& until) {
  timespec now;
  clock_gettime(clock, &now);
  const std::int64_t left = picoseconds(until) - picoseconds(now);
  return program_time() + (left > 0 ? left : 0);
}

/// Tries until the result is not EBUSY.
template <typename Attempt>
int wait_until_deadline(std::int64_t deadline, Attempt attempt) {
  int result = attempt();
  while (result == EBUSY) {
    if (wait_for_release(deadline)) return ETIMEDOUT;
    result = attempt();
  }
  return result;
}
template <typename Attempt>
int wait_until_done(Attempt attempt) {
  return wait_until_deadline(kNever, attempt);
}

// Condition variables: the waiting threads, in order. The C library's own state stays as initialised.
struct Waiter {
  const pthread_cond_t* condition;
  Waiter* next;
  bool signalled;
};
Waiter* waiters = nullptr;

void wake(const pthread_cond_t* condition, bool all) {
  for (Waiter* w = waiters; w != nullptr; w = w->next) {
    if (w->condition != condition || w->signalled) continue;
    w->signalled = true;
    if (!all) break;
  }
  release();
}

int wait_for_signal(pthread_cond_t* condition, pthread_mutex_t* mutex, std::int64_t deadline) {
  Waiter mine{condition, nullptr, false};
  Waiter** end = &waiters;
  while (*end != nullptr) end = &(*end)->next;
  *end = &mine;
  pthread_mutex_unlock(mutex);
  bool over = false;
  while (!mine.signalled && !over) over = wait_for_release(deadline);
  take_out(waiters, &mine);
  pthread_mutex_lock(mutex);
  return mine.signalled ? 0 : ETIMEDOUT;
}

void give_way() {
  if (has_threads) {
    call(Request::yield);
  } else {
    static_cast<void>(read_clock());  // a system call, which takes at least as long
  }
}

}  // namespace

void forget_threads() {
  t_number = threads_made = 0;
  has_threads = false;
  waiters = nullptr;
}

}  // namespace loco::shim

using namespace loco::shim;

LOCO_EXPORT int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                               void* argument) noexcept {
  LOCO_NEXT(pthread_create);
  Channel* const mine = channel();
  if (mine == nullptr) return next_pthread_create(thread, attributes, body, argument);
  int file = -1;
  Channel* const c = new_channel(file);
  auto* const begin = static_cast<Beginning*>(std::malloc(sizeof(Beginning)));
  if (c == nullptr || begin == nullptr) return EAGAIN;
  *begin = {body, argument, c, ++threads_made};
  const int result = next_pthread_create(thread, attributes, thread_begins, begin);
  if (result == 0) has_threads = true;
  if (result == 0) call(Request::thread_start, static_cast<std::uint64_t>(file));
  system_call(SYS_close, file);
  return result;
}

LOCO_EXPORT int pthread_join(pthread_t thread, void** value) {
  LOCO_CONDUCTED(pthread_join, thread, value);
  return wait_until_done([&] { return pthread_tryjoin_np(thread, value); });
}

LOCO_EXPORT int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  LOCO_CONDUCTED(pthread_mutex_lock, mutex);
  return wait_until_done([&] { return pthread_mutex_trylock(mutex); });
}

LOCO_EXPORT int pthread_mutex_timedlock(pthread_mutex_t* __restrict mutex, const timespec* __restrict until) noexcept {
  LOCO_CONDUCTED(pthread_mutex_timedlock, mutex, until);
  return wait_until_deadline(deadline_of(CLOCK_REALTIME, *until), [&] { return pthread_mutex_trylock(mutex); });
}

LOCO_EXPORT int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  LOCO_NEXT(pthread_mutex_unlock);
  release();
  return next_pthread_mutex_unlock(mutex);
}

LOCO_EXPORT int pthread_spin_lock(pthread_spinlock_t* lock) noexcept {
  LOCO_CONDUCTED(pthread_spin_lock, lock);
  return wait_until_done([&] { return pthread_spin_trylock(lock); });
}

LOCO_EXPORT int pthread_spin_unlock(pthread_spinlock_t* lock) noexcept {
  LOCO_NEXT(pthread_spin_unlock);
  release();
  return next_pthread_spin_unlock(lock);
}

LOCO_EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  LOCO_CONDUCTED(pthread_rwlock_rdlock, lock);
  return wait_until_done([&] { return pthread_rwlock_tryrdlock(lock); });
}

LOCO_EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  LOCO_CONDUCTED(pthread_rwlock_wrlock, lock);
  return wait_until_done([&] { return pthread_rwlock_trywrlock(lock); });
}

LOCO_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t* lock) noexcept {
  LOCO_NEXT(pthread_rwlock_unlock);
  release();
  return next_pthread_rwlock_unlock(lock);
}

LOCO_EXPORT int pthread_cond_wait(pthread_cond_t* __restrict condition, pthread_mutex_t* __restrict mutex) {
  LOCO_CONDUCTED(pthread_cond_wait, condition, mutex);
  return wait_for_signal(condition, mutex, kNever);
}

LOCO_EXPORT int pthread_cond_timedwait(pthread_cond_t* __restrict condition, pthread_mutex_t* __restrict mutex,
                                       const timespec* __restrict until) {
  LOCO_CONDUCTED(pthread_cond_timedwait, condition, mutex, until);
  // pthread_condattr_setclock: the C library keeps the clock in the second bit of its flags (nptl, pthread_cond_common)
  const bool monotonic = (condition->__data.__wrefs & 2U) != 0;
  return wait_for_signal(condition, mutex, deadline_of(monotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME, *until));
}

LOCO_EXPORT int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                       const timespec* until) {
  LOCO_CONDUCTED(pthread_cond_clockwait, condition, mutex, clock, until);
  return wait_for_signal(condition, mutex, deadline_of(clock, *until));
}

LOCO_EXPORT int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  LOCO_CONDUCTED(pthread_cond_signal, condition);
  wake(condition, false);
  return 0;
}

LOCO_EXPORT int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  LOCO_CONDUCTED(pthread_cond_broadcast, condition);
  wake(condition, true);
  return 0;
}

namespace {

// A barrier: how many threads have arrived, and how often it has opened. Stored in the C library's own object.
struct Barrier {
  unsigned count, present, openings;
};
static_assert(sizeof(Barrier) <= sizeof(pthread_barrier_t));

}  // namespace

LOCO_EXPORT int pthread_barrier_init(pthread_barrier_t* __restrict barrier,
                                     const pthread_barrierattr_t* __restrict attributes, unsigned count) noexcept {
  LOCO_CONDUCTED(pthread_barrier_init, barrier, attributes, count);
  if (count == 0) return EINVAL;
  const Barrier made{count, 0, 0};
  std::memcpy(barrier, &made, sizeof(made));
  return 0;
}

LOCO_EXPORT int pthread_barrier_destroy(pthread_barrier_t* barrier) noexcept {
  LOCO_NEXT(pthread_barrier_destroy);
  return channel() == nullptr ? next_pthread_barrier_destroy(barrier) : 0;
}

LOCO_EXPORT int pthread_barrier_wait(pthread_barrier_t* raw) noexcept {
  LOCO_CONDUCTED(pthread_barrier_wait, raw);
  auto* const barrier = reinterpret_cast<volatile Barrier*>(raw);
  const unsigned opening = barrier->openings;
  barrier->present = barrier->present + 1;
  if (barrier->present == barrier->count) {
    barrier->present = 0;
    barrier->openings = opening + 1;
    release();
    return PTHREAD_BARRIER_SERIAL_THREAD;
  }
  while (barrier->openings == opening) static_cast<void>(wait_for_release(kNever));
  return 0;
}

namespace {

int attempt_semaphore(sem_t* semaphore) {
  if (sem_trywait(semaphore) == 0) return 0;
  return errno == EAGAIN ? EBUSY : errno;
}

int as_errno(int result) { return result == 0 ? 0 : int{failed(result)}; }

}  // namespace

LOCO_EXPORT int sem_wait(sem_t* semaphore) {
  LOCO_CONDUCTED(sem_wait, semaphore);
  return as_errno(wait_until_done([&] { return attempt_semaphore(semaphore); }));
}

LOCO_EXPORT int sem_timedwait(sem_t* __restrict semaphore, const timespec* __restrict until) {
  LOCO_CONDUCTED(sem_timedwait, semaphore, until);
  return as_errno(
      wait_until_deadline(deadline_of(CLOCK_REALTIME, *until), [&] { return attempt_semaphore(semaphore); }));
}

LOCO_EXPORT int sem_post(sem_t* semaphore) noexcept {
  LOCO_NEXT(sem_post);
  release();
  return next_sem_post(semaphore);
}

LOCO_EXPORT int sched_yield() noexcept {
  LOCO_CONDUCTED(sched_yield);
  give_way();
  return 0;
}
