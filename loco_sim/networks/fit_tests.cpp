// The tests by which rules are told apart: for each rule, programs in which it matters, under all rules that it needs.
#include <algorithm>
#include <set>

#include "loco_sim/networks/allowed.hpp"
#include "loco_sim/networks/fit.hpp"

namespace loco::networks {

namespace corerma = model::corerma;
using model::litmus::kCoreRma;
using model::litmus::kCoreRmaUnordered;

namespace {

struct Shape {
  int processes = 1;
  int hosts = 1;
  int size = 8;  // of the largest programs
};

bool has_atomics(const corerma::Program& p) {
  return std::any_of(p.statements.begin(), p.statements.begin() + p.count, [](const corerma::Statement& s) {
    return s.kind == corerma::Kind::rga || s.kind == corerma::Kind::cas;
  });
}

/// Rules in whose company a rule matters.
RuleSet company(Rule rule) {
  if (rule == Rule::so) return kCoreRma.with(Rule::so);
  return kCoreRmaUnordered.with(rule);
}

/// Statements that make a test of the rule; others only make it longer.
std::array<bool, corerma::kKinds> statements(Rule rule, bool atomics) {
  std::array<bool, corerma::kKinds> all = {true, true, true, true, true, true, true};
  const bool about_atomics = rule == Rule::ga || rule == Rule::cas || rule == Rule::ao || rule == Rule::gta ||
                             rule == Rule::oa || rule == Rule::sf || rule == Rule::rl || rule == Rule::so;
  const bool use = atomics && about_atomics;
  all[static_cast<std::size_t>(corerma::Kind::rga)] = use;
  all[static_cast<std::size_t>(corerma::Kind::cas)] = use;
  return all;
}

constexpr std::array kShapes = {Shape{1, 1, 9}, Shape{1, 2, 9}, Shape{2, 2, 10}};
constexpr std::array kAtomicShapes = {Shape{1, 1, 10}, Shape{1, 2, 11}, Shape{2, 2, 11}};

}  // namespace

std::vector<corerma::Test> fit_tests(std::uint64_t each, bool atomics) {
  std::vector<corerma::Test> tests;
  std::set<std::string> known;
  std::vector<Rule> pivots = basic_rules();
  pivots.insert(pivots.end(), extra_rules().begin(), extra_rules().end());
  for (const Rule rule : pivots) {
    if (rule == Rule::at || rule == Rule::ws) continue;  // no edge of theirs is alone: the tests of GA and R1 tell
    const auto kinds = statements(rule, atomics);
    const bool with_atomics = kinds[static_cast<std::size_t>(corerma::Kind::rga)];
    for (const Shape& shape : with_atomics ? kAtomicShapes : kShapes) {
      corerma::GenerateOptions options;
      options.pivot = {rule};
      options.rules = company(rule);
      options.processes = shape.processes;
      options.hosts = shape.hosts;
      options.size = shape.size;
      options.statements = kinds;
      options.reads = corerma::Reads::one;
      options.limit = each;
      (void)corerma::Generator(options).run([&](const corerma::Test& test) {
        if (!atomics && has_atomics(test.program)) return true;
        if (known.insert(corerma::text(test.program)).second) tests.push_back(test);
        return true;
      });
    }
  }
  std::stable_sort(tests.begin(), tests.end(), [](const auto& a, const auto& b) { return a.size < b.size; });
  return tests;
}

}  // namespace loco::networks
