// How a run that has released the interpreter lock learns that it should stop.
//
// Ctrl-C becomes visible to Python only when somebody holding the lock looks, and only in the main thread; so a run
// looks for itself every few milliseconds. Wall-clock time decides when a run is stopped, never what it computes.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <pybind11/pybind11.h>

namespace loco::python {

namespace py = pybind11;

/// Lets one thread stop the runs of others.
struct StopFlag {
  std::atomic<bool> set{false};
};

class Interruption {
 public:
  explicit Interruption(const StopFlag* stop = nullptr) : stop_(stop) {}
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  /// Should the run stop? For loco::RunOptions; called without the interpreter lock.
  bool requested() {
    if (stop_ != nullptr && stop_->set.load(std::memory_order_relaxed)) return true;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_look_) return signal_raised_;
    next_look_ = now + std::chrono::milliseconds(20);
    const py::gil_scoped_acquire locked;
    if (!signal_raised_ && PyErr_CheckSignals() != 0) {
      signal_raised_ = true;
      PyErr_Fetch(&type_, &value_, &traceback_);
    }
    return signal_raised_;
  }

  /// Throws what the signal handler raised (KeyboardInterrupt, for Ctrl-C), if it did. With the interpreter lock.
  void rethrow() {
    if (!signal_raised_) return;
    PyErr_Restore(type_, value_, traceback_);
    type_ = value_ = traceback_ = nullptr;
    throw py::error_already_set();
  }

 private:
  const StopFlag* stop_;
  std::chrono::steady_clock::time_point next_look_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  bool signal_raised_ = false;
  PyObject* type_ = nullptr;  // owned until rethrow() hands them over
  PyObject* value_ = nullptr;
  PyObject* traceback_ = nullptr;
};

}  // namespace loco::python
