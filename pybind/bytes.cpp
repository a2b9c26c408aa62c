#include <cstdint>

#include "pybind/bindings.hpp"

namespace loco::python {

namespace {

py::buffer_info buffer_of(Bytes& bytes) {
  static char nothing = 0;  // an empty vector has no address; the buffer protocol wants one
  void* const data = bytes.data != nullptr ? const_cast<void*>(bytes.data) : &nothing;
  const auto size = static_cast<py::ssize_t>(bytes.size);
  return {data, 1, py::format_descriptor<std::uint8_t>::format(), 1, {size}, {py::ssize_t{1}}, true};
}

}  // namespace

void bind_bytes(py::module_& m) { py::class_<Bytes>(m, "Bytes", py::buffer_protocol()).def_buffer(&buffer_of); }

}  // namespace loco::python
