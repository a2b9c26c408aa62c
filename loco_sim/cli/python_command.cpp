// loco-sim sweep, loco-sim report: done by the Python package, which this program calls.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <unistd.h>

#include "loco_sim/cli/commands.hpp"

namespace loco::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* kScript = R"(import sys
try:
    from loco_sim.__main__ import main
except ImportError as error:
    print(f"loco-sim {sys.argv[1]}: expected the Python package loco_sim (pip install .), found none: {error}", file=sys.stderr)
    sys.exit(2)
sys.exit(main(sys.argv[1:]))
)";

fs::path own_directory() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

/// The interpreter that the build tree was made for, else the one beside this program, else the user's.
std::string interpreter(const fs::path& build_package, const fs::path& here) {
  std::string path;
  if (std::ifstream file(build_package / "interpreter"); std::getline(file, path) && access(path.c_str(), X_OK) == 0) {
    return path;
  }
  std::error_code ignored;
  return fs::exists(here / "python3", ignored) ? (here / "python3").string() : "python3";
}

}  // namespace

int python_command(const std::string& command, const std::vector<std::string>& arguments) {
  const fs::path here = own_directory();
  const fs::path build_package = here.parent_path() / "python";
  const std::string python = interpreter(build_package, here);
  if (std::error_code ignored; fs::exists(build_package / "loco_sim", ignored)) {
    const char* before = std::getenv("PYTHONPATH");
    setenv("PYTHONPATH", (build_package.string() + (before != nullptr ? ":" + std::string(before) : "")).c_str(), 1);
  }
  std::vector<std::string> words = {python, "-c", kScript, command};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execvp(python.c_str(), argv.data());
  throw UsageError("loco-sim " + command + ": expected a Python interpreter (python3), found none");
}

}  // namespace loco::cli
