// loco-sim conformance: done by loco-conformance, a program beside this one, which is linked with libibverbs.
#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>
#include <unistd.h>
#include <vector>

#include "loco_sim/cli/commands.hpp"

namespace loco::cli {

/// Only throws.
int conformance_command(const ConformanceArguments& a) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path() / "loco-conformance";
  if (!fs::exists(program, error))
    throw UsageError("loco-sim conformance: expected " + program.string() +
                     ", found none: this build is without libibverbs (Debian: libibverbs-dev)");
  std::vector<std::string> words = {program.string(), a.device};
  words.insert(words.end(), a.files.begin(), a.files.end());
  for (const std::string& test : a.tests) words.push_back("--test=" + test);
  words.push_back("--runs=" + std::to_string(a.runs));
  words.push_back("--seed=" + std::to_string(a.seed));
  if (a.json) words.emplace_back("--json");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  throw UsageError("loco-sim conformance: " + program.string() +
                   " cannot be run: " + std::error_code(errno, std::generic_category()).message());
}

}  // namespace loco::cli
