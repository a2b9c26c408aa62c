// loco-sim sweep, loco-sim report: done by the Python package, which this program becomes.
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <unistd.h>

#include "loco_sim/cli/commands.hpp"
#include "loco_sim/cli/file_kind.hpp"
#include "loco_sim/cli/output.hpp"
#include "loco_sim/scenario/scenario.hpp"
#include "text/input_error.hpp"

namespace loco::cli {

namespace {

namespace fs = std::filesystem;

/// SIGINT stays blocked until this handler is set: an interpreter that is interrupted while it starts prints a
/// traceback.
constexpr const char* kScript = R"(import os, signal, sys
def interrupted(*_):
    try:
        os.write(2, b"loco-sim: interrupted\n")
    finally:
        os._exit(130)
signal.signal(signal.SIGINT, interrupted)
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
sys.path[:] = [folder for folder in sys.path if folder]
try:
    from loco_sim.__main__ import main
except ImportError as error:
    missing = error.name in ("loco_sim", "loco_sim.__main__")
    found = "none" if missing else f"one that does not load: {error}"
    try:
        sys.stderr.write(f"loco-sim {sys.argv[1]}: expected the Python package loco_sim (./dev build, or pip install .), found {found}\n")
    finally:
        os._exit(2)
code = main(sys.argv[1:])
signal.signal(signal.SIGINT, interrupted)
sys.exit(code)
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

void block_interrupts(int how) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigprocmask(how, &set, nullptr);
}

/// Only throws.
int become_python(const std::vector<std::string>& arguments) {
  const fs::path here = own_directory();
  const fs::path build_package = here.parent_path() / "python";
  const std::string python = interpreter(build_package, here);
  if (std::error_code ignored; fs::exists(build_package / "loco_sim", ignored)) {
    const char* before = std::getenv("PYTHONPATH");
    setenv("PYTHONPATH", (build_package.string() + (before != nullptr ? ":" + std::string(before) : "")).c_str(), 1);
  }
  std::vector<std::string> words = {python, "-c", kScript};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  block_interrupts(SIG_BLOCK);
  execvp(python.c_str(), argv.data());
  block_interrupts(SIG_UNBLOCK);
  throw UsageError("loco-sim " + arguments.front() + ": expected a Python interpreter (python3), found none");
}

void add_value(std::vector<std::string>& words, const std::string& option, const std::optional<std::uint64_t>& value) {
  if (value) words.insert(words.end(), {option, std::to_string(*value)});
}

/// `--set=KEY=VALUE`, which may begin with a dash.
void add_overrides(std::vector<std::string>& words, const std::vector<std::string>& set) {
  for (const std::string& pair : set) {
    static_cast<void>(scenario::parse_set(pair));
    words.push_back("--set=" + pair);
  }
}

void require_kind(const std::string& command, const std::string& file, const char* expected) {
  if (what_it_is(command, file).empty()) return;
  throw text::InputError({file, 1, 1}, "", expected, "another kind of file");  // main() says which
}

}  // namespace

int sweep_command(const SweepArguments& a) {
  std::vector<std::string> words = {"sweep"};
  add_value(words, "--jobs", a.jobs);
  add_value(words, "--seeds", a.seeds);
  if (!a.out.empty()) words.push_back("--out=" + a.out);
  add_overrides(words, a.set);
  if (a.restart) words.emplace_back("--restart");
  if (a.for_spreadsheets) words.emplace_back("--for-spreadsheets");
  if (a.quiet) words.emplace_back("--quiet");
  words.insert(words.end(), {"--", a.scenario});
  require_place_of(a.out);
  require_kind("sweep", a.scenario, "a scenario");
  return become_python(words);
}

int report_command(const ReportArguments& a) {
  std::vector<std::string> words = {"report", "--out=" + a.out};
  add_value(words, "--seed", a.seed);
  add_overrides(words, a.set);
  words.insert(words.end(), {"--", a.result});
  require_place_of(a.out);
  require_kind("report", a.result, "a result or a scenario");
  return become_python(words);
}

}  // namespace loco::cli
