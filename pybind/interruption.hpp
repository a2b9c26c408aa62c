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

/// A Python exception put aside while C++ that knows nothing of it unwinds. All of it with the interpreter lock.
class RaisedError {
 public:
  RaisedError() = default;
  RaisedError(const RaisedError&) = delete;
  RaisedError& operator=(const RaisedError&) = delete;
  ~RaisedError() {
    Py_XDECREF(type_);
    Py_XDECREF(value_);
    Py_XDECREF(traceback_);
  }
  /// Takes the error that is set; later ones are dropped.
  void fetch() {
    if (type_ == nullptr)
      PyErr_Fetch(&type_, &value_, &traceback_);
    else
      PyErr_Clear();
  }
  [[nodiscard]] bool raised() const { return type_ != nullptr; }
  /// The exception itself, of an error that is raised.
  [[nodiscard]] py::object value() {
    PyErr_NormalizeException(&type_, &value_, &traceback_);
    return py::reinterpret_borrow<py::object>(value_);
  }
  /// Throws it, if there is one.
  void rethrow() {
    if (type_ == nullptr) return;
    PyErr_Restore(type_, value_, traceback_);
    type_ = value_ = traceback_ = nullptr;
    throw py::error_already_set();
  }

 private:
  PyObject* type_ = nullptr;
  PyObject* value_ = nullptr;
  PyObject* traceback_ = nullptr;
};

/// What ends work that asks Interruption::stop_if_requested.
struct Stopped {};

class Interruption {
 public:
  explicit Interruption(const StopFlag* stop = nullptr) : stop_(stop) {}
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  /// Should the run stop? For loco::RunOptions; called without the interpreter lock.
  bool requested() {
    if (stop_ != nullptr && stop_->set.load(std::memory_order_relaxed)) return true;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_look_) return signalled_;
    next_look_ = now + std::chrono::milliseconds(20);
    const py::gil_scoped_acquire locked;
    if (!signalled_ && PyErr_CheckSignals() != 0) {
      signalled_ = true;
      error_.fetch();
    }
    return signalled_;
  }

  /// Ends the work, when it should.
  void stop_if_requested() {
    if (requested()) throw Stopped{};
  }

  /// Throws what the signal handler raised (KeyboardInterrupt, for Ctrl-C), if it did. With the interpreter lock.
  void rethrow() { error_.rethrow(); }

 private:
  const StopFlag* stop_;
  std::chrono::steady_clock::time_point next_look_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  bool signalled_ = false;
  RaisedError error_;
};

/// Calls `work(interruption)` without the interpreter lock. Ctrl-C ends it when it next asks; then what the signal
/// handler raised is thrown, whatever ended the work.
template <class Work>
auto interruptible(const Work& work, const StopFlag* stop = nullptr) {
  Interruption interruption(stop);
  try {
    const py::gil_scoped_release released;
    return work(interruption);
  } catch (...) {
    interruption.rethrow();
    throw;
  }
}

}  // namespace loco::python
