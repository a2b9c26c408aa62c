#include <ostream>

#include "pybind/bindings.hpp"
#include "pybind/interpreter_lock.hpp"
#include "trace/whole_file.hpp"

PYBIND11_MODULE(_core, m) {
  m.doc() = "The compiled part of loco_sim: import loco_sim instead.";
  loco::python::wait_for_threads_at_the_end();
  m.attr("__version__") = LOCO_SIM_VERSION;
  loco::python::bind_errors();
  m.def(
      "write_whole_file",
      [](const std::string& path, const std::string& text) {
        loco::trace::write_whole_file(path, [&text](std::ostream& out) { out << text; });
      },
      pybind11::call_guard<loco::python::Unlocked>());
  loco::python::bind_bytes(m);
  loco::python::bind_trace(m);
  loco::python::bind_check(m);
  loco::python::bind_scenario(m);
  loco::python::bind_run(m);
  loco::python::bind_program(m);
  loco::python::bind_litmus(m);
  loco::python::bind_corerma(m);
  loco::python::bind_networks(m);
  loco::python::bind_perf(m);
  loco::python::bind_verify(m);
  loco::python::bind_verbs(m);
}
