// SimGrid platform files, looked through before SimGrid sees them: a platform says what a network is like, and nothing
// else. What would configure the program (`<config>`, which can name files that SimGrid writes), starts actors or reads
// further files is refused, and so are latencies and rates that simulated time has no room for.
//
// Elements and units are those of SimGrid's platform format, version 4 (simgrid.dtd; XML reference of SimGrid 3.32).
#pragma once

#include <stdexcept>
#include <string>

namespace loco::fabric {

/// What is wrong with a platform file, and where. Lines and columns count from 1, columns in bytes.
class PlatformFileError : public std::runtime_error {
 public:
  PlatformFileError(int line, int column, std::string expected, std::string found);
  [[nodiscard]] int line() const { return line_; }
  [[nodiscard]] int column() const { return column_; }
  [[nodiscard]] const std::string& expected() const { return expected_; }
  [[nodiscard]] const std::string& found() const { return found_; }

 private:
  int line_;
  int column_;
  std::string expected_;
  std::string found_;
};

/// Throws PlatformFileError.
void check_platform(const std::string& text);

/// The same of a file, which has 64 MiB at most.
void check_platform_file(const std::string& path);

}  // namespace loco::fabric
