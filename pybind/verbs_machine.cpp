// ls.verbs: the set-up of a machine, and the record of its run: trace, verdict, races.
#include "pybind/verbs_machine.hpp"

#include <pybind11/stl.h>
#include <span>
#include <vector>

#include "loco_sim/scenario/scenario.hpp"
#include "model/verbs/check.hpp"
#include "model/verbs/races.hpp"
#include "pybind/interruption.hpp"

namespace loco::python {

namespace {

constexpr std::array<std::string_view, 3> kTypes = {"RC", "UC", "UD"};
constexpr std::array<std::string_view, 7> kStates = {"reset", "init", "rtr", "rts", "sqd", "sqe", "error"};

/// `nodes`: in place of the scenario's. `scheduled`: it says which schedule.
std::unique_ptr<PyMachine> make_machine(const scenario::Scenario& s, std::uint32_t nodes, bool scheduled) {
  verbs::Config config{.profile = s.hardware,
                       .hosts = s.hosts,
                       .topology = s.topology,
                       .network = s.network,
                       .nodes = nodes,
                       .path_mtu = s.path_mtu,
                       .seed = s.seed,
                       .record = s.trace_subevents,
                       .record_activities = s.trace_activities,
                       .stops = s.stops};
  if (!config.hosts.of.empty()) config.hosts.of.resize(nodes);
  if (scheduled) config.schedule = s.schedule;
  auto machine = std::make_unique<PyMachine>();
  machine->recorded = config.record || config.record_activities;
  machine->machine = std::make_unique<verbs::Machine>(std::move(config));
  return machine;
}

/// (base, lkey, rkey)
/// `gpu`: n for the memory of GPU n - 1, 0 for the host's: that of the socket `numa`. `device`: on the NIC `nic`.
py::tuple register_memory(PyMachine& m, nic::NodeId node, std::uint64_t bytes, std::uint8_t access, bool device,
                          bool relaxed, std::uint8_t gpu, std::uint8_t numa, std::uint8_t nic) {
  nic::System& system = m.machine->system();
  const nic::MemoryRegion r =
      system.register_memory(node, system.allocate(node, bytes), bytes, access,
                             {.device = device, .relaxed_ordering = relaxed, .gpu = gpu, .numa = numa, .nic = nic});
  return py::make_tuple(r.base, r.lkey, r.rkey);
}

/// Another registration of memory that is there: (lkey, rkey).
py::tuple register_again(PyMachine& m, nic::NodeId node, nic::Address base, std::uint64_t bytes, std::uint8_t access,
                         bool relaxed) {
  const nic::MemoryRegion r =
      m.machine->system().register_memory(node, base, bytes, access, {.relaxed_ordering = relaxed});
  return py::make_tuple(r.lkey, r.rkey);
}

nic::QpId create_qp(PyMachine& m, nic::NodeId node, const std::string& type, nic::CqId send_cq, nic::CqId recv_cq,
                    std::uint32_t send, std::uint32_t recv, const py::object& srq, std::uint32_t nic,
                    std::uint8_t port) {
  return m.machine->system().create_qp(node, {.type = named<nic::QpType>(kTypes, type, "type"),
                                              .send_cq = send_cq,
                                              .recv_cq = recv_cq,
                                              .send_entries = send,
                                              .recv_entries = srq.is_none() ? recv : 0,
                                              .srq = srq.is_none() ? nic::kNone : srq.cast<nic::SrqId>(),
                                              .nic = nic,
                                              .port = port});
}

/// "" where it was done, else why not.
std::string modify_qp(PyMachine& m, nic::QpId qp, const py::tuple& to) {
  nic::QpAttributes attributes;
  const nic::QpState state = attributes_of(to, attributes);
  switch (m.machine->system().modify_qp(qp, state, attributes)) {
    case nic::ModifyResult::ok:
      return {};
    case nic::ModifyResult::invalid_transition:
      return "the state diagram has no such step";
    case nic::ModifyResult::invalid_attribute:
      break;
  }
  return "an attribute that the step does not take";
}

py::bytes read_memory(PyMachine& m, nic::NodeId node, nic::Address address, std::size_t bytes) {
  std::vector<std::byte> out(bytes);
  m.machine->system().read_memory(node, address, out);
  return {reinterpret_cast<const char*>(out.data()), out.size()};
}

void write_memory(PyMachine& m, nic::NodeId node, nic::Address address, const py::bytes& bytes) {
  const auto view = bytes.cast<std::string_view>();
  m.machine->system().write_memory(node, address, std::as_bytes(std::span(view)));
}

py::dict verbs_counters(PyMachine& m) {
  py::dict out;
  const nic::Counters all = m.machine->system().counters();
  for (const nic::NamedCounter& c : nic::kCounters) out[c.name] = all.*c.member;
  return out;
}

const trace::Trace& trace_of(const std::shared_ptr<trace::Trace>& trace) {
  if (!trace || !trace->verbs) throw std::invalid_argument("expected the trace of a verbs program");
  return *trace;
}

/// The fields of loco_sim.Verdict, in their order.
py::tuple check_verbs(const std::shared_ptr<trace::Trace>& trace) {
  const model::verbs::Verdict v = interruptible([&](Interruption&) { return model::verbs::check(trace_of(trace)); });
  py::list violations;
  for (const model::verbs::Violation& violation : v.violations) {
    py::list steps;
    for (const model::verbs::CycleStep& s : violation.cycle)
      steps.append(py::make_tuple(s.call, 0, s.stamp, 0, s.thread, s.thread_name, "rdmatso",
                                  s.place.empty() ? s.text : s.text + ", " + s.place, s.text, s.rule, s.rule));
    violations.append(py::make_tuple(violation.rule, violation.message, steps));
  }
  py::list results;
  results.append(py::make_tuple("rdmatso", v.consistent(), v.calls, v.subevents, violations, false));
  return py::make_tuple(results, v.subevents, v.to_text(), "digraph {}\n");
}

py::tuple access_tuple(const model::verbs::Access& a) { return py::make_tuple(a.text, a.thread_name, a.place, a.call); }

/// The fields of loco_sim.verbs.Race, in their order.
py::list verbs_races(const std::shared_ptr<trace::Trace>& trace) {
  const std::vector<model::verbs::Race> found = interruptible([&](Interruption& interruption) {
    return model::verbs::races(trace_of(trace), {.poll = [&] { interruption.stop_if_requested(); }});
  });
  py::list out;
  for (const model::verbs::Race& r : found)
    out.append(py::make_tuple(std::string(name(r.kind)), r.error, r.node, r.address, r.count, access_tuple(r.first),
                              access_tuple(r.second), r.advice, r.to_text()));
  return out;
}

}  // namespace

nic::QpState attributes_of(const py::tuple& given, nic::QpAttributes& attributes) {
  attributes = {};
  const auto count = [](const py::handle& value) { return value.cast<std::uint32_t>(); };
  const auto duration = [](const py::handle& value) { return sim::Duration{value.cast<std::int64_t>()}; };
  for (const auto& [key, value] : given[1].cast<py::dict>()) {
    const auto name = key.cast<std::string>();
    if (name == "dest_qp") attributes.dest_qp = count(value);
    if (name == "rq_psn") attributes.rq_psn = count(value);
    if (name == "sq_psn") attributes.sq_psn = count(value);
    if (name == "max_rd_atomic") attributes.max_rd_atomic = count(value);
    if (name == "max_dest_rd_atomic") attributes.max_dest_rd_atomic = count(value);
    if (name == "timeout") attributes.timeout = duration(value);
    if (name == "retry_count") attributes.retry_count = count(value);
    if (name == "rnr_retry") attributes.rnr_retry = count(value);
    if (name == "path_mtu") attributes.path_mtu = count(value);
    if (name == "min_rnr_timer") attributes.min_rnr_timer = duration(value);
    if (name == "qkey") attributes.qkey = count(value);
  }
  return named<nic::QpState>(kStates, given[0].cast<std::string>(), "to");
}

/// A method of the simulated machine as one of Python's.
template <class Result, class... Arguments>
auto of_system(Result (nic::System::*method)(Arguments...)) {
  return [method](PyMachine& m, Arguments... arguments) { return (m.machine->system().*method)(arguments...); };
}

/// The same of a method that takes a receive, which Python gives part by part.
template <class Queue>
auto posting(bool (nic::System::*method)(Queue, const nic::RecvWqe&)) {
  return [method](PyMachine& m, Queue queue, std::uint64_t id, nic::Address address, std::uint32_t length,
                  std::uint32_t lkey) {
    return (m.machine->system().*method)(queue, {id, address, length, lkey});
  };
}

py::class_<PyMachine> bind_verbs_machine(py::module_& m) {
  m.def("check_verbs", &check_verbs);
  m.def("verbs_races", &verbs_races);
  return py::class_<PyMachine>(m, "VerbsMachine")
      .def(py::init(&make_machine))
      .def("register_memory", &register_memory)
      .def("register_again", &register_again)
      .def("create_cq", of_system(&nic::System::create_cq))
      .def("create_srq",
           [](PyMachine& self, nic::NodeId n, std::uint32_t e) { return self.machine->system().create_srq(n, e); })
      .def("set_srq_limit", of_system(&nic::System::set_srq_limit))
      .def("create_qp", &create_qp)
      .def("connect", of_system(&nic::System::connect))
      .def("activate", of_system(&nic::System::activate))
      .def("modify_qp", &modify_qp)
      .def("qp_state",
           [](PyMachine& self, nic::QpId qp) {
             return std::string(kStates.at(static_cast<std::size_t>(self.machine->system().qp_state(qp))));
           })
      .def("post_recv", posting(&nic::System::post_recv))
      .def("post_srq_recv", posting(&nic::System::post_srq_recv))
      .def("declare_flag",
           [](PyMachine& self, nic::NodeId node, nic::Address address) { self.machine->declare_flag(node, address); })
      .def("read", &read_memory)
      .def("write", &write_memory)
      .def("counters", &verbs_counters)
      .def_property_readonly("schedule",
                             [](const PyMachine& self) {
                               constexpr std::array<const char*, 3> kNames = {"timed", "random", "adversarial"};
                               return kNames.at(static_cast<std::size_t>(self.machine->schedule()));
                             })
      .def_readonly("trace", &PyMachine::trace);
}

}  // namespace loco::python
