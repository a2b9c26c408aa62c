// perftest's measurements (loco_sim/perf), with the interpreter lock released.
#include "loco_sim/perf/perf.hpp"

#include <array>
#include <optional>
#include <pybind11/stl.h>
#include <string>
#include <string_view>

#include "loco_sim/scenario/hardware.hpp"
#include "pybind/bindings.hpp"
#include "pybind/interruption.hpp"
#include "text/input_error.hpp"
#include "yaml/node.hpp"

namespace loco::python {

namespace {

template <std::size_t N>
py::tuple tuple_of(const std::array<std::string_view, N>& names) {
  py::tuple out(N);
  for (std::size_t i = 0; i < N; ++i) out[i] = py::str(std::string(names.at(i)));
  return out;
}

std::vector<std::uint64_t> sizes(const std::string& test, const std::string& connection, const std::string& hardware) {
  const nic::HardwareProfile profile = scenario::read_hardware(yaml::parse_override(hardware, "hardware")).profile;
  return perf::all_sizes(perf::test_named(test), perf::longest(perf::connection_named(connection), profile));
}

/// `hardware`: YAML, a profile's name or a map that starts from one. Unset size and inline_max are perftest's.
py::dict run_perf(const std::string& test, const std::string& connection, const std::string& hardware,
                  const std::string& topology,
                  std::optional<std::uint64_t> size, std::uint32_t iterations, std::uint32_t queue_pairs,
                  std::uint32_t threads, std::uint32_t depth, std::uint32_t post_list,
                  std::optional<std::uint32_t> inline_max, std::uint64_t region, bool device_memory, bool copy,
                  std::uint64_t seed) {
  perf::Options o;
  o.test = perf::test_named(test);
  o.profile = scenario::read_hardware(yaml::parse_override(hardware, "hardware")).profile;
  o.topology = perf::way_named(topology);
  o.connection = perf::connection_named(connection);
  o.size = size.value_or(perf::default_size(o.test, perf::longest(o.connection, o.profile)));
  o.iterations = iterations;
  o.queue_pairs = queue_pairs;
  o.threads = threads;
  o.depth = depth;
  o.post_list = post_list;
  o.inline_max = inline_max;
  o.region = region;
  o.device_memory = device_memory;
  o.copy = copy;
  o.seed = seed;
  const perf::Result result = interruptible([&](Interruption& interruption) {
    o.interrupted = [&] { return interruption.requested(); };
    return perf::run(o);
  });
  py::dict row;
  for (const perf::Column& column : perf::columns(o.test, result)) {
    row[py::str(column.name.data(), column.name.size())] = py::cast(column.value);
  }
  if (!result.busiest.empty()) {
    row["limited_by"] = nic::limited_by(result.busiest);
    py::list busiest;
    for (const nic::Usage& usage : result.busiest) {
      py::dict one;
      one["resource"] = usage.resource;
      one["share"] = usage.share;
      busiest.append(one);
    }
    row["busiest"] = busiest;
  }
  return row;
}

}  // namespace

void bind_perf(py::module_& m) {
  m.attr("PERF_TESTS") = tuple_of(perf::kTestNames);
  m.attr("PERF_CONNECTIONS") = tuple_of(perf::kConnectionNames);
  m.attr("PERF_TOPOLOGIES") = tuple_of(perf::kWayNames);
  m.def("run_perf", &run_perf);
  m.def("perf_sizes", &sizes);
}

}  // namespace loco::python
