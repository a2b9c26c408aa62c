#include "sim/fiber.hpp"

#include <array>
#include <boost/context/fiber.hpp>
#include <boost/context/preallocated.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <cstring>
#include <cxxabi.h>
#include <exception>
#include <stdexcept>
#include <utility>

#include "sim/prefetch.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define LOCO_SIM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LOCO_SIM_ASAN 1
#endif
#endif
#ifdef LOCO_SIM_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#ifdef _LIBCPP_VERSION
namespace __cxxabiv1 {  // NOLINT: LLVM's C++ library has it and does not declare it
extern "C" void* __cxa_get_globals() noexcept;
}  // namespace __cxxabiv1
#endif

namespace loco::sim {
namespace {

namespace context = boost::context;

// Exceptions being handled belong to a stack, but the C++ runtime stores them per OS thread (Itanium C++ ABI, exception
// handling, 2.2.2 __cxa_eh_globals). So each side of a switch saves and restores its own.
class ExceptionState {
 public:
  void save(const void* globals) { std::memcpy(bytes_.data(), globals, kSize); }
  void restore(void* globals) const { std::memcpy(globals, bytes_.data(), kSize); }
  [[nodiscard]] bool on_its_way() const {
    unsigned uncaught = 0;
    std::memcpy(&uncaught, bytes_.data() + sizeof(void*), sizeof uncaught);
    return uncaught != 0;
  }

 private:
  static constexpr std::size_t kSize = sizeof(void*) + sizeof(unsigned);
  std::array<unsigned char, kSize> bytes_{};
};

// What one side of a switch must store for AddressSanitizer: its fake stack and the bounds of its real one.
struct StackNote {
#ifdef LOCO_SIM_ASAN
  void* fake = nullptr;
  const void* bottom = nullptr;
  std::size_t size = 0;

  void leave_to(const StackNote& other) { __sanitizer_start_switch_fiber(&fake, other.bottom, other.size); }
  void arrive() const { __sanitizer_finish_switch_fiber(fake, nullptr, nullptr); }
  void arrive_from(StackNote& other) const { __sanitizer_finish_switch_fiber(fake, &other.bottom, &other.size); }
  // Boost enters a new context once while making it. This counts as a switch for AddressSanitizer, so that the fiber's
  // outermost frame is not on the fake stack of its maker, which may die first.
  template <typename Make>
  __attribute__((no_sanitize_address)) void make_on(Make make) const {
    StackNote here;
    __sanitizer_start_switch_fiber(&here.fake, bottom, size);
    make();
    __sanitizer_finish_switch_fiber(nullptr, &here.bottom, &here.size);
    here.pretend_back();
  }
  // The outermost frame of a fiber never returns, so its red zones would outlive the stack and affect whatever is
  // mapped there next.
  void forget_red_zones() const { __asan_unpoison_memory_region(bottom, size); }
  // Frees the fake stack of an ended fiber. Again a nominal switch, because a running fiber still uses it.
  __attribute__((no_sanitize_address)) void drop_fake(StackNote& here) const {
    __sanitizer_start_switch_fiber(&here.fake, here.bottom, here.size);
    __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
    here.pretend_back();
  }
  __attribute__((no_sanitize_address)) void pretend_back() const {
    __sanitizer_start_switch_fiber(nullptr, bottom, size);
    __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
  }
  void set_bounds(const context::stack_context& stack) {
    bottom = static_cast<const char*>(stack.sp) - stack.size;
    size = stack.size;
  }
#else
  void leave_to(const StackNote&) {}
  void arrive() const {}
  void arrive_from(StackNote&) const {}
  template <typename Make>
  void make_on(Make make) const {
    make();
  }
  void forget_red_zones() const {}
  void drop_fake(StackNote&) const {}
  void set_bounds(const context::stack_context&) {}
#endif
};

}  // namespace

// A stack and what runs on it. The context outlives the bodies: it runs one body after another until `quit`.
class FiberPool::Fiber {
 public:
  // `slot` moves the top of the stack by some cache lines. Stacks are whole pages, so tops at equal offsets would
  // compete for the same cache sets.
  Fiber(std::size_t stack_bytes, std::uint32_t slot) {
    const std::size_t shift = slot * kShiftStep % kShiftEnd;
    context::protected_fixedsize_stack allocator(stack_bytes + kShiftEnd);
    const context::stack_context stack = allocator.allocate();
    inside_note_.set_bounds(stack);
    inside_note_.make_on([&] {
      inside_ = context::fiber(std::allocator_arg,
                               context::preallocated(static_cast<char*>(stack.sp) - shift, stack.size - shift, stack),
                               allocator, [this](context::fiber&& from) { return loop(std::move(from)); });
    });
  }
  ~Fiber() {
    quit = true;
    enter();
    inside_note_.drop_fake(outside_note_);
    inside_note_.forget_red_zones();
  }
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // From outside: runs the fiber until it suspends or ends.
  void enter() {
    void* const globals = abi::__cxa_get_globals();  // of this OS thread, the same before and after the switch
    outside_exceptions_.save(globals);
    inside_exceptions_.restore(globals);
    outside_note_.leave_to(inside_note_);
    inside_ = std::move(inside_).resume();
    outside_note_.arrive();
    inside_exceptions_.save(globals);
    outside_exceptions_.restore(globals);
  }

  // From inside: returns control to enter().
  void leave() {
    inside_note_.leave_to(outside_note_);
    outside_ = std::move(outside_).resume();
    inside_note_.arrive_from(outside_note_);
  }

  [[nodiscard]] bool throwing() const { return inside_exceptions_.on_its_way(); }

  std::function<void()> body;
  std::exception_ptr error;
  std::uint32_t generation = 0;
  bool started = false;
  bool done = true;
  bool cancelled = false;
  bool quit = false;

 private:
  static constexpr std::size_t kShiftStep = 13 * 64;
  static constexpr std::size_t kShiftEnd = 4096;

  context::fiber loop(context::fiber&& from) {
    outside_ = std::move(from);
    inside_note_.arrive_from(outside_note_);
    while (!quit) {
      run_body();
      done = true;
      leave();
    }
    inside_note_.leave_to(outside_note_);
    return std::move(outside_);
  }

  void run_body() {
    try {
      const std::function<void()> running = std::exchange(body, nullptr);
      running();
    } catch (const FiberCancelled&) {  // NOLINT(bugprone-empty-catch): the end of unwinding
    } catch (...) {
      error = std::current_exception();
    }
  }

  context::fiber inside_;   // where enter() goes
  context::fiber outside_;  // where leave() goes
  ExceptionState inside_exceptions_;
  ExceptionState outside_exceptions_;
  StackNote inside_note_;
  StackNote outside_note_;
};

FiberPool::FiberPool(Options options) : options_(options) {}

FiberPool::~FiberPool() {
  // By index, because unwinding a fiber may create others, which are then unwound as well.
  for (std::uint32_t slot = 0; slot < fibers_.size(); ++slot) {
    if (fibers_[slot]->done) continue;
    try {
      cancel({slot, fibers_[slot]->generation});
    } catch (...) {  // NOLINT(bugprone-empty-catch): an error while unwinding has nowhere to go
    }
  }
}

FiberId FiberPool::create(std::function<void()> body) {
  std::uint32_t slot = 0;
  if (free_.empty()) {
    slot = static_cast<std::uint32_t>(fibers_.size());
    fibers_.push_back(std::make_unique<Fiber>(options_.stack_bytes, slot));
    tops_.push_back(nullptr);
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  Fiber& fiber = *fibers_[slot];
  fiber.body = std::move(body);
  fiber.started = fiber.done = fiber.cancelled = false;
  ++unfinished_;
  return {slot, fiber.generation};
}

FiberPool::Fiber* FiberPool::find(FiberId id) const {
  if (id.slot >= fibers_.size() || fibers_[id.slot]->generation != id.generation || fibers_[id.slot]->done) {
    return nullptr;
  }
  return fibers_[id.slot].get();
}

void FiberPool::prefetch(FiberId id) const {
  // Saved registers are below the last frame, frames of callers above it.
  constexpr std::size_t kBelow = 192, kAbove = 512;
  const std::byte* const top = tops_[id.slot];
  if (top == nullptr) return;
  sim::prefetch(top - kBelow, kBelow + kAbove);
  sim::prefetch(fibers_[id.slot].get(), sizeof(Fiber));
}

bool FiberPool::finished(FiberId id) const { return find(id) == nullptr; }

bool FiberPool::throwing(FiberId id) const {
  const Fiber* fiber = find(id);
  return fiber != nullptr && fiber->throwing();
}

void FiberPool::resume(FiberId id) {
  if (inside()) throw std::logic_error("FiberPool::resume: called from inside a fiber of the pool");
  if (find(id) == nullptr) throw std::logic_error("FiberPool::resume: the fiber has ended");
  run(id.slot);
}

void FiberPool::run(std::uint32_t slot) {
  Fiber& fiber = *fibers_[slot];
  fiber.started = true;
  current_ = slot;
  fiber.enter();
  current_ = kNone;
  if (!fiber.done) return;
  ++fiber.generation;
  free_.push_back(slot);
  --unfinished_;
  if (fiber.error) std::rethrow_exception(std::exchange(fiber.error, nullptr));
}

void FiberPool::suspend() {
  if (!inside()) throw std::logic_error("FiberPool::suspend: called from outside of the pool's fibers");
  Fiber& fiber = *fibers_[current_];
  tops_[current_] = static_cast<const std::byte*>(__builtin_frame_address(0));
  if (!fiber.cancelled) fiber.leave();
  // A destructor that suspends during unwinding must not throw again, so it just continues.
  if (fiber.cancelled && std::uncaught_exceptions() == 0) throw FiberCancelled{};
}

void FiberPool::cancel(FiberId id) {
  if (inside()) throw std::logic_error("FiberPool::cancel: called from inside a fiber of the pool");
  Fiber* fiber = find(id);
  if (fiber == nullptr) return;
  fiber->cancelled = true;
  if (fiber->started) {
    run(id.slot);
    return;
  }
  fiber->body = nullptr;
  fiber->done = true;
  ++fiber->generation;
  free_.push_back(id.slot);
  --unfinished_;
}

}  // namespace loco::sim
