#include "pybind/interpreter_lock.hpp"

#include <atomic>
#include <chrono>
#include <thread>

namespace loco::python {

namespace {

// Of the process, as the interpreter is.
std::atomic<bool> ended = false;
std::atomic<int> working = 0;  // threads that have given the lock away

/// Called after the interpreter has ended, before static objects are destroyed.
void end() {
  using namespace std::chrono_literals;
  constexpr auto kMost = 500ms;  // threads look every 20 ms
  ended = true;
  for (const auto start = std::chrono::steady_clock::now();
       working > 0 && std::chrono::steady_clock::now() - start < kMost;)
    std::this_thread::sleep_for(1ms);
}

}  // namespace

void sleep_until_the_end() {
  while (true) std::this_thread::sleep_for(std::chrono::hours(1));
}

void sleep_if_python_has_ended(bool unlocked) {
  if (!ended.load(std::memory_order_relaxed)) return;
  if (unlocked) --working;
  sleep_until_the_end();
}

void wait_for_threads_at_the_end() { Py_AtExit(&end); }

Unlocked::Unlocked() : state_(PyEval_SaveThread()) { ++working; }

Unlocked::~Unlocked() {
  --working;
  or_sleep([this] { PyEval_RestoreThread(state_); });
}

Locked::Locked() : state_(or_sleep([] { return PyGILState_Ensure(); })) {}

Locked::~Locked() { PyGILState_Release(state_); }

}  // namespace loco::python
