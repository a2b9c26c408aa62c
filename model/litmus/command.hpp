// `loco-sim litmus`, without the argument parsing: options in, text or JSON out.
//
// The declarative engine lives here. Engines that run programs on hardware are handed in by the layer above, since
// models know no simulator.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "model/litmus/litmus.hpp"

namespace loco::model::litmus {

struct EngineOptions {
  std::string model;  ///< the model whose outcomes the engine's are compared with
  std::string hardware = "model-weak";
  std::uint64_t runs = 2000;         ///< sample
  std::uint64_t seed = 1;            ///< sample
  std::uint64_t max_executions = 0;  ///< explore; 0: no limit
  double max_seconds = 0;            ///< explore and sample, each; 0: no limit
  std::function<void()> poll = {};   ///< called now and then; what it throws ends the work
};

/// Runs a program and reports outcomes (sorted, with the program's observables), executions, counts, notes and
/// `complete`; the command fills in the verdict.
using Engine = std::function<Result(const Program&, const EngineOptions&)>;

struct CommandOptions {
  std::vector<std::string> files;
  std::string model;                   ///< empty: the documents' own
  std::string engine = "declarative";  ///< or a key of the engines handed in, or `all`
  EngineOptions engine_options;
  Options declarative;  ///< variants and limits of the declarative engine
  bool json = false;
  std::string witness;              ///< outcome (`a=0 b=1`) to show an execution of; every test must have its names
  std::string explain;              ///< outcome to show the forbidding cycles of
  std::ostream* drawing = nullptr;  ///< takes the Graphviz drawings of witness and explain, one a test and cycle
};

/// The tests of all files under the chosen engines. Returns the exit status: 0 all verdicts ok, 1 one is not, 2 bad
/// input (one line on `err`). With a model, tests that are none of it are left out (one line on `err`), all of them
/// bad input.
int run_litmus_command(const CommandOptions& options, const std::map<std::string, Engine>& engines, std::ostream& out,
                       std::ostream& err);

/// The JSON array of docs/litmus-format.md; `programs[i]` belongs to `results[i]`.
[[nodiscard]] std::string to_json(const std::vector<const Program*>& programs, const std::vector<Result>& results);

}  // namespace loco::model::litmus
