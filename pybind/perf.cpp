// perftest's measurements (loco_sim/perf), with the interpreter lock released.
#include "loco_sim/commands/perf.hpp"

#include <pybind11/stl.h>

#include "loco_sim/scenario/hardware.hpp"
#include "pybind/arguments.hpp"
#include "pybind/interruption.hpp"
#include "yaml/node.hpp"

namespace loco::python {

namespace {

commands::Perf arguments_of(const py::dict& given) {
  auto a = taken<commands::Perf>("perf", given);
  a.options.profile = scenario::read_hardware(yaml::parse_override(a.hardware, "hardware")).profile;
  return a;
}

py::dict row_of(const perf::Options& o, const perf::Result& result) {
  py::dict row;
  for (const perf::Column& column : perf::columns(o.test, result)) {
    row[py::str(column.name.data(), column.name.size())] = py::cast(column.value);
  }
  if (result.busiest.empty()) return row;
  row["limited_by"] = nic::limited_by(result.busiest);
  py::list busiest;
  for (const nic::Usage& usage : result.busiest)
    busiest.append(py::dict(py::arg("resource") = usage.resource, py::arg("share") = usage.share));
  row["busiest"] = busiest;
  return row;
}

/// A row for each size. Keywords as commands::rows<commands::Perf>() has them; the hardware is YAML, a profile's name
/// or a map that starts from one.
py::list run_perf(bool all_sizes, const py::dict& given) {
  commands::Perf a = arguments_of(given);
  a.all = all_sizes;
  py::list rows;
  for (const std::uint64_t size : commands::sizes_of(a)) {
    a.options.size = size;
    rows.append(row_of(a.options, interruptible([&](Interruption& interruption) {
                         a.options.interrupted = [&] { return interruption.requested(); };
                         return perf::run(a.options);
                       })));
  }
  return rows;
}

}  // namespace

void bind_perf(py::module_& m) {
  m.def("run_perf", &run_perf);
  m.def("perf_arguments", [] { return described<commands::Perf>(); });
}

}  // namespace loco::python
