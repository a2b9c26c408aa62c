// Generates every coreRMA test for a pivot up to a size (coreRMA paper, Section 6.1; docs/corerma.md has the
// definition).
//
// A test is a program in which the pivot matters (witness.hpp). Each comes once up to renaming, in the order of
// `before` (program.hpp). Deterministic; memory does not grow with the number of tests.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/corerma/enumerator.hpp"
#include "model/corerma/program.hpp"
#include "model/corerma/witness.hpp"

namespace loco::model::corerma {

/// How far a generator has come.
struct Progress {
  int size = 0;                ///< of the programs being looked at
  std::uint64_t programs = 0;  ///< looked at so far
  std::uint64_t tests = 0;     ///< found so far, taken or not
};

struct GenerateOptions {
  Pivot pivot;
  RuleSet rules = litmus::kCoreRma;
  int processes = 1;
  int hosts = 0;  ///< 0: as many as processes
  int size = 4;   ///< of the largest programs: actions and variables
  std::array<bool, kKinds> statements = {true, true, true, true, true, true, true};
  Reads reads = Reads::any;
  std::string after;        ///< name of a test: go on with what follows it; empty: begin at the beginning
  std::uint64_t skip = 0;   ///< pass over so many first
  std::uint64_t every = 1;  ///< take each so manieth test only
  std::uint64_t limit = 0;  ///< stop after so many; 0: no limit
  std::function<void(const Progress&)> poll = {};  ///< called now and then; what it throws ends the generation
};

/// A test, valid while the generator's visitor looks at it.
struct Test {
  std::string name;  ///< `R1-1x4-wa.ra.ra`: pivot, processes, size, program (text() of program.hpp)
  Program program;
  int size = 0;
};

class Generator {
 public:
  /// Throws std::invalid_argument, `--option: expected ..., found ...`, for options that cannot be met.
  explicit Generator(GenerateOptions options);

  /// Calls `visit` for each test until it returns false, or there are no more. True if it saw them all.
  bool run(const std::function<bool(const Test&)>& visit);

  [[nodiscard]] const GenerateOptions& options() const { return options_; }
  [[nodiscard]] const Progress& progress() const { return progress_; }

 private:
  GenerateOptions options_;
  ProgramSpace space_;
  std::optional<Program> after_;
  Progress progress_;
};

inline constexpr int kSizeMin = 3;  ///< of a test: a variable, its writer and a read

struct Counts {
  std::vector<std::uint64_t> by_size;  ///< element i: tests of size kSizeMin + i
  std::uint64_t tests = 0;
  std::uint64_t programs = 0;  ///< looked at
};
[[nodiscard]] Counts count_tests(const GenerateOptions& options);

/// How many programs there are to look at: counted at sizes that are quick to count, and from there by the growth of
/// the growth. For a bound that is out of reach, an idea of how far.
[[nodiscard]] double estimated_programs(const GenerateOptions& options);
/// Programs that one core looks at in a second, give or take a factor of three.
inline constexpr double kProgramsASecond = 400'000;
/// More programs than this are out of reach: some six hours.
inline constexpr double kProgramsWithinReach = 1e10;

/// Reads `read,write,put`. Throws std::invalid_argument.
[[nodiscard]] std::array<bool, kKinds> parse_statements(std::string_view list);

}  // namespace loco::model::corerma
