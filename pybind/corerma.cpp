// Generated coreRMA tests, a batch at a time: loco_sim.generated makes an iterator of them.
#include <fmt/format.h>
#include <pybind11/stl.h>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "model/corerma/document.hpp"
#include "model/corerma/generate.hpp"
#include "pybind/bindings.hpp"
#include "pybind/interruption.hpp"

namespace loco::python {

namespace {

namespace corerma = model::corerma;
namespace litmus = model::litmus;

/// What Python says of a generation; checked here, and told by the names of Python's arguments.
struct Question {
  std::string pivot, rules, statements, reads;
  int processes = 1, hosts = 0, size = 0;
  bool anyway = false;  ///< even if it is out of reach
};

/// `--size: ...` as `size: ...`.
[[noreturn]] void refuse(std::string text) {
  if (text.starts_with("--")) text.erase(0, 2);
  throw std::invalid_argument(text);
}

corerma::GenerateOptions options_of(const Question& q) {
  corerma::GenerateOptions o;
  const auto named = [](const char* argument, const auto& read) {
    try {
      return read();
    } catch (const std::invalid_argument& error) {
      refuse(std::string(argument) + ": " + error.what());
    }
  };
  o.pivot = named("pivot", [&] { return corerma::parse_pivot(q.pivot); });
  const auto set = litmus::find_rule_set(q.rules);
  o.rules = set ? *set : named("rules", [&] { return litmus::parse_rules(q.rules); });
  if (!q.statements.empty()) o.statements = corerma::parse_statements(q.statements);
  o.processes = q.processes;
  o.hosts = q.hosts;
  o.size = q.size;
  if (q.reads != "any" && q.reads != "one") refuse("reads: expected \"any\" or \"one\", found '" + q.reads + "'");
  o.reads = q.reads == "one" ? corerma::Reads::one : corerma::Reads::any;
  return o;
}

void require_reach(const Question& q, const corerma::GenerateOptions& options) {
  if (q.anyway || options.limit != 0) return;
  if (const double programs = corerma::estimated_programs(options); programs > corerma::kProgramsWithinReach)
    refuse(fmt::format("size: expected a bound within reach, or limit or anyway=True, found {}: about {:.0e} programs",
                       options.size, programs));
}

/// Calls `work` without the interpreter lock; Ctrl-C ends it.
template <class Work>
void generating(corerma::GenerateOptions& options, const Work& work) {
  try {
    interruptible([&](Interruption& interruption) {
      options.poll = [&](const corerma::Progress&) { interruption.stop_if_requested(); };
      work();
    });
  } catch (const std::invalid_argument& error) {
    refuse(error.what());
  }
}

py::dict values(const litmus::Program& program, const litmus::Outcome& outcome) {
  py::dict d;
  for (std::size_t i = 0; i < outcome.size(); ++i) d[py::str(program.observables[i].name)] = outcome[i];
  return d;
}

/// So many tests after `after`, of which each `every`-th counts: (name, size, document, outcomes, forbidden or None).
py::list batch(const Question& q, const std::string& after, std::uint64_t skip, std::uint64_t every,
               std::uint64_t limit) {
  struct Found {
    corerma::Test test;
    corerma::Expectation expectation;
    std::string document;
  };
  std::vector<Found> found;
  corerma::GenerateOptions options = options_of(q);
  options.after = after;
  options.skip = skip;
  options.every = every;
  options.limit = limit;
  generating(options, [&] {
    (void)corerma::Generator(options).run([&](const corerma::Test& test) {
      corerma::Expectation e = corerma::expect(test, options);
      std::string document = corerma::document(test, options, e);
      found.push_back({test, std::move(e), std::move(document)});
      return true;
    });
  });
  py::list tests;
  for (const Found& f : found) {
    py::list outcomes;
    for (const litmus::Outcome& o : f.expectation.outcomes) outcomes.append(values(f.expectation.program, o));
    py::object forbidden = py::none();
    if (f.expectation.forbidden) forbidden = values(f.expectation.program, *f.expectation.forbidden);
    tests.append(py::make_tuple(f.test.name, f.test.size, f.document, outcomes, forbidden));
  }
  return tests;
}

/// Tests by size, from the smallest that there can be.
std::vector<std::pair<int, std::uint64_t>> count_question(const Question& q) {
  corerma::Counts counts;
  corerma::GenerateOptions options = options_of(q);
  generating(options, [&] {
    require_reach(q, options);
    counts = corerma::count_tests(options);
  });
  std::vector<std::pair<int, std::uint64_t>> by_size;
  for (std::size_t i = 0; i < counts.by_size.size(); ++i)
    by_size.emplace_back(corerma::kSizeMin + static_cast<int>(i), counts.by_size[i]);
  return by_size;
}

/// Throws for what cannot be generated; without a limit also for what is out of reach.
void check_question(const Question& q, const std::string& after, std::uint64_t limit) {
  corerma::GenerateOptions options = options_of(q);
  options.after = after;
  options.limit = limit;
  generating(options, [&] {
    (void)corerma::Generator(options);
    require_reach(q, options);
  });
}

}  // namespace

void bind_corerma(py::module_& m) {
  py::class_<Question>(m, "GenerateQuestion")
      .def(py::init([](std::string pivot, std::string rules, std::string statements, std::string reads, int processes,
                       int hosts, int size, bool anyway) {
        return Question{std::move(pivot),
                        std::move(rules),
                        std::move(statements),
                        std::move(reads),
                        processes,
                        hosts,
                        size,
                        anyway};
      }));
  m.def("generate_batch", &batch);
  m.def("generate_count", &count_question);
  m.def("generate_check", &check_question);
}

}  // namespace loco::python
