// Scenarios as Python sees them: an immutable handle on a validated scenario, and its effective configuration.
#include "loco_sim/scenario/scenario.hpp"

#include <pybind11/stl.h>
#include <string>
#include <utility>
#include <vector>

#include "loco_sim/scenario/data.hpp"
#include "loco_sim/scenario/hardware.hpp"
#include "loco_sim/scenario/programs.hpp"
#include "nic_model/profile_options.hpp"
#include "pybind/bindings.hpp"
#include "pybind/interpreter_lock.hpp"
#include "text/file.hpp"
#include "yaml/node.hpp"

namespace loco::python {

namespace {

using options::Option;
using options::Type;
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

/// A number for Python: with a unit as people write it, a choice by its name.
py::object python_number(std::int64_t number, const Option& option) {
  if (option.type == Type::integer) return py::int_(number);
  if (option.type == Type::boolean) return py::bool_(number != 0);
  return py::str(options::format_number(number, option));
}

py::object python_value(const Value& value, const std::string& path, const Option& option) {
  switch (option.type) {
    case Type::choices:
      return py::cast(value.words);
    case Type::list:
      return python_tree(yaml::parse_override(value.text, path));
    case Type::text:
    case Type::choice:
    case Type::map:
      return py::str(value.text);
    default:
      return python_number(value.number, option);
  }
}

/// Every key with its value, defaults filled, in the order of the tables: a list of (dotted key, value).
py::list effective(const Scenario& s) {
  py::list out;
  const auto add = [&](const scenario::Table& table) {
    for_each(table, [&](const std::string& path, const Option& option) {
      const auto found = s.settings.find(path);
      if (option.type == Type::map || found == s.settings.end()) return;
      // the default is a star's; other topologies say themselves how many hosts they have
      const bool nodes = path == "topology.nodes";
      out.append(py::make_tuple(path, nodes ? py::int_(s.nodes) : python_value(found->second, path, option)));
    });
  };
  add(scenario::scenario_table());
  for (const Option& option : nic::profile_options())
    out.append(
        py::make_tuple("hardware." + std::string(option.key), python_number(nic::value(s.hardware, option), option)));
  if (!s.parts.empty()) return out;  // `workloads` is a list, which is there
  out.append(py::make_tuple("workload.kind", s.workload));
  add({{"workload.", scenario::workload_options(s.workload)}});
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
      .def_property_readonly("check", &check_names)
      .def_property_readonly("inputs",
                             [](const Scenario& s) {
                               std::vector<std::pair<std::string, std::string>> out;
                               for (const scenario::InputFile& i : s.inputs) out.emplace_back(i.key, i.file);
                               return out;
                             })
      .def_property_readonly("sweep", &sweep_axes)
      .def_property_readonly("samples", [](const Scenario& s) { return s.sweep.samples; })
      .def_property_readonly("sample_seed", [](const Scenario& s) { return s.sweep.sample_seed; })
      .def("effective", &effective);
  using Released = py::call_guard<Unlocked>;
  m.def("find_scenario", &scenario::find_scenario);
  m.def("scenario_names", &scenario::scenario_names);
  m.def("read_document", [](const std::string& path) {
    const std::string text = [&path] {
      const Unlocked released;
      return text::read_file(path, yaml::kFileBytesMax);
    }();
    return py::bytes(text);  // as they are: the parser says where they are no UTF-8
  });
  m.def("runs_programs", &scenario::runs_programs);
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
