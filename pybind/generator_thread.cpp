#include "pybind/generator_thread.hpp"

namespace loco::python {

py::object GeneratorThread::next(const Answer& answer) {
  if (answer.raise) return or_sleep([&]() -> py::object { return generator_.attr("throw")(answer.value); });
  PyObject* yielded = nullptr;
  const PySendResult state = or_sleep([&] { return PyIter_Send(generator_.ptr(), answer.value.ptr(), &yielded); });
  if (state == PYGEN_ERROR) throw py::error_already_set();
  auto value = py::reinterpret_steal<py::object>(yielded);
  if (state == PYGEN_NEXT) return value;
  returned_ = std::move(value);
  return {};
}

void GeneratorThread::advance(const std::function<Answer()>& answer,
                              const std::function<void(const py::object&)>& read) {
  const Locked locked;
  try {
    const py::object yielded = next(answer());
    ended_ = !yielded;
    if (!ended_) read(yielded);
    return;
  } catch (py::error_already_set& e) {
    if (e.matches(PyExc_StopIteration)) {  // it was given an exception, and returned
      returned_ = e.value().attr("value");
      ended_ = true;
      return;
    }
    e.restore();
  } catch (const py::builtin_exception& e) {
    e.set_error();
  } catch (const std::invalid_argument& e) {
    PyErr_SetString(PyExc_ValueError, e.what());
  }
  raised_.fetch();
  throw GeneratorFailed("a Python exception");
}

}  // namespace loco::python
