// Scenarios as Python sees them: an immutable handle on a validated scenario, and its effective configuration.
#include "loco_sim/scenario/scenario.hpp"

#include <pybind11/stl.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "loco_sim/scenario/data.hpp"
#include "loco_sim/scenario/hardware.hpp"
#include "nic_model/profile_fields.hpp"
#include "pybind/bindings.hpp"
#include "text/file.hpp"
#include "yaml/node.hpp"

namespace loco::python {

namespace {

using scenario::Key;
using scenario::KeyType;
using scenario::Scenario;
using scenario::Value;

using Overrides = std::vector<std::pair<std::string, std::string>>;

std::vector<scenario::Override> overrides_from(const Overrides& pairs) {
  std::vector<scenario::Override> out;
  for (const auto& [key, value] : pairs) out.push_back({key, value});
  return out;
}

/// A document for Python: maps, lists and texts.
py::object python_tree(const yaml::Node& node) {
  using Kind = yaml::Node::Kind;
  if (node.kind == Kind::null) return py::none();
  if (node.kind == Kind::scalar) return py::str(node.text);
  if (node.kind == Kind::list) {
    py::list out;
    for (const yaml::Node& item : node.items) out.append(python_tree(item));
    return out;
  }
  py::dict out;
  for (const yaml::Entry& entry : node.entries) out[py::str(entry.key)] = python_tree(entry.value);
  return out;
}

/// A value for Python: numbers with a unit as people write them, choices as a list.
py::object python_value(const Value& value, const Key& key) {
  switch (key.type) {
    case KeyType::integer:
      return py::int_(value.number);
    case KeyType::boolean:
      return py::bool_(value.number != 0);
    case KeyType::duration:
    case KeyType::size:
    case KeyType::rate:
      return py::str(scenario::format_number(value.number, key.type));
    case KeyType::choices:
      return py::cast(value.words);
    case KeyType::text:
    case KeyType::choice:
    case KeyType::subtree:
      break;
    case KeyType::list:
      return python_tree(yaml::parse_override(value.text, key.path));
  }
  return py::str(value.text);
}

py::object field_value(const nic::HardwareProfile& profile, const nic::ProfileField& field) {
  const std::int64_t value = nic::value(profile, field);
  switch (field.unit) {
    case nic::UnitKind::duration:
      return py::str(scenario::format_number(value, KeyType::duration));
    case nic::UnitKind::size:
      return py::str(scenario::format_number(value, KeyType::size));
    case nic::UnitKind::rate:
      return py::str(scenario::format_number(value, KeyType::rate));
    case nic::UnitKind::boolean:
      return py::bool_(value != 0);
    case nic::UnitKind::choice:
      return py::str(std::string(field.choices[static_cast<std::size_t>(value)]));
    case nic::UnitKind::count:
      break;
  }
  return py::int_(value);
}

/// Every key with its value, defaults filled, in the order of the tables: a list of (dotted key, value).
py::list effective(const Scenario& s) {
  py::list out;
  const auto add = [&](const scenario::KeyTable& table) {
    for (const Key& key : table) {
      const auto found = s.settings.find(key.path);
      if (key.type == KeyType::subtree || found == s.settings.end()) continue;
      // the default is a star's; other topologies say themselves how many hosts they have
      const bool nodes = key.path == "topology.nodes";
      out.append(py::make_tuple(key.path, nodes ? py::int_(s.nodes) : python_value(found->second, key)));
    }
  };
  add(scenario::scenario_keys());
  for (const nic::ProfileField& field : nic::kProfileFields)
    out.append(py::make_tuple("hardware." + std::string(field.key), field_value(s.hardware, field)));
  out.append(py::make_tuple("workload.kind", s.workload));
  add(scenario::workload_keys(s.workload));
  return out;
}

std::vector<std::string> check_names(const Scenario& s) {
  std::vector<std::string> out;
  for (const trace::Library library : s.check) out.emplace_back(trace::name(library));
  return out;
}

/// (key, values, kind, log) of each axis.
py::list sweep_axes(const Scenario& s) {
  constexpr const char* kKinds[] = {"list", "uniform", "choice"};
  py::list out;
  for (const scenario::SweepAxis& axis : s.sweep.axes)
    out.append(py::make_tuple(axis.key, axis.values, kKinds[static_cast<std::size_t>(axis.kind)], axis.log));
  return out;
}

}  // namespace

void bind_scenario(py::module_& m) {
  py::class_<Scenario>(m, "Scenario")
      .def_readonly("file", &Scenario::file)
      .def_readonly("name", &Scenario::name)
      .def_readonly("description", &Scenario::description)
      .def_readonly("seed", &Scenario::seed)
      .def_readonly("hardware", &Scenario::hardware_name)
      .def_readonly("nodes", &Scenario::nodes)
      .def_readonly("workload", &Scenario::workload)
      .def_readonly("trace_path", &Scenario::trace_path)
      .def_property_readonly("check", &check_names)
      .def_property_readonly("sweep", &sweep_axes)
      .def_property_readonly("samples", [](const Scenario& s) { return s.sweep.samples; })
      .def_property_readonly("sample_seed", [](const Scenario& s) { return s.sweep.sample_seed; })
      .def("effective", &effective);
  using Released = py::call_guard<py::gil_scoped_release>;
  m.def("find_scenario", &scenario::find_scenario);
  m.def("scenario_names", &scenario::scenario_names);
  m.def("read_document", [](const std::string& path) {
    const std::string text = [&path] {
      const py::gil_scoped_release released;
      return text::read_file(path, yaml::kFileBytesMax);
    }();
    return py::bytes(text);  // as they are: the parser says where they are no UTF-8
  });
  m.def(
      "parse_scenario",
      [](const std::string& text, const std::string& file, const Overrides& overrides) {
        return scenario::parse_scenario(text, file, overrides_from(overrides));
      },
      Released());
  m.def("hardware_names", &scenario::hardware_names);
  m.def("workload_kinds", &scenario::workload_kinds);
  m.def("topology_kinds", &scenario::topology_kinds);
}

}  // namespace loco::python
