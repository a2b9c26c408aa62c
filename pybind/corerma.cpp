// Generated coreRMA tests, a batch at a time: loco_sim.generated makes an iterator of them.
#include <fmt/format.h>
#include <pybind11/stl.h>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "loco_sim/commands/generate.hpp"
#include "model/corerma/document.hpp"
#include "model/corerma/generate.hpp"
#include "pybind/arguments.hpp"
#include "pybind/interruption.hpp"

namespace loco::python {

namespace {

namespace corerma = model::corerma;
namespace litmus = model::litmus;

/// `--size: ...` as `size: ...`.
[[noreturn]] void refuse(std::string text) {
  if (text.starts_with("--")) text.erase(0, 2);
  throw std::invalid_argument(text);
}

/// A question: keywords as the rows of commands::Generate.
struct Asked {
  explicit Asked(const py::dict& given) : arguments(taken<commands::Generate>("generate", given)) {
    try {
      options = commands::options_of(arguments);
    } catch (const std::invalid_argument& error) {
      refuse(error.what());
    }
  }
  void require_reach() const {
    if (arguments.anyway || options.limit != 0) return;
    if (const double programs = corerma::estimated_programs(options); programs > corerma::kProgramsWithinReach)
      refuse(
          fmt::format("size: expected a bound within reach, or limit or anyway=True, found {}: about {:.0e} programs",
                      options.size, programs));
  }

  commands::Generate arguments;
  corerma::GenerateOptions options;
};

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
py::list batch(const py::dict& given, const std::string& after, std::uint64_t skip, std::uint64_t every,
               std::uint64_t limit) {
  struct Found {
    corerma::Test test;
    corerma::Expectation expectation;
    std::string document;
  };
  std::vector<Found> found;
  corerma::GenerateOptions options = Asked(given).options;
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
std::vector<std::pair<int, std::uint64_t>> count_question(const py::dict& given) {
  corerma::Counts counts;
  Asked asked(given);
  asked.options.limit = 0;  // whatever it says, and `after`
  asked.options.after.clear();
  generating(asked.options, [&] {
    asked.require_reach();
    counts = corerma::count_tests(asked.options);
  });
  std::vector<std::pair<int, std::uint64_t>> by_size;
  for (std::size_t i = 0; i < counts.by_size.size(); ++i)
    by_size.emplace_back(corerma::kSizeMin + static_cast<int>(i), counts.by_size[i]);
  return by_size;
}

/// Throws for options that contradict each other; without a limit also for a size that would take too long.
void check_question(const py::dict& given) {
  Asked asked(given);
  generating(asked.options, [&] {
    (void)corerma::Generator(asked.options);
    asked.require_reach();
  });
}

}  // namespace

void bind_corerma(py::module_& m) {
  m.def("generate_arguments", [] { return described<commands::Generate>(); });
  m.def("generate_batch", &batch);
  m.def("generate_count", &count_question);
  m.def("generate_check", &check_question);
}

}  // namespace loco::python
