// How a run that has released the interpreter lock learns that it should stop.
//
// Ctrl-C becomes visible to Python only when somebody holding the lock looks, and only in the main thread; so work of
// the main thread looks for itself every 20 ms. Wall-clock time decides when it is stopped, never what it computes.
#pragma once

#include <atomic>
#include <chrono>
#include <future>
#include <ostream>
#include <pybind11/pybind11.h>
#include <streambuf>
#include <string>
#include <thread>
#include <utility>

#include "pybind/interpreter_lock.hpp"

namespace loco::python {

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

/// With the interpreter lock. Python's own word for it: a fork makes the thread that forked the main one.
inline bool is_main_thread() {
  const py::object threading = py::module_::import("threading");
  const auto main = threading.attr("main_thread")().attr("ident").cast<unsigned long>();
  return main == threading.attr("get_ident")().cast<unsigned long>();
}

/// The exception by which Interruption::stop_if_requested ends work.
struct Stopped {};

/// Made with the interpreter lock, by the thread that has the work done.
class Interruption {
 public:
  explicit Interruption(const StopFlag* stop = nullptr) : stop_(stop), signals_(is_main_thread()) {}
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  /// Should the work stop? Without the interpreter lock, by any thread. Only the one that made this looks for signals.
  bool requested() {
    const bool owner = std::this_thread::get_id() == owner_;
    sleep_if_python_has_ended(owner);
    if (stop_ != nullptr && stop_->set.load(std::memory_order_relaxed)) return true;
    if (signals_ && owner) look();
    return signalled_.load(std::memory_order_relaxed);
  }

  /// Ends the work, when it should.
  void stop_if_requested() {
    if (requested()) throw Stopped{};
  }

  /// Can Ctrl-C reach this thread? Signals of Python are its main thread's.
  [[nodiscard]] bool has_signals() const { return signals_; }

  /// Throws what the signal handler raised (KeyboardInterrupt, for Ctrl-C), if it did. With the interpreter lock.
  void rethrow() { error_.rethrow(); }

 private:
  void look() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_look_ || signalled_) return;
    next_look_ = now + kLookEvery;
    const Locked locked;
    if (PyErr_CheckSignals() == 0) return;
    error_.fetch();
    signalled_ = true;
  }

  static constexpr std::chrono::milliseconds kLookEvery{20};
  const StopFlag* stop_;
  const bool signals_;
  const std::thread::id owner_ = std::this_thread::get_id();
  std::chrono::steady_clock::time_point next_look_ = std::chrono::steady_clock::now() + kLookEvery;
  std::atomic<bool> signalled_ = false;
  RaisedError error_;
};

/// Calls `work(interruption)` without the interpreter lock. Ctrl-C ends it when it next asks; then what the signal
/// handler raised is thrown, whatever ended the work.
template <class Work>
auto interruptible(const Work& work, const StopFlag* stop = nullptr) {
  Interruption interruption(stop);
  try {
    const Unlocked unlocked;
    return work(interruption);
  } catch (...) {
    interruption.rethrow();
    throw;
  }
}

/// The same for work that has threads of its own, any of which may ask: this thread looks for signals all the while.
template <class Work>
auto interruptible_apart(const Work& work) {
  return interruptible([&](Interruption& interruption) {
    if (!interruption.has_signals()) return work(interruption);
    auto result = std::async(std::launch::async, [&] { return work(interruption); });
    while (result.wait_for(std::chrono::milliseconds(10)) != std::future_status::ready)
      static_cast<void>(interruption.requested());
    return result.get();
  });
}

/// A stream into a text that looks for Ctrl-C as it grows.
class InterruptibleText {
 public:
  explicit InterruptibleText(Interruption& interruption) : buffer_(interruption), out_(&buffer_) {
    out_.exceptions(std::ios::badbit);  // an exception of the buffer leaves the stream
  }
  [[nodiscard]] std::ostream& stream() { return out_; }
  [[nodiscard]] std::string take() { return std::move(buffer_.text); }

 private:
  struct Buffer final : std::streambuf {
    explicit Buffer(Interruption& i) : interruption(i) {}
    std::streamsize xsputn(const char* from, std::streamsize count) override {
      interruption.stop_if_requested();
      text.append(from, static_cast<std::size_t>(count));
      return count;
    }
    int_type overflow(int_type c) override {
      if (!traits_type::eq_int_type(c, traits_type::eof())) text += traits_type::to_char_type(c);
      return traits_type::not_eof(c);
    }
    Interruption& interruption;
    std::string text;
  };

  Buffer buffer_;
  std::ostream out_;
};

}  // namespace loco::python
