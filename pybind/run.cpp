// Running scenarios with the interpreter lock released.
#include "loco_sim/run/run.hpp"

#include <cstddef>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>
#include <string>
#include <utility>

#include "loco_sim/run/flow_report.hpp"
#include "pybind/bindings.hpp"
#include "pybind/interruption.hpp"

namespace loco::python {

namespace {

Finished run(const scenario::Scenario& scenario, bool keep_trace, const StopFlag* stop) {
  return interruptible(
      [&](Interruption& interruption) {
        RunOptions options;
        options.interrupted = [&] { return interruption.requested(); };
        options.keep_trace = keep_trace;
        auto result = std::make_shared<RunResult>(loco::run(scenario, options));
        if (!keep_trace)
          result->trace.reset();  // it was recorded to be checked, or for a file that is not written here
        return finished_run(std::move(result));
      },
      stop);
}

/// (name, samples in picoseconds, when they ended) of each kind of operation.
py::list operations(const Finished& f) {
  py::list out;
  for (const OperationTimes& o : f.result->operations)
    out.append(py::make_tuple(o.name, bytes_of(f.result, o.samples_ps), bytes_of(f.result, o.ends_ps)));
  return out;
}

/// The names of FlowRecord's fields, their NumPy types and where they lie.
py::list flow_fields() {
  using workloads::flows::FlowRecord;
  py::list out;
  const auto add = [&](const char* name, const char* type, std::size_t at) {
    out.append(py::make_tuple(name, type, at));
  };
  add("id", "<u8", offsetof(FlowRecord, id));
  add("source", "<u4", offsetof(FlowRecord, source));
  add("destination", "<u4", offsetof(FlowRecord, destination));
  add("class", "<u4", offsetof(FlowRecord, traffic_class));
  add("bytes", "<u8", offsetof(FlowRecord, bytes));
  add("start_ps", "<i8", offsetof(FlowRecord, start_ps));
  add("received_ps", "<i8", offsetof(FlowRecord, received_ps));
  add("completed_ps", "<i8", offsetof(FlowRecord, completed_ps));
  add("ideal_ps", "<i8", offsetof(FlowRecord, ideal_ps));
  add("retransmitted_packets", "<u4", offsetof(FlowRecord, retransmitted_packets));
  add("marked_packets", "<u4", offsetof(FlowRecord, marked_packets));
  return out;
}

/// (largest, flows, mean, p50, p95, p99, p999) of each bin. `at`: below so many bytes and from so many on, not `bins`.
py::list slowdown_bins(const py::array_t<std::uint64_t>& sizes, const py::array_t<double>& slowdowns, std::size_t bins,
                       std::optional<std::uint64_t> at) {
  std::vector<SlowedFlow> flows;
  for (py::ssize_t i = 0; i < sizes.size(); ++i) flows.push_back({sizes.at(i), slowdowns.at(i)});
  py::list out;
  for (const SlowdownBin& b : at ? slowdowns_around(std::move(flows), *at) : slowdowns_by_size(std::move(flows), bins))
    out.append(py::make_tuple(b.largest, b.flows, b.mean, b.p50, b.p95, b.p99, b.p999));
  return out;
}

py::tuple counter_names() {
  py::list out;
  for (const nic::NamedCounter& c : nic::kCounters) out.append(c.name);
  return out;
}

py::dict counters(const Finished& f) {
  py::dict out;
  for (const nic::NamedCounter& c : nic::kCounters) out[c.name] = f.result->counters.*c.member;
  return out;
}

py::dict workload_counters(const Finished& f) {
  py::dict out;
  for (const std::string& name : f.result->workload_counters.names())
    out[py::str(name)] = f.result->workload_counters.value(name);
  return out;
}

/// None, or (interval in picoseconds, names of links, busy picoseconds, queued bytes).
py::object series(const Finished& f) {
  if (!f.result->series) return py::none();
  const fabric::LinkSeries& s = *f.result->series;
  return py::make_tuple(s.interval().ps, f.result->links, bytes_of(f.result, s.busy_ps()),
                        bytes_of(f.result, s.queued_bytes()));
}

/// Of several workloads in a run: (name, kind, flows, median in picoseconds, the same alone, algbw, busbw).
py::list parts(const Finished& f) {
  py::list out;
  for (const PartResult& p : f.result->parts)
    out.append(py::make_tuple(p.name, p.kind, p.flows, p.median_ps, p.alone_ps, algorithm_bandwidth(p.bus, p.median_ps),
                              bus_bandwidth(p.bus, p.median_ps)));
  return out;
}

/// Of a collective of several sizes: (size, count, picoseconds, algbw, busbw, wrong).
py::list size_rows(const Finished& f) {
  py::list out;
  for (const SizeRow& r : f.result->sizes)
    out.append(py::make_tuple(r.size, r.count, r.time_ps, r.algbw, r.busbw, r.wrong));
  return out;
}

py::object verdict(const Finished& f) {
  if (!f.result->verdict) return py::none();
  return verdict_tuple(*f.result->verdict);
}

}  // namespace

Finished finished_run(std::shared_ptr<RunResult> result) {
  Finished finished;
  if (result->trace) {
    finished.trace = std::make_shared<trace::Trace>(std::move(*result->trace));
    result->trace.reset();
  }
  finished.result = std::move(result);
  return finished;
}

void bind_run(py::module_& m) {
  py::class_<StopFlag>(m, "StopFlag").def(py::init<>()).def("set", [](StopFlag& f) { f.set = true; });
  py::class_<Finished>(m, "Finished")
      .def_readonly("trace", &Finished::trace)
      .def_property_readonly("operations", &operations)
      .def_property_readonly("counters", &counters)
      .def_property_readonly("workload_counters", &workload_counters)
      .def_property_readonly("broken", [](const Finished& f) { return f.result->broken; })
      .def_property_readonly("limited_by", [](const Finished& f) { return nic::limited_by(f.result->busiest); })
      .def_property_readonly("busiest",
                             [](const Finished& f) {
                               py::dict out;
                               for (const nic::Usage& u : f.result->busiest) out[py::str(u.resource)] = u.share;
                               return out;
                             })
      .def_property_readonly("hints", [](const Finished& f) { return f.result->hints; })
      .def_property_readonly("flows", [](const Finished& f) { return bytes_of(f.result, f.result->flows); })
      .def_property_readonly("parts", &parts)
      .def_property_readonly("sizes", &size_rows)
      .def_property_readonly("series", &series)
      .def_property_readonly("verdict", &verdict)
      .def_property_readonly("operations_done", [](const Finished& f) { return f.result->operations_done; })
      .def_property_readonly("operations_per_second",
                             [](const Finished& f) { return f.result->operations_per_second(); })
      .def_property_readonly("measured_ps", [](const Finished& f) { return f.result->measured_ps; })
      .def_property_readonly("simulated_ps", [](const Finished& f) { return f.result->simulated_ps; });
  m.attr("COUNTERS") = counter_names();
  m.attr("FLOW_FIELDS") = flow_fields();
  m.attr("FLOW_SIZE") = sizeof(workloads::flows::FlowRecord);
  m.def("slowdown_bins", &slowdown_bins, py::arg("sizes"), py::arg("slowdowns"), py::arg("bins"),
        py::arg("at").none(true));
  m.def("run", &run, py::arg("scenario"), py::arg("keep_trace"), py::arg("stop").none(true));
}

}  // namespace loco::python
