// A verbs::Machine as Python holds it, with the record of its run.
#pragma once

#include <array>
#include <memory>
#include <pybind11/pybind11.h>
#include <stdexcept>
#include <string>
#include <string_view>

#include "loco_sim/verbs/machine.hpp"
#include "pybind/bindings.hpp"
#include "trace/trace.hpp"

namespace loco::python {

struct PyMachine {
  std::unique_ptr<verbs::Machine> machine;
  bool recorded = false;
  std::shared_ptr<trace::Trace> trace{};  ///< once it has run
};

/// A value of an enumeration by its name; throws std::invalid_argument, which lists the names.
template <typename Enum, std::size_t N>
Enum named(const std::array<std::string_view, N>& names, const std::string& name, const char* what) {
  std::string known;
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
    known += (i == 0 ? "" : ", ") + std::string(names[i]);
  }
  throw std::invalid_argument(std::string(what) + ": expected one of " + known + ", found \"" + name + "\"");
}

/// (state, {attribute: number}), the arguments of ibv_modify_qp; durations in picoseconds. Returns the state.
nic::QpState attributes_of(const py::tuple& given, nic::QpAttributes& attributes);

/// Set-up, results; the class, for `run` to be added.
py::class_<PyMachine> bind_verbs_machine(py::module_& m);

}  // namespace loco::python
