// `loco-sim litmus`, without the argument parsing: options in, text or JSON out.
//
// The declarative engine lives here. Engines that run programs on hardware are handed in by the layer above, since
// models know no simulator.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "model/litmus/answers/litmus.hpp"

namespace loco::model::litmus {

struct EngineOptions {
  std::string model;  ///< the model whose outcomes the engine's are compared with
  std::string hardware = "model-weak";
  std::uint64_t runs = 2000;            ///< sample
  std::uint64_t seed = 1;               ///< sample
  std::uint64_t max_executions = 0;     ///< declarative, explore; 0: no limit
  std::size_t max_memory = kMemoryMax;  ///< declarative: bytes of a test's outcomes; 0: no limit
  double max_seconds = 0;               ///< of each test, each engine; 0: no limit
  std::function<void()> poll = {};      ///< called now and then; what it throws ends the work
};

/// Runs a program and reports outcomes (sorted, with the program's observables), executions, counts, notes and
/// `complete`; the command fills in the verdict.
using Engine = std::function<Result(const Program&, const EngineOptions&)>;

/// Says whether the time since its making is over. For Options::out_of_time.
class TimeLimit {
 public:
  explicit TimeLimit(double seconds);
  /// Empty when there is no limit; refers to this object.
  [[nodiscard]] std::function<bool()> question();
  /// Has the question been answered with yes?
  [[nodiscard]] bool was_reached() const { return reached_; }
  /// "2 s"
  [[nodiscard]] std::string text() const;

 private:
  double seconds_;
  std::chrono::steady_clock::time_point end_;
  bool reached_ = false;
};

struct CommandOptions {
  std::vector<std::string> files;
  std::vector<std::string> tests;      ///< only these, by name; empty: all
  std::string model;                   ///< empty: the documents' own
  std::string engine = "declarative";  ///< or a key of the engines handed in, or `all`
  EngineOptions engine_options;
  Options declarative;  ///< variants and limits of the declarative engine
  bool json = false;
  bool times = false;  ///< in JSON, how long each test took: no function of the test
  /// If set, takes each result when it is judged, in place of text or JSON.
  std::function<void(const Program&, const Result&)> each;
  /// Outcome (`a=0 b=1`) to show an execution of. Tests that lack one of its names are left out (one line on `err`);
  /// bad input if all do.
  std::string witness;
  std::string explain;    ///< outcome to show the forbidding cycles of, in the same way
  bool describe = false;  ///< each test in two sentences, in place of running it
  /// Takes name and text of each test as a file of herd's, in place of running them.
  std::vector<std::pair<std::string, std::string>>* herd_files = nullptr;
  std::vector<std::string>* drawings = nullptr;  ///< takes the Graphviz drawings of these, one a test and cycle
};

/// What one engine finds of a program: the declarative one, or one of those handed in.
[[nodiscard]] Result run_engine(const CommandOptions& options, const std::map<std::string, Engine>& engines,
                                const std::string& engine, const Program& program, TimeLimit& limit);

/// The tests of all files under the chosen engines. Returns the exit status: 0 all verdicts ok, 1 one failed, 2 bad
/// input (one line on `err`), 3 none failed, but some are not known: not run, or cut short by a limit. With a model,
/// tests that are none of it are left out (one line on `err`), all of them bad input.
int run_litmus_command(const CommandOptions& options, const std::map<std::string, Engine>& engines, std::ostream& out,
                       std::ostream& err);

/// Writes the JSON array of docs/litmus-format.md, result by result.
class JsonArray {
 public:
  /// `times`: how long each test took, which is no function of the test.
  JsonArray(std::ostream& out, bool times) : out_(out), times_(times) { write_bracket(); }
  /// `stop`: as for write_herd_text.
  void add(const Program& program, Result& result, const std::function<bool()>& stop = {});
  void end();

 private:
  void write_bracket();
  std::ostream& out_;
  bool times_;
  bool empty_ = true;
};

/// The JSON array of docs/litmus-format.md; `programs[i]` belongs to `results[i]`.
[[nodiscard]] std::string to_json(const std::vector<const Program*>& programs, const std::vector<Result>& results,
                                  bool times = false);

}  // namespace loco::model::litmus
