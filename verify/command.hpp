// `loco-sim verify` without its command line: what the program and the Python package share.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "verify/report.hpp"

namespace loco::verify {

struct CommandOptions {
  Network network = Network::kUnordered;
  std::string engine = "auto";
  std::uint32_t pending = 4;
  double max_seconds = 60;                             ///< for one file; 0: no limit
  std::uint64_t max_memory = std::uint64_t{2} << 30U;  ///< bytes that the points of a search may take
  bool search_flushes = false;
  bool where = false;  ///< a flush after every remote statement in place of the file's, and search_flushes
  std::uint32_t jobs = 1;
  std::function<void()> look;  ///< called now and then, from any of the threads; may throw to end it all
};

/// Checks programs; several at a time with `jobs`. Reports come in the order of the programs.
[[nodiscard]] std::vector<Report> check_programs(std::vector<Program> programs, const CommandOptions& options);

/// 1 when some program is unsafe, else 3 when some is unknown, or a search that was asked for did not end, else 0.
[[nodiscard]] int exit_code(const std::vector<Report>& reports);

}  // namespace loco::verify
