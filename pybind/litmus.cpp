// Litmus tests: programs as opaque handles, results as the JSON of docs/litmus-format.md, explanations as tuples.
#include "model/litmus/answers/litmus.hpp"

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <pybind11/stl.h>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "loco_sim/commands/litmus.hpp"
#include "loco_sim/commands/robust.hpp"
#include "loco_sim/explore/engines.hpp"
#include "model/litmus/answers/command.hpp"
#include "model/litmus/answers/robust_text.hpp"
#include "model/litmus/models/variants.hpp"
#include "pybind/arguments.hpp"
#include "pybind/interruption.hpp"

namespace loco::python {

namespace {

namespace litmus = model::litmus;
using Released = py::call_guard<Unlocked>;

struct Ran {
  bool ok = true;
  bool complete = true;
  std::string json;  ///< an array of one object
  std::string text;
};

/// A cell of the stamp order to turn round ("": none), and variants by name.
litmus::ModelOptions variant(const std::string& flip, const std::vector<std::string>& variants) {
  litmus::ModelOptions options;
  const char* argument = "flip";
  try {
    if (!flip.empty()) litmus::flip_cell(flip, options);
    argument = "variants";
    for (const std::string& name : variants) litmus::choose_variant(name, options);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(std::string(argument) + ": " + error.what());
  }
  return options;
}

/// Keywords as the rows of commands::Litmus.
Ran run(const litmus::Program& program, const py::dict& given) {
  auto arguments = taken<commands::Litmus>("litmus", given);
  litmus::CommandOptions& options = arguments.options;
  const std::map<std::string, litmus::Engine> engines = explore::engines();
  if (options.engine != "declarative" && !engines.contains(options.engine)) {
    std::string known = "declarative";
    for (const auto& [name, unused] : engines) known += ", " + name;
    throw std::invalid_argument("engine: expected one of " + known + ", found '" + options.engine + "'");
  }
  options.declarative.model_options = variant(arguments.flip, arguments.variants);
  const litmus::Result result = interruptible([&](Interruption& interruption) {
    options.engine_options.poll = [&] { interruption.stop_if_requested(); };
    litmus::TimeLimit limit(options.engine_options.max_seconds);
    return litmus::run_engine(options, engines, options.engine, program, limit);
  });
  return {litmus::verdict_of(result) == litmus::Verdict::ok, result.complete, litmus::to_json({&program}, {result}),
          litmus::to_herd_text(program, result)};
}

/// (title, nodes (thread, label, statement), edges (from, to, relation, why, on cycle), node of each thread, text, dot)
py::tuple tuple_of(const litmus::Explanation& e) {
  py::list nodes;
  for (const auto& n : e.nodes) nodes.append(py::make_tuple(n.thread, n.label, n.statement));
  py::list edges;
  for (const auto& d : e.edges) edges.append(py::make_tuple(d.from, d.to, d.relation, d.why, d.on_cycle));
  return py::make_tuple(e.title, nodes, edges, e.thread_nodes, litmus::to_text(e), litmus::to_dot(e));
}

/// The answer to a question about a program under a model, which Ctrl-C ends.
template <class Question>
auto asked(const std::string& model, const Question& question) {
  return interruptible([&](Interruption& interruption) {
    litmus::Options options;
    options.model = model;
    options.poll = [&] { interruption.stop_if_requested(); };
    return question(options);
  });
}

py::object witness(const litmus::Program& program, const std::string& outcome, const std::string& model) {
  const auto found = asked(model, [&](const litmus::Options& options) {
    return litmus::witness(program, litmus::parse_outcome(program, outcome), options);
  });
  if (!found) return py::none();
  return tuple_of(*found);
}

std::string describe(const litmus::Program& program, const std::string& model) {
  return asked(model, [&](const litmus::Options& options) { return litmus::describe(program, options); });
}

py::list explain(const litmus::Program& program, const std::string& outcome, const std::string& model) {
  const auto found = asked(model, [&](const litmus::Options& options) {
    return litmus::explain_forbidden(program, litmus::parse_outcome(program, outcome), options);
  });
  py::list out;
  for (const litmus::Explanation& e : found) out.append(tuple_of(e));
  return out;
}

/// The object of `loco-sim robust --json`, and its text.
std::pair<std::string, std::string> robust(const litmus::Program& program, const py::dict& given) {
  auto arguments = taken<commands::Robust>("robust", given);
  const auto start = std::chrono::steady_clock::now();
  litmus::RobustOptions& options = arguments.options;
  litmus::RobustReport report{&program, options.model.empty() ? program.model : options.model, {}, 0};
  report.result = interruptible([&](Interruption& interruption) {
    litmus::TimeLimit limit(arguments.max_seconds);
    options.poll = [&] { interruption.stop_if_requested(); };
    options.out_of_time = limit.question();
    return litmus::robustness(program, options);
  });
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return {litmus::robust_json(report).dump(), litmus::to_text(report)};
}

/// The tests of the model, and why others are none of it.
template <auto parse, class... Source>
std::pair<std::vector<litmus::Program>, std::vector<std::string>> parsed(Source... source, const std::string& model) {
  std::vector<std::string> left_out;
  std::vector<litmus::Program> programs = parse(source..., {.model = model, .left_out = &left_out});
  return {std::move(programs), std::move(left_out)};
}

}  // namespace

void bind_litmus(py::module_& m) {
  py::class_<litmus::Program>(m, "LitmusProgram")
      .def_readonly("name", &litmus::Program::name)
      .def_readonly("model", &litmus::Program::model);
  py::class_<Ran>(m, "LitmusRan")
      .def_readonly("ok", &Ran::ok)
      .def_readonly("complete", &Ran::complete)
      .def_readonly("json", &Ran::json)
      .def_readonly("text", &Ran::text);
  m.def("parse_litmus_file", &parsed<litmus::parse_file, const std::string&>, Released());
  m.def("parse_litmus_text", &parsed<litmus::parse_text, const std::string&, const std::string&>, Released());
  m.def("run_litmus", &run);
  m.def("check_litmus", [](const py::dict& given) { (void)taken<commands::Litmus>("litmus", given); });
  m.def("check_robust", [](const py::dict& given) { (void)taken<commands::Robust>("robust", given); });
  m.def("litmus_arguments", [] { return described<commands::Litmus>(); });
  m.def("robust_arguments", [] { return described<commands::Robust>(); });
  m.def("robust_litmus", &robust);
  m.def("litmus_witness", &witness);
  m.def("litmus_explain", &explain);
  m.def("litmus_describe", &describe);
}

}  // namespace loco::python
