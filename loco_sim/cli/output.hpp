// How the command line shows things: aligned tables and JSON, on stdout. One place, so that `--json` holds what the
// table holds.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <streambuf>
#include <string>
#include <vector>

#include "loco_sim/run/run.hpp"
#include "model/check.hpp"
#include "text/input_error.hpp"

namespace loco::cli {

/// Rows of cells; the first row is the heading. The first column is left-aligned, numbers right-aligned on request.
[[nodiscard]] std::string table(const std::vector<std::vector<std::string>>& rows, bool right_aligned);

/// `1.234 us`: four significant digits in the unit that suits.
[[nodiscard]] std::string time_text(std::int64_t ps);
/// `1.234 M`: a count or rate with a decimal prefix.
[[nodiscard]] std::string rate_text(double per_second);

/// A verdict's text with its first words in colour, if stdout is a terminal and NO_COLOR is not set.
[[nodiscard]] std::string painted(const std::string& verdict);

[[nodiscard]] nlohmann::ordered_json to_json(const model::Verdict& verdict);
[[nodiscard]] nlohmann::ordered_json to_json(const scenario::Scenario& scenario, const RunResult& result);

/// The counters of machine and workload, by name.
[[nodiscard]] nlohmann::ordered_json counters_json(const RunResult& result);

/// `[{"resource": ..., "share": ...}, ...]`
[[nodiscard]] nlohmann::ordered_json busiest_json(const std::vector<nic::Usage>& busiest);

/// Throws text::InputError unless a file of that name could be in its folder: asked before work whose result would
/// be lost. `said`, `key`: where a scenario names the file; else the file's name is told.
void require_place_of(const std::string& file, const text::Place& said = {}, const std::string& key = {});
/// Writes a file, whole or not at all; throws std::runtime_error when that fails.
void write_file(const std::string& path, const std::string& text);

/// Makes sure that no file that is opened gets the number of stdin, stdout or stderr where the process began without
/// them, and that a write which cannot be done fails in place of ending the process.
void have_standard_files();

/// Writes a message to stderr; errors of stderr are ignored, since there is no other place for a message.
void say(const std::string& text);

/// Writes text or JSON with a newline at its end; throws std::runtime_error when stdout cannot take it.
void print(const std::string& text);
void print(const nlohmann::ordered_json& json);

/// Writes long output to stdout, some 64 KiB at a time, so that it is never in memory as a whole; throws as print does.
class Printed : public std::ostream {
 public:
  Printed();
  /// To be called at the end: writes the rest of the buffer.
  void finish();

 private:
  class Buffer : public std::streambuf {
   public:
    Buffer();
    void write();

   protected:
    int_type overflow(int_type c) override;
    int sync() override;

   private:
    std::vector<char> text_;
  };
  Buffer buffer_;
};

}  // namespace loco::cli
