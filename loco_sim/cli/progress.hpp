// What is going on, on a terminal's last line; elsewhere nothing is said.
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
  /// Is there somebody who looks, and did the last words come long enough ago?
  [[nodiscard]] bool is_due() const;
  void show(const std::string& text);

 private:
  bool terminal_;
  bool dirty_ = false;
  std::chrono::steady_clock::time_point shown_;
};

}  // namespace loco::cli
