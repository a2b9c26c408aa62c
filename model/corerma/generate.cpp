#include "model/corerma/generate.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdexcept>

#include "text/word_list.hpp"
#include "text/words.hpp"

namespace loco::model::corerma {
namespace {

[[noreturn]] void refuse(const std::string& option, const std::string& expected, const std::string& found) {
  throw std::invalid_argument("--" + option + ": expected " + expected + ", found " + found);
}

std::string name_begin(const GenerateOptions& options) {
  return text(options.pivot) + "-" + std::to_string(options.processes) + "x";
}

/// By rule: the letters of the kinds of statement without one of which it orders nothing.
constexpr std::array<std::string_view, litmus::kRules> kNeeded = {
    "",  "", "f", "f", "f",  "gp", "a",  "c",    "",   "",    "gpac", "p", "g",
    "p", "", "p", "p", "ac", "ac", "ac", "gpac", "ac", "pac", "gac",  "f"};

std::array<bool, kKinds> needed_kinds(Rule pivot) {
  std::array<bool, kKinds> needed{};
  for (std::size_t k = 0; k < needed.size(); ++k)
    needed[k] = kNeeded[static_cast<std::size_t>(pivot)].find(kKindLetters[k]) != std::string_view::npos;
  return needed;
}

Program parse_after(const GenerateOptions& options) {
  const std::string begin = name_begin(options);
  const auto dash = options.after.find('-', begin.size());
  if (options.after.compare(0, begin.size(), begin) != 0 || dash == std::string::npos)
    refuse("after", "the name of a test, " + begin + "SIZE-PROGRAM", text::in_quotes(options.after));
  Program program;
  try {
    program = parse_program(options.after.substr(dash + 1));
  } catch (const std::invalid_argument& error) {
    refuse("after", "the name of a test", text::in_quotes(options.after) + ": " + error.what());
  }
  const std::string size = options.after.substr(begin.size(), dash - begin.size());
  if (size != std::to_string(program.size()))
    refuse("after", "a test of size " + std::to_string(program.size()), text::in_quotes(options.after));
  if (program.processes != options.processes)
    refuse("after", "a test of " + std::to_string(options.processes) + " processes", text::in_quotes(options.after));
  return program;
}

void check(const GenerateOptions& o) {
  const auto number = [](const char* option, int value, int least, int most) {
    if (value < least || value > most)
      refuse(option, "a number from " + std::to_string(least) + " to " + std::to_string(most), std::to_string(value));
  };
  number("processes", o.processes, 1, kProcessesMax);
  number("hosts", o.hosts, o.processes, kHostsMax);
  number("size", o.size, kSizeMin, kSizeMax);
  if (o.pivot.rule == Rule::at) refuse("pivot", "a rule that orders pairs of actions", "AT");
  if (!o.rules.has(o.pivot.rule)) refuse("pivot", "one of the rules " + o.rules.text(), text::in_quotes(text(o.pivot)));
  if (std::none_of(o.statements.begin(), o.statements.end(), [](bool b) { return b; }))
    refuse("statements", "at least one kind", "none");
  if (o.every == 0) refuse("every", "a number from 1 on", "0");
}

ProgramSpace space_of(const GenerateOptions& options) {
  ProgramSpace space;
  space.processes = options.processes;
  space.hosts = options.hosts;
  space.statements = options.statements;
  space.needed = needed_kinds(options.pivot.rule);
  return space;
}

}  // namespace

Generator::Generator(GenerateOptions options) : options_(std::move(options)) {
  if (options_.hosts == 0) options_.hosts = options_.processes;
  check(options_);
  space_ = space_of(options_);
  if (!options_.after.empty()) after_ = parse_after(options_);
}

bool Generator::run(const std::function<bool(const Test&)>& visit) {
  constexpr std::uint64_t kPollEvery = 4096;
  WitnessSearch search(options_.rules, options_.pivot, options_.reads);
  ProgramEnumerator programs(space_);
  Test test;
  std::uint64_t taken = 0;
  const auto look = [&](const Program& program) {
    if (++progress_.programs % kPollEvery == 0 && options_.poll) options_.poll(progress_);
    if (search.find(program) == nullptr) return true;
    const std::uint64_t earlier = progress_.tests++;
    if (earlier < options_.skip || (earlier - options_.skip) % options_.every != 0) return true;
    test.program = program;
    test.size = progress_.size;
    test.name = name_begin(options_) + std::to_string(test.size) + "-" + text(program);
    if (!visit(test)) return false;
    return options_.limit == 0 || ++taken < options_.limit;
  };
  for (progress_.size = kSizeMin; progress_.size <= options_.size; ++progress_.size)
    if (!programs.run(progress_.size, after_ ? &*after_ : nullptr, look)) return false;
  return true;
}

Counts count_tests(const GenerateOptions& options) {
  Counts counts;
  Generator generator(options);
  counts.by_size.assign(static_cast<std::size_t>(options.size - kSizeMin + 1), 0);
  (void)generator.run([&](const Test& test) {
    ++counts.by_size[static_cast<std::size_t>(test.size - kSizeMin)];
    ++counts.tests;
    return true;
  });
  counts.programs = generator.progress().programs;
  return counts;
}

double estimated_programs(const GenerateOptions& options) {
  constexpr std::uint64_t kCountedMax = 100'000;
  const ProgramSpace space = space_of(Generator(options).options());
  double total = 0, last = 0, growth = 0, growth_before = 0;
  bool counting = true;
  for (int size = kSizeMin; size <= options.size; ++size) {
    if (counting) {
      std::uint64_t programs = 0;
      (void)ProgramEnumerator(space).run(size, nullptr, [&](const Program&) { return ++programs <= kCountedMax; });
      counting = programs <= kCountedMax;
      if (counting) {
        const auto now = static_cast<double>(programs);
        growth_before = growth;
        growth = last > 0 ? now / last : 0;
        last = now;
      }
    }
    if (!counting) {
      const double faster = growth_before > 0 ? std::max(0.0, growth - growth_before) : 0;
      growth_before = growth;
      growth += faster;
      last *= growth;
    }
    total += last;
  }
  return total;
}

std::array<bool, kKinds> parse_statements(std::string_view list) {
  std::array<bool, kKinds> statements{};
  for (const std::string_view word : text::comma_separated(list)) {
    const auto it = std::find(kKindNames.begin(), kKindNames.end(), word);
    if (it == kKindNames.end())
      throw std::invalid_argument(
          "--statements: " +
          text::unknown_word(fmt::format("some of {}", fmt::join(kKindNames, ", ")), word, kKindNames));
    statements[static_cast<std::size_t>(it - kKindNames.begin())] = true;
  }
  return statements;
}

}  // namespace loco::model::corerma
