// Traces as NumPy sees them: the vectors of calls and subevents through the buffer protocol, without a copy.
#include <cstddef>
#include <cstring>
#include <ostream>
#include <pybind11/stl.h>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "loco_sim/trace/graph.hpp"
#include "loco_sim/trace/places.hpp"
#include "loco_sim/trace/timeline.hpp"
#include "loco_sim/trace/why.hpp"
#include "model/check.hpp"
#include "model/stamps.hpp"
#include "pybind/bindings.hpp"
#include "pybind/interruption.hpp"
#include "sim/host_memory.hpp"
#include "trace/file.hpp"
#include "trace/whole_file.hpp"

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
  using C = trace::Call;
  return {LOCO_SIM_FIELD(C, parent),   LOCO_SIM_FIELD(C, thread),   LOCO_SIM_FIELD(C, library),
          LOCO_SIM_FIELD(C, method),   LOCO_SIM_FIELD(C, returned), LOCO_SIM_FIELD(C, object),
          LOCO_SIM_FIELD(C, node_set), LOCO_SIM_FIELD(C, work_id),  LOCO_SIM_FIELD(C, argument),
          LOCO_SIM_FIELD(C, result),   LOCO_SIM_FIELD(C, begin),    LOCO_SIM_FIELD(C, end),
          LOCO_SIM_FIELD(C, begin_ps), LOCO_SIM_FIELD(C, end_ps)};
}

std::vector<Field> subevent_fields() {
  using S = trace::Subevent;
  return {LOCO_SIM_FIELD(S, call),       LOCO_SIM_FIELD(S, stamp),   LOCO_SIM_FIELD(S, peer),
          LOCO_SIM_FIELD(S, node),       LOCO_SIM_FIELD(S, address), LOCO_SIM_FIELD(S, value),
          LOCO_SIM_FIELD(S, value_read), LOCO_SIM_FIELD(S, source),  LOCO_SIM_FIELD(S, overwrote),
          LOCO_SIM_FIELD(S, start),      LOCO_SIM_FIELD(S, finish),  LOCO_SIM_FIELD(S, start_ps),
          LOCO_SIM_FIELD(S, finish_ps)};
}

std::vector<Field> activity_fields() {
  using A = trace::Activity;
  return {LOCO_SIM_FIELD(A, kind),  LOCO_SIM_FIELD(A, opcode),   LOCO_SIM_FIELD(A, node),
          LOCO_SIM_FIELD(A, peer),  LOCO_SIM_FIELD(A, qp),       LOCO_SIM_FIELD(A, number),
          LOCO_SIM_FIELD(A, bytes), LOCO_SIM_FIELD(A, start_ps), LOCO_SIM_FIELD(A, finish_ps)};
}

#undef LOCO_SIM_FIELD

static_assert(std::is_trivially_copyable_v<trace::Call> && std::is_standard_layout_v<trace::Call>);
static_assert(std::is_trivially_copyable_v<trace::Activity> && std::is_standard_layout_v<trace::Activity>);
static_assert(std::is_trivially_copyable_v<trace::Subevent> && std::is_standard_layout_v<trace::Subevent>);

std::vector<std::pair<std::uint32_t, std::string>> threads_of(const trace::Trace& trace) {
  std::vector<std::pair<std::uint32_t, std::string>> out;
  for (const trace::Thread& t : trace.threads) out.emplace_back(t.node, t.name);
  return out;
}

/// Name, participants, transitive.
using ObjectTuple = std::tuple<std::string, std::vector<std::uint32_t>, bool>;

std::vector<ObjectTuple> objects_of(const trace::Trace& trace) {
  std::vector<ObjectTuple> out;
  for (const trace::Object& o : trace.objects) out.emplace_back(o.name, o.participants, o.transitive);
  return out;
}

constexpr std::size_t kLibraries = static_cast<std::size_t>(trace::Library::kvstore) + 1;
constexpr std::size_t kMethods = static_cast<std::size_t>(trace::Method::kv_delete) + 1;

/// The names of the values of an enumeration, by value.
template <typename E>
py::tuple names(std::size_t count) {
  py::tuple out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = py::str(std::string(trace::name(static_cast<E>(i))));
  return out;
}

py::tuple activity_names() {
  constexpr std::size_t kKinds = static_cast<std::size_t>(trace::Activity::Kind::cqe) + 1;
  py::tuple out(kKinds);
  for (std::size_t i = 0; i < kKinds; ++i)
    out[i] = py::str(std::string(trace::name(static_cast<trace::Activity::Kind>(i))));
  return out;
}

/// Refuses a byte that is no value of the enumeration that it is about to become.
void require_kind(const std::byte* record, std::size_t offset, std::size_t count, const char* what, std::size_t index) {
  const auto value = std::to_integer<std::size_t>(record[offset]);
  if (value >= count)
    throw py::value_error("record " + std::to_string(index) + ": " + what + ": expected a number below " +
                          std::to_string(count) + ", found " + std::to_string(value));
}

void clear_gaps(trace::Call& c) {
  c.zero = 0;
  c.zeros = 0;
}
void clear_gaps(trace::Subevent& s) {
  s.zero = 0;
  s.zeros16 = 0;
  s.zeros32 = 0;
}

/// Padding between the fields of a caller's array is not kept.
template <typename T, typename Check>
std::vector<T> records_from(const py::buffer& bytes, Check check) {
  const py::buffer_info info = bytes.request();
  const auto size = static_cast<std::size_t>(info.size * info.itemsize);
  if (size % sizeof(T) != 0) throw py::value_error("expected whole records");
  std::vector<T> out(size / sizeof(T));
  const auto* from = static_cast<const std::byte*>(info.ptr);
  for (std::size_t i = 0; i < out.size(); ++i) check(from + i * sizeof(T), i);
  if (!out.empty()) std::memcpy(out.data(), from, size);
  for (T& record : out) clear_gaps(record);
  return out;
}

std::shared_ptr<trace::Trace> make_trace(std::string scenario, std::uint64_t seed, std::uint32_t nodes,
                                         const std::vector<std::pair<std::uint32_t, std::string>>& threads,
                                         const std::vector<ObjectTuple>& objects,
                                         std::vector<std::vector<std::uint32_t>> node_sets, const py::buffer& calls,
                                         const py::buffer& subevents) {
  auto trace = std::make_shared<trace::Trace>();
  trace->scenario = std::move(scenario);
  trace->seed = seed;
  trace->nodes = nodes;
  for (const auto& [node, name] : threads) trace->threads.push_back({node, name});
  trace->objects.clear();
  for (const auto& [name, participants, transitive] : objects)
    trace->objects.push_back({name, participants, transitive});
  trace->node_sets = std::move(node_sets);
  trace->calls = records_from<trace::Call>(calls, [](const std::byte* r, std::size_t i) {
    require_kind(r, offsetof(trace::Call, library), kLibraries, "library", i);
    require_kind(r, offsetof(trace::Call, method), kMethods, "method", i);
    require_kind(r, offsetof(trace::Call, returned), 2, "returned", i);
  });
  trace->subevents = records_from<trace::Subevent>(subevents, [](const std::byte* r, std::size_t i) {
    require_kind(r, offsetof(trace::Subevent, stamp), trace::kStamps, "stamp", i);
  });
  return trace;
}

std::shared_ptr<trace::Trace> shared(trace::Trace&& trace) { return std::make_shared<trace::Trace>(std::move(trace)); }

/// (stage, node, start, picoseconds) of each stage of a span.
py::list why_tuples(const std::shared_ptr<trace::Trace>& trace, std::int64_t start_ps, std::int64_t end_ps) {
  const std::vector<WhyStage> stages = interruptible([&](Interruption& interruption) {
    return why(*trace, start_ps, end_ps, [&] { interruption.stop_if_requested(); });
  });
  py::list out;
  for (const WhyStage& s : stages) out.append(py::make_tuple(std::string(s.stage), s.node, s.start_ps, s.took_ps));
  return out;
}

/// The text that `write(stream, poll)` writes.
template <class Write>
std::string text_of(const Write& write) {
  return interruptible([&](Interruption& interruption) {
    InterruptibleText text(interruption);
    write(text.stream(), [&] { interruption.stop_if_requested(); });
    return text.take();
  });
}

std::string timeline(const std::shared_ptr<trace::Trace>& trace) {
  return text_of([&](std::ostream& out, const auto& poll) { write_timeline(out, *trace, poll); });
}

std::string graph(const std::shared_ptr<trace::Trace>& trace, std::size_t limit) {
  return text_of([&](std::ostream& out, const auto&) { write_graph(out, *trace, limit); });
}

std::string trace_text(const std::shared_ptr<trace::Trace>& trace) {
  return text_of([&](std::ostream& out, const auto&) { trace::write_trace_text(out, *trace); });
}

/// Gives `sink` the parts of a trace file.
void encode(const trace::Trace& trace, Interruption& interruption, const trace::TraceSink& sink) {
  trace::encode_trace(trace, [&](std::string_view part) {
    interruption.stop_if_requested();
    sink(part);
  });
}

py::bytes encoded(const std::shared_ptr<trace::Trace>& trace) {
  return py::bytes(interruptible([&](Interruption& interruption) {
    std::string bytes;
    encode(*trace, interruption, [&](std::string_view part) { bytes.append(part); });
    return bytes;
  }));
}

void write_file(const std::shared_ptr<trace::Trace>& trace, const std::string& path) {
  interruptible([&](Interruption& interruption) {
    trace::write_whole_file(
        path, [&](std::ostream& out) { encode(*trace, interruption, [&](std::string_view part) { out << part; }); });
  });
}

void bind_trace_files(py::module_& m) {
  m.def("make_trace", &make_trace);
  m.def("decode_trace", [](const py::bytes& bytes) {
    const std::string_view view = bytes;
    return interruptible([&](Interruption& interruption) {
      return shared(trace::decode_trace(view, {.poll = [&] { interruption.stop_if_requested(); }}));
    });
  });
  m.def("read_trace", [](const std::string& path) {
    return interruptible([&](Interruption& interruption) {
      return shared(trace::read_trace_file(
          path, {.memory_max = sim::memory_share(), .poll = [&] { interruption.stop_if_requested(); }}));
    });
  });
}

}  // namespace

void bind_trace(py::module_& m) {
  // Immutable from Python: nothing below changes a trace.
  using Shared = std::shared_ptr<trace::Trace>;
  py::class_<trace::Trace, Shared>(m, "Trace")
      .def_readonly("scenario", &trace::Trace::scenario)
      .def_property_readonly("of_verbs", [](const trace::Trace& t) { return t.verbs.has_value(); })
      .def_readonly("seed", &trace::Trace::seed)
      .def_readonly("nodes", &trace::Trace::nodes)
      .def_readonly("node_sets", &trace::Trace::node_sets)
      .def_property_readonly("threads", &threads_of)
      .def_property_readonly("objects", &objects_of)
      .def_property_readonly("call_count", [](const trace::Trace& t) { return t.calls.size(); })
      .def_property_readonly("subevent_count", [](const trace::Trace& t) { return t.subevents.size(); })
      .def("call_bytes", [](const Shared& t) { return bytes_of(t, t->calls); })
      .def("subevent_bytes", [](const Shared& t) { return bytes_of(t, t->subevents); })
      .def("activity_bytes", [](const Shared& t) { return bytes_of(t, t->activities); })
      .def("require_places", [](const Shared& t) { require_places(*t); })
      .def("timeline", &timeline)
      .def("graph", &graph)
      .def("why", &why_tuples)
      .def("encode", &encoded)
      .def("to_text", &trace_text)
      .def("write", &write_file);
  bind_trace_files(m);
  m.attr("CALL_FIELDS") = call_fields();
  m.attr("CALL_SIZE") = sizeof(trace::Call);
  m.attr("SUBEVENT_FIELDS") = subevent_fields();
  m.attr("SUBEVENT_SIZE") = sizeof(trace::Subevent);
  m.attr("ACTIVITY_FIELDS") = activity_fields();
  m.attr("ACTIVITY_SIZE") = sizeof(trace::Activity);
  m.attr("ACTIVITIES") = activity_names();
  m.attr("STAMPS") = names<trace::Stamp>(trace::kStamps);
  m.attr("LIBRARIES") = names<trace::Library>(kLibraries);
  m.attr("METHODS") = names<trace::Method>(kMethods);
}

}  // namespace loco::python
