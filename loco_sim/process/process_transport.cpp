#include "loco_sim/process/process_transport.hpp"

#include <algorithm>
#include <immintrin.h>
#include <poll.h>
#include <sched.h>
#include <stdexcept>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <utility>

#include "loco_sim/loco/errors.hpp"

namespace loco::process {

namespace {

/// Turns of a polling loop before anything else: some microseconds, in which most operations end.
constexpr std::uint32_t kShortTurns = 256;
/// Turns after which a thread yields its core, because there may be more waiting threads than cores.
constexpr std::uint32_t kTurnsBeforeYield = 4096;
/// Local computation up to this long spins on the clock, because sleeping takes longer.
constexpr std::int64_t kSleepFromPs = 100'000'000;

/// Thrown when the program has ended for another reason, to end this thread as well.
struct Closing {};

std::int64_t clock_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

struct ProcessTransport::Thread {
  std::uint32_t index = 0;
  int bell = -1;  ///< an event descriptor
  std::atomic<bool> sleeps = false;
  std::uint32_t turns = 0;
  bool polls = false;            ///< since its last pause
  std::vector<bool> fence_next;  ///< by node
  std::atomic<bool> ended = false;
  std::thread runs;
};

namespace {
thread_local void* self_thread = nullptr;
}  // namespace

// --- threads ---------------------------------------------------------------------------------------------------------

ProcessTransport::ProcessTransport(Options options, std::string network)
    : options_(std::move(options)),
      mesh_({.hosts = options_.hosts,
             .node = options_.node,
             .network = std::move(network),
             .patience_ms = options_.patience_ms}),
      began_ns_(clock_ns()) {
  self_thread = &adopt();
}

ProcessTransport::~ProcessTransport() {
  closing_ = true;
  ring();
  join_threads();
  for (std::uint32_t i = 0; i < threads_made_; ++i) {
    const std::unique_ptr<Thread> thread(threads_[i].load());
    ::close(thread->bell);
  }
  for (auto& piece : flags_) delete piece.load();
  for (std::uint32_t i = 0; i < pieces_made_; ++i)
    ::munmap(reinterpret_cast<void*>(pieces_[i].base), pieces_[i].size);  // NOLINT(performance-no-int-to-ptr)
}

void ProcessTransport::start() {
  mesh_.start(
      [this](NodeId from, Kind kind, std::string body) {
        if (kind == Kind::wire) return on_wire(from, body);
        {
          const std::lock_guard lock(inbox_mutex_);
          inbox_.push_back({from, std::move(body)});
          inbox_size_.fetch_add(1);
        }
        ring();
      },
      [this](NodeId node) {
        on_lost(node);
        ring();
      });
}

void ProcessTransport::stop() {
  closing_ = true;
  ring();
  join_threads();
  mesh_.stop();
}

/// Gives the calling thread, or one that is about to start, its place in the table.
ProcessTransport::Thread& ProcessTransport::adopt() {
  const std::lock_guard lock(threads_mutex_);
  const std::uint32_t index = threads_made_;
  if (index == kThreadsMax)
    throw std::length_error("more than " + std::to_string(kThreadsMax) + " threads of one node");
  auto thread = std::make_unique<Thread>();
  thread->index = index;
  thread->fence_next.resize(num_nodes());
  thread->bell = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  threads_[index] = thread.get();
  threads_made_.fetch_add(1);
  return *thread.release();
}

std::uint32_t ProcessTransport::my_thread() const { return static_cast<const Thread*>(self_thread)->index; }

void ProcessTransport::spawn(std::string, std::function<void()> body, bool service) {
  check_closing();
  Thread& thread = adopt();
  if (!service) {
    const std::lock_guard lock(threads_mutex_);
    ++programs_;
  }
  thread.runs = std::thread([this, &thread, service, body = std::move(body)] {
    self_thread = &thread;
    try {
      body();
    } catch (const Closing&) {
    } catch (...) {
      note_failure(std::current_exception());
    }
    thread.ended.store(true, std::memory_order_release);
    if (service) return;
    {
      const std::lock_guard lock(threads_mutex_);
      --programs_;
    }
    program_ended_.notify_all();
  });
}

void ProcessTransport::note_failure(std::exception_ptr error) {
  {
    const std::lock_guard lock(threads_mutex_);
    if (!failure_) failure_ = std::move(error);
    closing_ = true;
  }
  ring();
}

void ProcessTransport::join_threads() {
  for (std::uint32_t i = 0; i < threads_made_; ++i)
    if (std::thread& thread = threads_[i].load()->runs; thread.joinable()) thread.join();
}

bool ProcessTransport::thread_ended(std::uint32_t thread) const {
  return thread < threads_made_ && threads_[thread].load()->ended.load(std::memory_order_acquire);
}

void ProcessTransport::check_closing() const {
  if (closing_.load(std::memory_order_relaxed)) throw Closing{};
}

void ProcessTransport::run(const std::function<void(Transport&)>& program) {
  try {
    program(*this);
  } catch (const Closing&) {
  } catch (...) {
    note_failure(std::current_exception());
  }
  std::exception_ptr failure;
  {
    std::unique_lock lock(threads_mutex_);
    program_ended_.wait(lock, [this] { return programs_ == 0; });
    failure = failure_;
  }
  if (failure) std::rethrow_exception(failure);
  mesh_.meet([this] { idle(); });
  mesh_.say_farewell();
}

// --- time and waiting ------------------------------------------------------------------------------------------------

std::int64_t ProcessTransport::now_ps() const { return (clock_ns() - began_ns_) * 1000; }

void ProcessTransport::compute(std::int64_t ps) {
  if (ps < 0) throw std::out_of_range("a computation of negative time");
  check_closing();
  const std::int64_t ns = ps / 1000;
  if (ps >= kSleepFromPs) {
    const timespec time{ns / 1'000'000'000, ns % 1'000'000'000};
    ::nanosleep(&time, nullptr);
    return check_closing();
  }
  for (const std::int64_t end = clock_ns() + ns; clock_ns() < end;) _mm_pause();
}

void ProcessTransport::acts() { static_cast<Thread*>(self_thread)->turns = 0; }
void ProcessTransport::polls() { static_cast<Thread*>(self_thread)->polls = true; }

void ProcessTransport::pause() {
  check_closing();
  Thread& me = *static_cast<Thread*>(self_thread);
  const bool polled = std::exchange(me.polls, false);
  if (!polled && me.turns < kShortTurns) {
    ++me.turns;
    return _mm_pause();
  }
  const bool slept = me.sleeps.load();
  if (!slept) {
    sleepers_.fetch_add(1);
    me.sleeps.store(true);  // later changes ring the bell; earlier ones are seen in the next turn
  }
  pollfd bell{.fd = me.bell, .events = POLLIN, .revents = 0};
  if (::poll(&bell, 1, 0) > 0) {
    std::uint64_t rung = 0;
    [[maybe_unused]] const ssize_t got = ::read(me.bell, &rung, sizeof(rung));
    return;
  }
  if (slept) rest(me.bell, polled);
  if (++me.turns % kTurnsBeforeYield == 0) ::sched_yield();
}

void ProcessTransport::rest(int, bool polls) {
  if (!polls) idle();
}

void ProcessTransport::ring() {
  if (sleepers_.load() == 0) return;
  const std::uint32_t made = threads_made_;
  for (std::uint32_t i = 0; i < made; ++i) {
    Thread& thread = *threads_[i].load();
    if (&thread == self_thread || !thread.sleeps.exchange(false)) continue;
    sleepers_.fetch_sub(1);
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(thread.bell, &one, sizeof(one));
  }
}

// --- operations ------------------------------------------------------------------------------------------------------

void ProcessTransport::begin(Request request) {
  check_closing();
  acts();
  std::vector<bool>& fences = static_cast<Thread*>(self_thread)->fence_next;
  request.fence = fences[request.remote.node];
  fences[request.remote.node] = false;
  post(request);
}

void ProcessTransport::put(Address local, const Region& remote, std::uint64_t offset, std::uint64_t size,
                           OperationTag tag) {
  begin({Operation::put, local, remote, offset, size, tag});
}

void ProcessTransport::get(Address local, const Region& remote, std::uint64_t offset, std::uint64_t size,
                           OperationTag tag) {
  begin({Operation::get, local, remote, offset, size, tag});
}

void ProcessTransport::fetch_add(Address local, const Region& remote, std::uint64_t offset, std::uint64_t add,
                                 OperationTag tag) {
  begin({Operation::fetch_add, local, remote, offset, kWord, tag, add});
}

void ProcessTransport::compare_swap(Address local, const Region& remote, std::uint64_t offset, std::uint64_t expected,
                                    std::uint64_t desired, OperationTag tag) {
  begin({Operation::compare_swap, local, remote, offset, kWord, tag, desired, expected});
}

void ProcessTransport::remote_fence(NodeId node) { static_cast<Thread*>(self_thread)->fence_next.at(node) = true; }

}  // namespace loco::process
