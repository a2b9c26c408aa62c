#include "exec/run.hpp"

#include <array>
#include <filesystem>

#include "exec/conductor.hpp"
#include "exec/places.hpp"

namespace loco::exec {

namespace {

/// The status of the first program that failed, in the order of hosts.
int status_of(const Result& result) {
  constexpr int kInterrupted = 130;  // 128 + SIGINT, as in shells
  if (result.interrupted) return kInterrupted;
  if (!result.failure.empty() || !result.difference.empty() || !result.races.empty()) return 1;
  for (const ProgramResult& p : result.programs) {
    if (p.stopped) continue;
    if (p.signal != 0) return 1;
    if (p.status != 0) return p.status;
  }
  return 0;
}

}  // namespace

std::string shim_folder() {
  namespace fs = std::filesystem;
  std::error_code none;
  const fs::path program = fs::read_symlink("/proc/self/exe", none).parent_path();
  for (const char* folder : {"../lib/loco-sim/exec", "../" LOCO_SIM_LIBDIR "/loco-sim/exec"}) {
    const fs::path found = program / folder;
    if (fs::exists(found / "libibverbs.so.1", none)) return fs::canonical(found).string();
  }
  throw RefusedProgram(
      "exec is not part of this build: libibverbs-dev and librdmacm-dev were missing when it was configured "
      "(./dev exec installs them)");
}

Result run(const Options& options) {
  Conductor conductor(options);
  Result result = conductor.run();
  if (result.trace) name_places(*result.trace, result.trace_places);
  for (const Race& race : result.races) result.mistakes.push_back(mistake(race));
  result.status = status_of(result);
  return result;
}

}  // namespace loco::exec
