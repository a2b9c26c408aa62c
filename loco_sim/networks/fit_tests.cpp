// Tests that distinguish rules: for each rule, programs in which it matters, in the presence of all rules that it
// needs.
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

/// The other rules that must hold for a rule to matter.
RuleSet company(Rule rule) {
  if (rule == Rule::so) return kCoreRma.with(Rule::so);
  return kCoreRmaUnordered.with(rule);
}

using Kind = corerma::Kind;

std::array<bool, corerma::kKinds> only(std::initializer_list<Kind> kinds) {
  std::array<bool, corerma::kKinds> chosen{};
  for (const Kind k : kinds) chosen[static_cast<std::size_t>(k)] = true;
  return chosen;
}

/// The statements of which a test of the rule consists; others would only make it longer.
std::vector<std::array<bool, corerma::kKinds>> statements(Rule rule, bool atomics) {
  const auto plain = only({Kind::read, Kind::write, Kind::get, Kind::put, Kind::flush});
  const auto all = only({Kind::read, Kind::write, Kind::get, Kind::put, Kind::flush, Kind::rga, Kind::cas});
  switch (rule) {
    case Rule::gg:
      return {only({Kind::read, Kind::write, Kind::get})};
    case Rule::ga:
    case Rule::cas:
    case Rule::pta:
    case Rule::ao:
    case Rule::gta:
    case Rule::oa:
      if (!atomics) return {};
      return {all};
    case Rule::sf:
    case Rule::rl:
    case Rule::so:
      if (atomics) return {plain, all};
      return {plain};
    default:
      return {plain};
  }
}

constexpr std::array kShapes = {Shape{1, 1, 9}, Shape{1, 2, 9}, Shape{2, 2, 10}};
constexpr std::array kAtomicShapes = {Shape{1, 1, 10}, Shape{1, 2, 11}, Shape{2, 2, 11}};
constexpr std::array kGetShapes = {Shape{1, 1, 11}, Shape{1, 2, 11}, Shape{2, 2, 12}};  // two gets, each with a reader

const std::array<Shape, 3>& shapes(Rule rule, const std::array<bool, corerma::kKinds>& kinds) {
  if (rule == Rule::gg) return kGetShapes;
  return kinds[static_cast<std::size_t>(Kind::rga)] ? kAtomicShapes : kShapes;
}

}  // namespace

std::vector<corerma::Test> fit_tests(std::uint64_t each, bool atomics, const std::function<void()>& poll) {
  std::vector<corerma::Test> tests;
  std::set<std::string> known;
  std::vector<Rule> pivots = basic_rules();
  pivots.insert(pivots.end(), extra_rules().begin(), extra_rules().end());
  for (const Rule rule : pivots) {
    if (rule == Rule::at || rule == Rule::ws) continue;  // the tests of GA and R1 distinguish them
    for (const auto& kinds : statements(rule, atomics))
      for (const Shape& shape : shapes(rule, kinds)) {
        corerma::GenerateOptions options;
        options.pivot = {rule};
        options.rules = company(rule);
        options.processes = shape.processes;
        options.hosts = shape.hosts;
        options.size = shape.size;
        options.statements = kinds;
        options.reads = corerma::Reads::one;
        options.limit = each;
        if (poll) options.poll = [&poll](const corerma::Progress&) { poll(); };
        (void)corerma::Generator(options).run([&](const corerma::Test& test) {
          if (known.insert(corerma::text(test.program)).second) tests.push_back(test);
          return true;
        });
      }
  }
  std::stable_sort(tests.begin(), tests.end(), [](const auto& a, const auto& b) { return a.size < b.size; });
  return tests;
}

}  // namespace loco::networks
