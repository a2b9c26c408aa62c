// RMA programs: reports as the JSON of docs/verify.md.
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "pybind/bindings.hpp"
#include "pybind/interruption.hpp"
#include "verify/command.hpp"
#include "verify/parser.hpp"

namespace loco::python {

namespace {

/// Ends a search when Python asks for that.
struct VerifyInterrupted : std::runtime_error {
  using std::runtime_error::runtime_error;
};

verify::Network network_named(const std::string& name) {
  for (std::size_t i = 0; i < verify::kNetworkNames.size(); ++i) {
    if (verify::kNetworkNames[i] == name) return static_cast<verify::Network>(i);
  }
  throw std::invalid_argument("network: expected unordered, in-order, verbs or sc, found '" + name + "'");
}

/// The report on one program, and the same in words.
std::pair<std::string, std::string> verify_program(const std::string& text, const std::string& file,
                                                   const std::string& network, const std::string& engine,
                                                   bool search_flushes, bool where, std::uint32_t pending,
                                                   double max_seconds, std::uint64_t max_memory) {
  verify::CommandOptions options;
  options.network = network_named(network);
  options.engine = engine;
  options.search_flushes = search_flushes;
  options.where = where;
  options.pending = pending;
  options.max_seconds = max_seconds;
  options.max_memory = max_memory;
  Interruption interruption;
  options.look = [&] {
    if (interruption.requested()) throw VerifyInterrupted("interrupted");
  };
  try {
    const py::gil_scoped_release released;
    std::vector<verify::Program> programs;
    programs.push_back(verify::parse(text, file));
    const verify::Report report = verify::check_programs(std::move(programs), options).front();
    return {verify::to_json(report).dump(), verify::to_text(report)};
  } catch (const VerifyInterrupted&) {
    interruption.rethrow();
    throw;
  }
}

}  // namespace

void bind_verify(py::module_& m) { m.def("verify_program", &verify_program); }

}  // namespace loco::python
