// Identifies a run: a fingerprint over all changes of control, and, on request, the list of them.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include "exec/protocol.hpp"

namespace loco::exec {

class Recorder {
 public:
  /// `record` and `compare` are files, or empty. Throws std::system_error if one cannot be opened.
  Recorder(const std::string& record, const std::string& compare);

  /// A program hands over, at its own time.
  void note(std::uint32_t host, std::uint32_t thread, const Channel& channel);
  /// Ends the recording with the run.
  void end();

  /// 16 hexadecimal digits.
  [[nodiscard]] std::string fingerprint() const;
  /// The first change of control that differs from the recorded run; empty if there is none.
  [[nodiscard]] const std::string& difference() const { return difference_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
  std::uint64_t number_ = 0;
  std::ofstream out_;
  std::ifstream in_;
  std::string difference_;
};

}  // namespace loco::exec
