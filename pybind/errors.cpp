// C++ exceptions as the classes of loco_sim.errors, with the same text as on the command line.
#include <system_error>

#include "loco_sim/run/run.hpp"
#include "loco_sim/trace/places.hpp"
#include "pybind/bindings.hpp"
#include "text/input_error.hpp"
#include "trace/file.hpp"

namespace loco::python {

namespace {

py::object errors(const char* name) { return py::module_::import("loco_sim.errors").attr(name); }

void raise(const py::object& error) { PyErr_SetObject(py::type::handle_of(error).ptr(), error.ptr()); }

void raise_input_error(const text::InputError& e) {
  raise(errors("_input_error")(e.what(), py::arg("file") = e.place().file.str(), py::arg("line") = e.place().line,
                               py::arg("column") = e.place().column, py::arg("key") = e.key(),
                               py::arg("expected") = e.expected(), py::arg("found") = e.found(),
                               py::arg("hint") = e.hint()));
}

/// An OSError of the right subclass: what() of a system_error is "path: message".
void raise_os_error(const std::system_error& e) {
  const std::string message = e.code().message();
  std::string path = e.what();
  if (path.ends_with(": " + message)) path.resize(path.size() - message.size() - 2);
  raise(py::reinterpret_borrow<py::object>(PyExc_OSError)(e.code().value(), message, path));
}

void translate(std::exception_ptr exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const text::InputError& e) {
    raise_input_error(e);
  } catch (const trace::TraceError& e) {
    raise(errors("_trace_error")(e.what(), e.offset()));
  } catch (const RunError& e) {
    raise(py::module_::import("loco_sim.trace").attr("_run_error")(e.what(), e.trace()));
  } catch (const ExportError& e) {
    PyErr_SetString(PyExc_ValueError, e.what());
  } catch (const std::system_error& e) {
    raise_os_error(e);
  }
}

}  // namespace

void bind_errors() { py::register_exception_translator(&translate); }

}  // namespace loco::python
