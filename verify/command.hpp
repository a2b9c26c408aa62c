// `loco-sim verify` without its command line, for the program and the Python package.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "verify/report.hpp"

namespace loco::verify {

struct CommandOptions {
  Network network = Network::kUnordered;
  std::string engine = "auto";
  std::uint32_t pending = 4;
  double max_seconds = 60;                             ///< of the clock on the wall, for one file; 0: no limit
  double max_cpu_seconds = 0;                          ///< of the processor, for one file; 0: no limit
  std::uint64_t max_memory = std::uint64_t{2} << 30U;  ///< bytes that the points of a search may take
  Fairness fairness = Fairness::kWeak;                 ///< of liveness properties that do not say it themselves
  bool search_flushes = false;
  bool where = false;  ///< a flush after every remote statement in place of the file's, and search_flushes
  std::vector<Expression> predicates;  ///< over the variables of the one program: the first ones of an engine
  std::uint32_t jobs = 1;
  std::function<void()> look;  ///< called now and then, from any of the threads; may throw to end it all
};

/// Checks programs; several at a time with `jobs`. Reports come in the order of the programs.
[[nodiscard]] std::vector<Report> check_programs(std::vector<Program> programs, const CommandOptions& options);

/// A certificate of a program that is safe, with its flushes or with those of `--where`: `answer.certificate` of the
/// report that it gives, which is not safe when the proof cannot be written down within the limits.
[[nodiscard]] Report certify_program(Program program, const CommandOptions& options);

/// Thrown for requests that need Z3 in a build without it.
class NeedsZ3 : public std::runtime_error {
 public:
  NeedsZ3();
};

struct CertificateCheck {
  bool accepted = false;
  bool ended = true;  ///< false: a limit was reached, nothing is known
  std::string why;    ///< the obligation that fails
  std::uint64_t obligations = 0;
  Network network = Network::kUnordered;
  FlushMask flushes;
};
/// Throws std::invalid_argument when the text is no certificate of the program, NeedsZ3.
[[nodiscard]] CertificateCheck check_certificate(const Program& program, const std::string& text,
                                                 const CommandOptions& options);

/// The result of a step of `--engine extrapolate` as text: `bp`, `reduced` or `ebp`. Throws NeedsZ3, and another
/// std::runtime_error when a limit is reached.
[[nodiscard]] std::string dump(const Program& program, const std::string& what, const CommandOptions& options);

/// 1 when some program is unsafe or not live, else 3 when some is unknown, or a search that was asked for did not end,
/// else 0.
[[nodiscard]] int exit_code(const std::vector<Report>& reports);

}  // namespace loco::verify
