// The interpreter lock, for threads that may outlive the interpreter: daemon threads go on until the process ends.
//
// CPython ends a thread that asks for the lock while the interpreter is ending by pthread_exit(), which unwinds the
// thread's stack; where that meets a destructor or code that catches everything, the process aborts. Here such a thread
// sleeps until the process has ended, as CPython itself does from 3.14 on.
#pragma once

#include <cxxabi.h>
#include <pybind11/pybind11.h>

namespace loco::python {

namespace py = pybind11;

/// Sleeps until the process ends.
[[noreturn]] void sleep_until_the_end();

/// Calls `f`, which takes the interpreter lock or holds it while Python code runs. Where CPython would end this thread
/// within, it sleeps.
template <class F>
auto or_sleep(const F& f) {
#ifdef __GLIBCXX__
  try {
    return f();
  } catch (abi::__forced_unwind&) {
    sleep_until_the_end();
  }
#else
  return f();
#endif
}

/// Gives the lock away as long as it lives. For threads that hold it; also as a py::call_guard.
class Unlocked {
 public:
  Unlocked();
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;
  ~Unlocked();

 private:
  PyThreadState* state_;
};

/// Holds the lock as long as it lives. For threads that came from Python.
class Locked {
 public:
  Locked();
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  ~Locked();

 private:
  PyGILState_STATE state_;
};

/// For work without the lock, now and then: once the interpreter has ended, the thread sleeps. What it works with is
/// about to be taken down. `unlocked`: it is the one that gave the lock away, not one that works for it.
void sleep_if_python_has_ended(bool unlocked);

/// When the interpreter has ended, threads that still work have a moment to fall asleep. Once, when the module is
/// loaded.
void wait_for_threads_at_the_end();

}  // namespace loco::python
