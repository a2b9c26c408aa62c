// Declarations shared by the parts of the extension module. Each bind_* function adds one part's names to the module.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <pybind11/pybind11.h>
#include <vector>

#include "model/check.hpp"
#include "trace/trace.hpp"

namespace loco {
struct RunResult;
}

namespace loco::python {

namespace py = pybind11;

/// A read-only view of bytes that lie in some C++ object, and that object, which lives as long as the view.
struct Bytes {
  std::shared_ptr<const void> owner;
  const void* data = nullptr;
  std::size_t size = 0;
};

template <typename T>
Bytes bytes_of(std::shared_ptr<const void> owner, const std::vector<T>& records) {
  return {std::move(owner), records.data(), records.size() * sizeof(T)};
}

/// The numbers of an enumeration by name, of which `names` has those of all its values in their order.
template <std::size_t N>
py::dict numbers_of(const std::array<const char*, N>& names) {
  py::dict numbers;
  for (std::size_t i = 0; i < N; ++i) numbers[names[i]] = static_cast<int>(i);
  return numbers;
}

/// The fields of loco_sim.Verdict, in their order, as plain tuples.
py::tuple verdict_tuple(const model::Verdict& verdict);

/// A finished run as Python holds it; `trace` has been moved out of `result` to have an owner of its own.
struct Finished {
  std::shared_ptr<const RunResult> result;
  std::shared_ptr<trace::Trace> trace;
};
[[nodiscard]] Finished finished_run(std::shared_ptr<RunResult> result);

void bind_bytes(py::module_& m);
void bind_errors();
void bind_trace(py::module_& m);
void bind_check(py::module_& m);
void bind_scenario(py::module_& m);
void bind_run(py::module_& m);
void bind_program(py::module_& m);
void bind_litmus(py::module_& m);
void bind_corerma(py::module_& m);
void bind_networks(py::module_& m);
void bind_perf(py::module_& m);
void bind_verify(py::module_& m);
void bind_verbs(py::module_& m);

}  // namespace loco::python
