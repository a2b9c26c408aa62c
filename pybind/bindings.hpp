// What the parts of the extension module share. Each bind_* function adds one part's names to the module.
#pragma once

#include <memory>
#include <pybind11/pybind11.h>

#include "model/trace.hpp"

namespace loco::python {

namespace py = pybind11;

/// A finished trace: immutable, shared by every Python object that looks into it.
using TracePtr = std::shared_ptr<const model::Trace>;

void bind_trace(py::module_& m);

}  // namespace loco::python
