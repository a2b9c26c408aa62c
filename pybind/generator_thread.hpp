// A Python generator that runs as a simulated thread: each value that it yields is a call, whose result is sent back.
//
// It runs on the stack of who called run(), never on a fiber's, and only there is the interpreter lock taken.
#pragma once

#include <functional>
#include <pybind11/pybind11.h>
#include <stdexcept>
#include <utility>

#include "pybind/interruption.hpp"

namespace loco::python {

namespace py = pybind11;

/// A generator has raised; the exception has been put aside.
struct GeneratorFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class GeneratorThread {
 public:
  /// What a generator goes on with: the result of its call, or an exception.
  struct Answer {
    py::object value = py::none();
    bool raise = false;
  };

  /// `raised`: where exceptions go that the generator does not catch.
  GeneratorThread(py::object generator, RaisedError& raised) : generator_(std::move(generator)), raised_(raised) {}

  /// Lets the generator run to its next call, which `read` takes; what `read` throws, the generator is said to have
  /// raised. Without the interpreter lock; both functions are called with it.
  void advance(const std::function<Answer()>& answer, const std::function<void(const py::object&)>& read);
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] const py::object& returned() const { return returned_; }

 private:
  /// What it yields, or null when it has returned.
  py::object next(const Answer& answer);

  py::object generator_;
  RaisedError& raised_;
  py::object returned_ = py::none();
  bool ended_ = false;
};

}  // namespace loco::python
