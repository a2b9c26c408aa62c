// Progress on the last line of a terminal; silent where stderr is none.
#pragma once

#include <chrono>
#include <string>

namespace loco::cli {

class Progress {
 public:
  Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();  ///< leaves the line empty
  /// Whether stderr is a terminal and the last update is old enough.
  [[nodiscard]] bool is_due() const;
  void show(const std::string& text);

 private:
  bool terminal_;
  bool dirty_ = false;
  std::chrono::steady_clock::time_point shown_;
};

}  // namespace loco::cli
