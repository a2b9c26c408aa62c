// Python generators as simulated threads: each value that one yields is an operation, and its result is sent back.
//
// Generators run on the stack of the thread that called run(), never on a fiber's, and only there is the interpreter
// lock taken.
#include <pybind11/stl.h>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "loco_sim/run/hints.hpp"
#include "loco_sim/run/run.hpp"
#include "loco_sim/transport/cluster.hpp"
#include "loco_sim/workloads/thread_team.hpp"
#include "pybind/bindings.hpp"
#include "pybind/generator_thread.hpp"
#include "pybind/interruption.hpp"
#include "pybind/program_node.hpp"

namespace loco::python {

namespace {

constexpr Address kNowhere = ~Address{0};

struct Program {
  SimulatedCluster* cluster = nullptr;
  std::uint64_t memory_bytes = 0;
  py::object word_name;         ///< from an offset in the memory to a name, or ""
  std::vector<Address> memory;  ///< where it begins on each node, as far as it is there
  std::vector<BarrierDeclaration> barriers;
  std::vector<ObjectDeclaration> objects;
  std::vector<NodeId> users;  ///< nodes with threads
  std::vector<GeneratorThread> generators;
  std::vector<std::vector<std::size_t>> by_node;  ///< indices into generators
  RaisedError error;
};

[[noreturn]] void refuse(PyObject* yielded) {
  PyErr_Format(PyExc_TypeError, "expected an operation such as ctx.load(\"x\"), found %R", yielded);
  throw py::error_already_set();
}

/// Reads a yielded tuple (operation, arguments...).
Request request_of(const py::object& operation) {
  PyObject* const yielded = operation.ptr();
  const bool made = PyTuple_Check(yielded) && !PyTuple_CheckExact(yielded);  // by a method, no tuple of one's own
  if (!made || PyTuple_GET_SIZE(yielded) < 1 || PyTuple_GET_SIZE(yielded) > 6) refuse(yielded);
  // Those that nobody yields warn; None: this one has been (Operation.made).
  if (PyObject_SetAttrString(yielded, "made", Py_None) != 0) throw py::error_already_set();
  const unsigned long code = PyLong_AsUnsignedLong(PyTuple_GET_ITEM(yielded, 0));
  if (PyErr_Occurred() != nullptr) throw py::error_already_set();
  if (code >= static_cast<unsigned long>(Operation::count)) refuse(yielded);
  Request request{static_cast<Operation>(code), {}};
  for (Py_ssize_t i = 1; i < PyTuple_GET_SIZE(yielded); ++i) {
    request.arguments[static_cast<std::size_t>(i - 1)] = PyLong_AsUnsignedLongLongMask(PyTuple_GET_ITEM(yielded, i));
    if (PyErr_Occurred() != nullptr) throw py::error_already_set();
  }
  return request;
}

/// Does what the generator of a thread yields.
void drive(SimulatedCluster& cluster, GeneratorThread& generator, ProgramThread& thread) {
  Request request;
  std::optional<std::uint64_t> result;
  std::string mistake;
  const auto answer = [&]() -> GeneratorThread::Answer {
    if (!mistake.empty()) return {py::module_::import("loco_sim.errors").attr("RunError")(mistake), true};
    if (result) return {py::reinterpret_steal<py::object>(PyLong_FromUnsignedLongLong(*result))};
    return {};
  };
  const auto read = [&](const py::object& operation) { request = request_of(operation); };
  const std::function<void()> advance = [&] { generator.advance(answer, read); };
  for (cluster.call_outside(advance); !generator.ended(); cluster.call_outside(advance)) {
    mistake.clear();
    try {
      result = thread.perform(request);
    } catch (const std::exception& e) {  // the generator may catch it
      mistake = e.what();
    }
  }
}

void run_node(Program& program, Transport& transport) {
  ProgramNode node(transport, program.memory_bytes, program.barriers, program.objects, program.users);
  program.memory[transport.my_node()] = node.memory_base();
  const std::vector<std::size_t>& mine = program.by_node[transport.my_node()];
  if (mine.empty()) return node.finish();
  workloads::run_team(transport, static_cast<std::uint32_t>(mine.size()), [&](std::uint32_t t) {
    ProgramThread thread(node);
    drive(*program.cluster, program.generators[mine[t]], thread);
  });
  node.finish();
}

/// The variable that lies at an address of a node, or "".
std::string word_name(const Program& program, NodeId node, Address address) {
  const Address base = program.memory[node];
  if (base == kNowhere || address < base || address >= base + program.memory_bytes) return "";
  const Locked locked;
  return program.word_name(address - base).cast<std::string>();
}

ClusterConfig cluster_config(const scenario::Scenario& s, const Program& program, sim::Budget& budget) {
  ClusterConfig config;
  config.profile = s.hardware;
  config.topology = s.topology;
  config.network = s.network;
  config.nodes = s.nodes;
  config.seed = s.seed;
  config.schedule = s.schedule;
  config.stops = s.stops;
  config.record = s.trace_subevents;
  config.record_activities = s.trace_activities;
  config.series_interval = s.series_interval;
  config.events_max = s.events_max;
  config.budget = &budget;
  config.word_name = [&program](NodeId node, Address address) { return word_name(program, node, address); };
  return config;
}

/// The recorded trace, or null.
std::shared_ptr<trace::Trace> trace_of(const scenario::Scenario& s, SimulatedCluster& cluster) {
  if (!cluster.config().record) return nullptr;
  auto trace = std::make_shared<trace::Trace>(cluster.take_trace());
  trace->scenario = s.name;
  return trace;
}

std::shared_ptr<RunResult> finished(const scenario::Scenario& s, SimulatedCluster& cluster) {
  auto result = std::make_shared<RunResult>();
  result->simulated_ps = cluster.ended().ps;
  result->counters = cluster.system().counters();
  if (s.schedule == Schedule::timed) result->busiest = cluster.system().usage({result->simulated_ps}, kBusiestMax);
  fill_series(cluster, *result);
  result->hints = hints(s, *result);
  if (const std::shared_ptr<trace::Trace> trace = trace_of(s, cluster)) result->trace = std::move(*trace);
  if (!s.check.empty() && result->trace) {
    const auto poll = [&cluster] { cluster.config().budget->check(); };
    result->verdict = model::check(*result->trace, s.check, {.tower = s.check_tower, .poll = poll});
  }
  return result;
}

/// A failed operation that no generator caught carries the trace up to it, as every error that ends a run does.
void add_trace(RaisedError& raised, const std::shared_ptr<trace::Trace>& trace) {
  if (!raised.raised() || !trace) return;
  const py::object error = raised.value();
  if (py::isinstance(error, py::module_::import("loco_sim.errors").attr("RunError")) && error.attr("trace").is_none())
    error.attr("trace") = py::module_::import("loco_sim.trace").attr("Trace")(trace);
}

/// generators: (node, generator). word_name: see Program. Returns the finished run and the value of each generator's
/// return.
py::tuple run_program(const scenario::Scenario& s, std::uint64_t memory_bytes, const py::object& word_name,
                      const std::vector<std::tuple<std::string, std::vector<NodeId>, std::uint32_t>>& barriers,
                      const std::vector<std::tuple<std::uint32_t, std::string, std::vector<std::uint64_t>>>& objects,
                      const std::vector<std::pair<std::uint32_t, py::object>>& generators, const StopFlag* stop) {
  Interruption interruption(stop);
  Program program;  // outlives the cluster, whose fibers use it
  program.memory_bytes = memory_bytes;
  program.word_name = word_name;
  program.memory.resize(s.nodes, kNowhere);
  program.by_node.resize(s.nodes);
  for (const auto& [name, participants, threads] : barriers) program.barriers.push_back({name, participants, threads});
  for (const auto& [kind, name, numbers] : objects)
    program.objects.push_back({static_cast<ObjectKind>(kind), name, numbers});
  for (const auto& [node, generator] : generators) {
    if (program.by_node.at(node).empty()) program.users.push_back(node);
    program.by_node.at(node).push_back(program.generators.size());
    program.generators.emplace_back(generator, program.error);
  }
  sim::Budget budget = budget_of(s, [&interruption] { return interruption.requested(); });
  SimulatedCluster cluster(cluster_config(s, program, budget));
  program.cluster = &cluster;
  std::shared_ptr<RunResult> result;
  try {
    const Unlocked released;
    cluster.spawn_everywhere([&program](Transport& transport) { run_node(program, transport); });
    cluster.run();
    result = finished(s, cluster);
  } catch (const sim::Interrupted& e) {
    interruption.rethrow();
    throw Interrupted(e.what());
  } catch (const std::runtime_error& e) {
    const std::shared_ptr<trace::Trace> trace = trace_of(s, cluster);
    add_trace(program.error, trace);
    program.error.rethrow();
    throw RunError(e.what(), trace, {});
  }
  py::list returned;
  for (const GeneratorThread& g : program.generators) returned.append(g.returned());
  return py::make_tuple(finished_run(std::move(result)), returned);
}

}  // namespace

void bind_program(py::module_& m) {
  m.attr("OPERATIONS") = numbers_of(kOperationNames);
  m.attr("OBJECTS") = numbers_of(kObjectNames);
  m.attr("CALLS") = numbers_of(kCallNames);
  m.attr("COMPARISONS") = numbers_of(kComparisonNames);
  m.def("run_program", &run_program, py::arg("scenario"), py::arg("memory_bytes"), py::arg("word_name"),
        py::arg("barriers"), py::arg("objects"), py::arg("generators"), py::arg("stop").none(true));
}

}  // namespace loco::python
