// Checking traces: the verdict as plain tuples, in the field order of loco_sim/verdict.py.
#include "model/check.hpp"

#include <pybind11/stl.h>
#include <set>
#include <string>
#include <vector>

#include "pybind/bindings.hpp"
#include "pybind/interruption.hpp"

namespace loco::python {

namespace {

std::string text(std::string_view view) { return std::string(view); }

py::tuple step_tuple(const model::Step& s) {
  return py::make_tuple(s.call, s.subevent, text(name(s.stamp)), s.peer, s.thread, s.thread_name, text(name(s.owner)),
                        s.call_text, s.subevent_text, text(name(s.rule)), s.edge_text);
}

py::tuple violation_tuple(const model::Violation& v) {
  py::list steps;
  for (const model::Step& s : v.cycle) steps.append(step_tuple(s));
  return py::make_tuple(text(name(v.rule)), v.message, steps);
}

std::vector<trace::Library> libraries(const std::vector<std::string>& names, const trace::Trace& trace) {
  std::set<trace::Library> out;
  for (const std::string& n : names) {
    trace::Library library{};
    if (!trace::parse_library(n, library)) throw py::value_error("no library is called \"" + n + "\"");
    out.insert(library);
  }
  if (names.empty())
    for (const trace::Call& call : trace.calls) out.insert(call.library);
  return {out.begin(), out.end()};
}

py::tuple check(const std::shared_ptr<trace::Trace>& trace, const std::vector<std::string>& names,
                std::size_t max_violations, bool tower) {
  if (trace->verbs)
    throw py::value_error(
        "expected the trace of a run of LOCO's libraries: a verbs program is judged by Run.check and "
        "Run.why");
  const std::vector<trace::Library> wanted = libraries(names, *trace);
  return verdict_tuple(interruptible([&](Interruption& interruption) {
    const auto poll = [&] { interruption.stop_if_requested(); };
    return model::check(*trace, wanted, {.max_violations = max_violations, .tower = tower, .poll = poll});
  }));
}

}  // namespace

py::tuple verdict_tuple(const model::Verdict& verdict) {
  py::list results;
  for (const model::LibraryResult& r : verdict.results) {
    py::list violations;
    for (const model::Violation& v : r.violations) violations.append(violation_tuple(v));
    results.append(py::make_tuple(text(name(r.library)), r.consistent, r.calls, r.subevents, violations, r.undecided));
  }
  return py::make_tuple(results, verdict.subevents, verdict.to_text(), verdict.to_dot());
}

void bind_check(py::module_& m) { m.def("check", &check); }

}  // namespace loco::python
