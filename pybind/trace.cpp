// Traces as NumPy sees them: the vectors of calls and subevents through the buffer protocol, without a copy.
#include <cstddef>
#include <pybind11/stl.h>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/stamps.hpp"
#include "pybind/bindings.hpp"

namespace loco::python {

namespace {

/// One field of a structured NumPy type: name, format, byte offset.
using Field = std::tuple<std::string, std::string, std::size_t>;

template <typename T>
std::string format() {
  if constexpr (std::is_same_v<T, bool>) return "?";
  if constexpr (std::is_enum_v<T>) return format<std::underlying_type_t<T>>();
  const std::string kind = std::is_signed_v<T> ? "=i" : "=u";
  return kind + std::to_string(sizeof(T));
}

#define LOCO_SIM_FIELD(type, member) \
  Field { #member, format < decltype(type::member)>(), offsetof(type, member) }

std::vector<Field> call_fields() {
  using C = model::Call;
  return {LOCO_SIM_FIELD(C, parent),   LOCO_SIM_FIELD(C, thread),   LOCO_SIM_FIELD(C, library),
          LOCO_SIM_FIELD(C, method),   LOCO_SIM_FIELD(C, returned), LOCO_SIM_FIELD(C, object),
          LOCO_SIM_FIELD(C, node_set), LOCO_SIM_FIELD(C, work_id),  LOCO_SIM_FIELD(C, argument),
          LOCO_SIM_FIELD(C, result),   LOCO_SIM_FIELD(C, begin),    LOCO_SIM_FIELD(C, end)};
}

std::vector<Field> subevent_fields() {
  using S = model::Subevent;
  return {LOCO_SIM_FIELD(S, call),       LOCO_SIM_FIELD(S, stamp),   LOCO_SIM_FIELD(S, peer),
          LOCO_SIM_FIELD(S, node),       LOCO_SIM_FIELD(S, address), LOCO_SIM_FIELD(S, value),
          LOCO_SIM_FIELD(S, value_read), LOCO_SIM_FIELD(S, source),  LOCO_SIM_FIELD(S, overwrote),
          LOCO_SIM_FIELD(S, start),      LOCO_SIM_FIELD(S, finish),  LOCO_SIM_FIELD(S, start_ps),
          LOCO_SIM_FIELD(S, finish_ps)};
}

#undef LOCO_SIM_FIELD

static_assert(std::is_trivially_copyable_v<model::Call> && std::is_standard_layout_v<model::Call>);
static_assert(std::is_trivially_copyable_v<model::Subevent> && std::is_standard_layout_v<model::Subevent>);

/// A read-only view of bytes that lie in a trace, and the trace, which lives as long as the view.
struct TraceBytes {
  TracePtr trace;
  const void* data;
  std::size_t size;
};

template <typename T>
TraceBytes bytes_of(const TracePtr& trace, const std::vector<T>& records) {
  return {trace, records.data(), records.size() * sizeof(T)};
}

py::buffer_info buffer_of(TraceBytes& bytes) {
  static char nothing = 0;  // an empty vector has no address; the buffer protocol wants one
  void* const data = bytes.data != nullptr ? const_cast<void*>(bytes.data) : &nothing;
  return {data, 1, py::format_descriptor<std::uint8_t>::format(), 1, {bytes.size}, {py::ssize_t{1}}, true};
}

std::vector<std::pair<std::uint32_t, std::string>> threads_of(const TracePtr& trace) {
  std::vector<std::pair<std::uint32_t, std::string>> out;
  for (const model::Thread& t : trace->threads) out.emplace_back(t.node, t.name);
  return out;
}

std::vector<std::tuple<std::string, std::vector<std::uint32_t>, bool>> objects_of(const TracePtr& trace) {
  std::vector<std::tuple<std::string, std::vector<std::uint32_t>, bool>> out;
  for (const model::Object& o : trace->objects) out.emplace_back(o.name, o.participants, o.transitive);
  return out;
}

std::vector<std::string> stamp_names() {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < model::kStamps; ++i) out.emplace_back(model::name(static_cast<model::Stamp>(i)));
  return out;
}

}  // namespace

void bind_trace(py::module_& m) {
  py::class_<TraceBytes>(m, "TraceBytes", py::buffer_protocol()).def_buffer(&buffer_of);
  // Immutable from Python: `const` is dropped for pybind11's holder only.
  py::class_<model::Trace, std::shared_ptr<model::Trace>>(m, "Trace")
      .def_readonly("scenario", &model::Trace::scenario)
      .def_readonly("seed", &model::Trace::seed)
      .def_readonly("nodes", &model::Trace::nodes)
      .def_readonly("node_sets", &model::Trace::node_sets)
      .def_property_readonly("threads", [](const std::shared_ptr<model::Trace>& t) { return threads_of(t); })
      .def_property_readonly("objects", [](const std::shared_ptr<model::Trace>& t) { return objects_of(t); })
      .def_property_readonly("call_count", [](const model::Trace& t) { return t.calls.size(); })
      .def_property_readonly("subevent_count", [](const model::Trace& t) { return t.subevents.size(); })
      .def("call_bytes", [](const std::shared_ptr<model::Trace>& t) { return bytes_of(t, t->calls); })
      .def("subevent_bytes", [](const std::shared_ptr<model::Trace>& t) { return bytes_of(t, t->subevents); });
  m.attr("CALL_FIELDS") = call_fields();
  m.attr("CALL_SIZE") = sizeof(model::Call);
  m.attr("SUBEVENT_FIELDS") = subevent_fields();
  m.attr("SUBEVENT_SIZE") = sizeof(model::Subevent);
  m.attr("STAMPS") = py::tuple(py::cast(stamp_names()));
}

}  // namespace loco::python
