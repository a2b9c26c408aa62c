#include "pybind/arguments.hpp"

#include <algorithm>
#include <pybind11/stl.h>

#include "text/input_error.hpp"

namespace loco::python {

namespace {

using options::Kind;
using options::Row;

/// The value as text, or none: another type.
std::optional<std::string> text_of(const Row& row, const py::handle& value) {
  const auto number = [](const py::object& whole) { return py::str(whole).cast<std::string>(); };
  const bool quantity = row.kind == Kind::size || row.kind == Kind::duration;
  if (row.kind == Kind::flag) {
    const std::string type = py::str(py::type::handle_of(value).attr("__name__"));
    if (type != "bool" && type != "bool_") return {};  // NumPy's, too
    return py::bool_(py::reinterpret_borrow<py::object>(value)) ? "true" : "false";
  }
  if (row.kind == Kind::seconds) {
    if (!PyFloat_Check(value.ptr()) && !PyIndex_Check(value.ptr()) && !py::hasattr(value, "__float__")) return {};
    return py::repr(py::float_(py::reinterpret_borrow<py::object>(value))).cast<std::string>();
  }
  if ((row.kind == Kind::integer || quantity) && PyIndex_Check(value.ptr())) {
    const std::string digits = number(py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr())));
    return row.kind == Kind::duration ? digits + "ps" : digits;
  }
  if (row.kind == Kind::integer || !PyUnicode_Check(value.ptr())) return {};
  return value.cast<std::string>();
}

/// Of times Python's numbers are picoseconds, as everywhere in the package.
std::string takes(const Row& row) {
  return row.kind == Kind::duration ? "picoseconds, or a time such as 10ms, above 0" : options::expectation(row);
}

[[noreturn]] void refuse(const std::string& call, const Row& row, const py::handle& value, bool type) {
  const std::string key(row.keyword);
  const std::string found = py::repr(value).cast<std::string>();
  if (!type) throw text::InputError({call, 0, 0}, key, takes(row), found);
  const py::object error =
      py::module_::import("loco_sim.errors").attr("_wrong_type")(call + ": " + key, takes(row), found);
  PyErr_SetObject(py::type::handle_of(error).ptr(), error.ptr());
  throw py::error_already_set();
}

void take_one(const std::string& call, const Row& row, void* owner, const py::handle& value) {
  const std::optional<std::string> text = text_of(row, value);
  if (!text) refuse(call, row, value, true);
  if (!assign(row, owner, *text)) refuse(call, row, value, false);
}

}  // namespace

void take(const std::string& call, std::span<const Row> rows, void* owner, const py::dict& given) {
  for (const auto& [key, value] : given) {
    const auto row = std::ranges::find(rows, key.cast<std::string>(), &Row::keyword);
    if (row == rows.end()) throw py::type_error(call + ": no such argument: " + key.cast<std::string>());
    if (value.is_none() && held(*row, owner).empty()) continue;
    const bool several = is_list(row->slot(owner)) && !py::isinstance<py::str>(value) &&
                         !py::isinstance<py::bytes>(value) && py::hasattr(value, "__iter__");
    if (!several) {
      take_one(call, *row, owner, value);
      continue;
    }
    for (const py::handle& one : value) take_one(call, *row, owner, one);
  }
}

py::list described(std::span<const Row> rows, void* defaults) {
  py::list out;
  for (const Row& row : rows) {
    if (row.keyword.empty()) continue;
    const std::string text = held(row, defaults);
    const bool number = row.kind == Kind::integer || row.kind == Kind::seconds;
    py::object fallback = py::none();
    if (row.kind == Kind::flag)
      fallback = py::bool_(text == "true");
    else if (!text.empty())
      fallback = number ? py::object(py::float_(py::str(text))) : py::object(py::str(text));
    out.append(py::make_tuple(row.keyword, fallback, takes(row), row.doc, row.names));
  }
  return out;
}

}  // namespace loco::python
