#include "loco_sim/cli/progress.hpp"

#include <unistd.h>

#include "loco_sim/cli/output.hpp"

namespace loco::cli {

namespace {
constexpr const char* kClearLine = "\r\033[K";
}

Progress::Progress() : terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (dirty_) say(kClearLine);
}

bool Progress::is_due() const {
  constexpr std::chrono::milliseconds kEvery{200};
  return terminal_ && std::chrono::steady_clock::now() - shown_ >= kEvery;
}

void Progress::show(const std::string& text) {
  if (!is_due()) return;
  shown_ = std::chrono::steady_clock::now();
  dirty_ = true;
  say(kClearLine + text);
}

}  // namespace loco::cli
